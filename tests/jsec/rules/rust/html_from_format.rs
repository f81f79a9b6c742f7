pub async fn hello(Path(name): Path<String>) -> Html<String> {
    Html(format!("<h1>Hello {name}</h1>")) // expect: html-from-format
}

pub fn page(name: &str) -> HttpResponse {
    HttpResponse::Ok().body(format!("<p>{}</p>", name)) // expect: html-from-format
}

pub async fn escaped(name: String) -> Html<String> {
    Html(format!("<h1>Hello {}</h1>", html_escape::encode_text(&name))) // ok
}

pub fn generic(name: &str) -> String {
    format!("Vec<{name}>") // ok
}

pub fn fixed() -> Html<&'static str> {
    Html("<h1>Hello</h1>") // ok
}

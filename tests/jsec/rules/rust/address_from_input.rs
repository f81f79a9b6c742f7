pub async fn fetch(request: &Request) -> Response {
    reqwest::get(request.param("url")).await // expect: address-from-input
}

pub async fn leave(target: web::Query<String>) -> Redirect {
    Redirect::to(target.as_str()) // expect: address-from-input
}

pub fn connect() -> TcpStream {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line);
    TcpStream::connect(line.trim()).unwrap_or_else(fail) // expect: address-from-input
}

pub async fn tested(request: &Request) -> Response {
    let url = request.param("url");
    if !url.starts_with("https://acme.org/") && url != HOME {
        return refuse();
    }
    reqwest::get(url).await // ok
}

pub async fn fixed() -> Response {
    reqwest::get("https://acme.org/").await // ok
}

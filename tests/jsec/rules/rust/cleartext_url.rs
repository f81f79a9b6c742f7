pub async fn update() -> Response {
    reqwest::get("http://updates.acme.org/latest").await // expect: cleartext-url
}

pub async fn login(client: &Client) -> Response {
    client.post("http://acme.org/login").send().await // expect: cleartext-url
}

pub async fn secure() -> Response {
    reqwest::get("https://updates.acme.org/latest").await // ok
}

pub async fn local() -> Response {
    reqwest::get("http://localhost:8080/health").await // ok
}

pub fn namespace(map: &Map) -> Option<&str> {
    map.get("http://www.w3.org/2000/svg") // ok
}

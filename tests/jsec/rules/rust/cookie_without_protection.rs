pub fn session(id: &str) -> Cookie {
    Cookie::build(("session", id))
        .secure(false) // expect: cookie-without-protection
        .http_only(false) // expect: cookie-without-protection
        .finish()
}

pub fn good(id: &str) -> Cookie {
    Cookie::build(("session", id))
        .secure(true) // ok
        .http_only(true) // ok
        .finish()
}

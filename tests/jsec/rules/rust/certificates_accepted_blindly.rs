pub fn client() -> reqwest::Client {
    reqwest::Client::builder()
        .danger_accept_invalid_certs(true) // expect: certificates-accepted-blindly
        .danger_accept_invalid_hostnames(true) // expect: certificates-accepted-blindly
        .build()
        .unwrap_or_default()
}

pub fn connector(builder: &mut SslConnectorBuilder) {
    builder.set_verify(SslVerifyMode::NONE); // expect: certificates-accepted-blindly
}

pub fn easy(easy: &mut curl::easy::Easy) {
    easy.ssl_verify_peer(false); // expect: certificates-accepted-blindly
}

pub fn verified() -> reqwest::Client {
    reqwest::Client::builder()
        .danger_accept_invalid_certs(false) // ok
        .build()
        .unwrap_or_default()
}

pub fn peer(builder: &mut SslConnectorBuilder) {
    builder.set_verify(SslVerifyMode::PEER); // ok
}

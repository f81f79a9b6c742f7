pub fn connector(builder: &mut TlsConnectorBuilder) {
    builder.min_protocol_version(Some(Protocol::Tlsv10)); // expect: old-tls-allowed
}

pub fn ssl(builder: &mut SslContextBuilder) {
    builder.set_min_proto_version(Some(SslVersion::TLS1_1)); // expect: old-tls-allowed
}

pub fn client() -> ClientBuilder {
    Client::builder().min_tls_version(tls::Version::TLS_1_0) // expect: old-tls-allowed
}

pub fn good(builder: &mut TlsConnectorBuilder) {
    builder.min_protocol_version(Some(Protocol::Tlsv12)); // ok
}

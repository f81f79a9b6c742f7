pub fn serve() -> TcpListener {
    TcpListener::bind("0.0.0.0:8080").unwrap_or_else(fail) // expect: listening-on-all-interfaces
}

pub fn serve_v6() -> TcpListener {
    let address = "[::]:8080";
    TcpListener::bind(address).unwrap_or_else(fail) // expect: listening-on-all-interfaces
}

pub fn local() -> TcpListener {
    TcpListener::bind("127.0.0.1:8080").unwrap_or_else(fail) // ok
}

pub fn any_port() -> UdpSocket {
    UdpSocket::bind("0.0.0.0:0").unwrap_or_else(fail) // ok
}

pub fn configured(address: &str) -> TcpListener {
    TcpListener::bind(address).unwrap_or_else(fail) // ok
}

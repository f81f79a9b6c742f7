pub fn body(stream: &mut TcpStream) -> Vec<u8> {
    let mut body = Vec::new();
    stream.read_to_end(&mut body); // expect: unbounded-read
    body
}

pub fn text(listener: &TcpListener) -> String {
    let mut text = String::new();
    let (mut socket, _) = listener.accept().unwrap_or_else(fail);
    socket.read_to_string(&mut text); // expect: unbounded-read
    text
}

pub fn limited(stream: TcpStream) -> Vec<u8> {
    let mut body = Vec::new();
    stream.take(65_536).read_to_end(&mut body); // ok
    body
}

pub fn file(file: &mut File) -> Vec<u8> {
    let mut body = Vec::new();
    file.read_to_end(&mut body); // ok
    body
}

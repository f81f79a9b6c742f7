pub fn header(stream: &mut TcpStream) -> Result<[u8; 4], Error> {
    let mut header = [0u8; 4];
    stream.read(&mut header)?; // expect: partial-io
    Ok(header)
}

pub fn send(stream: &mut TcpStream, message: &[u8]) {
    stream.write(message).unwrap(); // expect: partial-io
}

pub async fn send_async(stream: &mut Stream, message: &[u8]) -> Result<(), Error> {
    stream.write(&message).await?; // expect: partial-io
    Ok(())
}

pub fn header_whole(stream: &mut TcpStream) -> Result<[u8; 4], Error> {
    let mut header = [0u8; 4];
    stream.read_exact(&mut header)?; // ok
    Ok(header)
}

pub fn counted(stream: &mut TcpStream, buf: &mut [u8]) -> Result<usize, Error> {
    let n = stream.read(buf)?; // ok
    Ok(n)
}

pub fn locked(table: &RwLock<u32>) {
    table.write().unwrap(); // ok
}

pub fn reply(parcel: &mut Parcel) -> Result<(), i32> {
    parcel.write(&(1i32))?; // ok
    Ok(())
}

pub fn save<W: Write>(out: &mut W, bytes: &[u8]) -> Result<(), Error> {
    out.write(bytes)?; // expect: partial-io
    Ok(())
}

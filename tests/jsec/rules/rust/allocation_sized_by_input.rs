pub fn body(reader: &mut Reader) -> Result<Vec<u8>, Error> {
    let length = reader.read_u32::<BigEndian>()? as usize;
    let mut body = vec![0; length]; // expect: allocation-sized-by-input
    reader.read_exact(&mut body)?;
    Ok(body)
}

pub fn body_checked(reader: &mut Reader) -> Result<Vec<u8>, Error> {
    let length = reader.read_u32::<BigEndian>()? as usize;
    if length > MAX_BODY {
        return Err(Error::TooLong);
    }
    Ok(vec![0; length]) // ok
}

pub fn rows(text: &str) -> Vec<Row> {
    let count: usize = text.parse().unwrap_or(0);
    Vec::with_capacity(count) // expect: allocation-sized-by-input
}

pub fn rows_capped(text: &str) -> Vec<Row> {
    let count: usize = text.parse().unwrap_or(0);
    Vec::with_capacity(count.min(1024)) // ok
}

pub fn grow(bytes: [u8; 4], buffer: &mut Vec<u8>) {
    let n = u32::from_le_bytes(bytes);
    buffer.resize(n as usize, 0); // expect: allocation-sized-by-input
}

pub fn copy(data: &[u8]) -> Vec<u8> {
    Vec::with_capacity(data.len()) // ok
}

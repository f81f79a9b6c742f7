pub fn frame(payload: &[u8], out: &mut Vec<u8>) {
    let length = payload.len() as u16; // expect: as-truncates-length
    out.extend(length.to_be_bytes());
    out.push((payload.len() + 2) as u8); // expect: as-truncates-length
    write(payload.as_ptr(), payload.len() as i32); // expect: as-truncates-length
}

pub fn checked(payload: &[u8]) -> Result<u16, Error> {
    u16::try_from(payload.len()).map_err(|_| Error::TooLong) // ok
}

pub fn tested(payload: &[u8]) -> u16 {
    if payload.len() > 65_535 {
        return 0;
    }
    payload.len() as u16 // ok
}

pub fn wide(payload: &[u8]) -> u64 {
    payload.len() as u64 // ok
}

pub fn low_byte(payload: &[u8]) -> u8 {
    (payload.len() & 0xff) as u8 // ok
}

pub fn literal() -> u8 {
    300 as u8 // ok
}

pub fn sent(out: &mut impl std::io::Write, payload: &[u8]) -> std::io::Result<()> {
    out.write_all(&(payload.len() as u16).to_be_bytes())?; // expect: as-truncates-length
    out.write_all(payload)
}

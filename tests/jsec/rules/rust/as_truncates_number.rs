pub fn id(text: &str) -> Result<u32, Error> {
    let id = text.parse::<u64>()?;
    Ok(id as u32) // expect: as-truncates-number
}

pub fn id_checked(text: &str) -> Result<u32, Error> {
    let id = text.parse::<u64>()?;
    Ok(u32::try_from(id)?) // ok
}

pub fn decoded(bytes: [u8; 8]) -> u16 {
    let length = u64::from_be_bytes(bytes);
    length as u16 // expect: as-truncates-number
}

pub fn parameter(offset: u64) -> i32 {
    offset as i32 // expect: as-truncates-number
}

pub fn tested(offset: u64) -> i32 {
    if offset > 1000 {
        return 0;
    }
    offset as i32 // ok
}

pub fn split(n: u32) -> (u8, u8) {
    ((n >> 8) as u8, n as u8) // ok
}

pub fn widen(n: u32) -> u64 {
    n as u64 // ok
}

pub fn boxed(text: &str) -> Result<u32, Box<dyn std::error::Error>> {
    let id = text.parse::<u64>()?;
    Ok(id as u32) // expect: as-truncates-number
}

pub fn bytes_of(mut n: u64) -> [u8; 2] {
    let low = n as u8; // ok
    n >>= 8;
    [low, n as u8] // ok
}

pub fn total(text: &str) -> Result<u32, Error> {
    let count: u32 = text.parse()?;
    Ok(count * PRICE) // expect: arithmetic-on-input
}

pub fn total_checked(text: &str) -> Result<u32, Error> {
    let count: u32 = text.parse()?;
    count.checked_mul(PRICE).ok_or(Error::TooMany) // ok
}

pub fn tested(text: &str) -> Result<u32, Error> {
    let count: u32 = text.parse()?;
    if count > 1000 {
        return Err(Error::TooMany);
    }
    Ok(count * PRICE) // ok
}

pub fn remaining(bytes: [u8; 4], used: u32) -> u32 {
    let length = u32::from_be_bytes(bytes);
    length - used // expect: arithmetic-on-input
}

pub fn ratio(text: &str) -> f64 {
    let ratio: f64 = text.parse().unwrap_or(0.0);
    ratio * 2.0 // ok
}

pub fn local(count: u32) -> u32 {
    count * 2 // ok
}

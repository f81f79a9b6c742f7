pub fn size(text: &str, total: u32) -> Result<u32, Error> {
    let parts: u32 = text.parse()?;
    Ok(total / parts) // expect: division-by-input
}

pub fn bucket(bytes: [u8; 4], hash: u32) -> u32 {
    let buckets = u32::from_le_bytes(bytes);
    hash % buckets // expect: division-by-input
}

pub fn size_tested(text: &str, total: u32) -> Result<u32, Error> {
    let parts: u32 = text.parse()?;
    if parts == 0 {
        return Err(Error::NoParts);
    }
    Ok(total / parts) // ok
}

pub fn size_checked(text: &str, total: u32) -> Result<u32, Error> {
    let parts: u32 = text.parse()?;
    total.checked_div(parts).ok_or(Error::NoParts) // ok
}

pub fn at_least_one(text: &str, total: u32) -> u32 {
    let parts = text.parse::<u32>().unwrap_or(1).max(1);
    total / parts // ok
}

pub fn halves(total: u32) -> u32 {
    total / 2 // ok
}

pub fn row(text: &str, table: &[u32]) -> Result<u32, Error> {
    let i: usize = text.parse()?;
    Ok(table[i]) // expect: index-from-input
}

pub fn row_inline(text: &str, table: &[u32]) -> u32 {
    table[text.parse::<usize>().unwrap_or(0)] // expect: index-from-input
}

pub fn row_checked(text: &str, table: &[u32]) -> Result<u32, Error> {
    let i: usize = text.parse()?;
    if i >= table.len() {
        return Err(Error::NoSuchRow);
    }
    Ok(table[i]) // ok
}

pub fn row_get(text: &str, table: &[u32]) -> Option<u32> {
    let i: usize = text.parse().ok()?;
    table.get(i).copied() // ok
}

pub fn field(packet: &[u8]) -> &[u8] {
    let offset = u16::from_be_bytes([packet[0], packet[1]]) as usize;
    &packet[offset..] // expect: index-from-input
}

pub fn masked(packet: &[u8], table: &[u8; 64]) -> u8 {
    let word = u64::from_be_bytes(packet[..8].try_into().unwrap());
    table[((word >> 58) & LOW_SIX_BITS) as usize] // ok
}

pub fn masked_elsewhere(packet: &[u8], table: &[u8; 64]) -> u8 {
    let word = u64::from_be_bytes(packet[..8].try_into().unwrap());
    table[((word & LOW_SIX_BITS) + word) as usize] // expect: index-from-input
}

pub fn each(table: &[u32]) -> u32 {
    let mut sum = 0;
    for i in 0..table.len() {
        sum += table[i]; // ok
    }
    sum
}

pub fn borrowed<'a>(text: &str, table: &'a [u32]) -> Option<&'a u32> {
    let i: usize = text.parse().ok()?;
    let found = &table[i]; // expect: index-from-input
    Some(found)
}

pub fn printed(text: &str, table: &[u32]) {
    let i: usize = text.parse().unwrap_or(0);
    println!("{}", table[i]); // expect: index-from-input
}

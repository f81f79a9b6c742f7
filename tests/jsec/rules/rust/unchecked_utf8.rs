use std::str;

pub fn name(packet: &[u8]) -> &str {
    unsafe { str::from_utf8_unchecked(&packet[4..]) } // expect: unchecked-utf8
}

pub fn owned(stream: &mut Stream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes);
    unsafe { String::from_utf8_unchecked(bytes) } // expect: unchecked-utf8
}

pub fn ascii(packet: &[u8]) -> &str {
    if !packet.is_ascii() {
        return "";
    }
    unsafe { str::from_utf8_unchecked(packet) } // ok
}

pub fn argued(digits: &[u8]) -> &str {
    // SAFETY: only digits were written.
    unsafe { str::from_utf8_unchecked(digits) } // ok
}

pub fn checked(packet: &[u8]) -> Result<&str, str::Utf8Error> {
    str::from_utf8(packet) // ok
}

pub fn line(packet: &[u8]) -> Result<&str, Error> {
    let text = unsafe { str::from_utf8_unchecked(packet) }; // expect: unchecked-utf8
    Ok(text)
}

pub fn boxed(packet: &[u8]) -> Result<&str, Box<dyn std::error::Error>> {
    Ok(unsafe { std::str::from_utf8_unchecked(packet) }) // expect: unchecked-utf8
}

pub fn verify(mac: &[u8], expected: &[u8]) -> bool {
    mac == expected // expect: secret-compared-byte-by-byte
}

pub fn authorize(request: &Request, config: &Config) -> bool {
    if request.api_key != config.api_key { // expect: secret-compared-byte-by-byte
        return false;
    }
    true
}

pub fn verify_constant(mac: &[u8], expected: &[u8]) -> bool {
    mac.ct_eq(expected).into() // ok
}

pub fn check_length(mac: &[u8]) -> bool {
    mac.len() == 32 // ok
}

pub fn check_kind(tag: u8) -> bool {
    tag == TAG_END // ok
}

pub fn parse(signature: &[u8], other: &[u8]) -> bool {
    signature == other // ok
}

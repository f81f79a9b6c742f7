pub fn mode(name: &str) -> Result<Mode, Error> {
    match name {
        "r" => Ok(Mode::Read),
        _ => panic!("unknown mode {name}"), // expect: explicit-panic
    }
}

pub fn kind(byte: u8) -> Kind {
    match byte {
        0 => Kind::Data,
        _ => unreachable!(), // expect: explicit-panic
    }
}

pub fn handled(name: &str) -> Result<Mode, Error> {
    Err(Error::UnknownMode(name.into())) // ok
}

/// # Panics
/// When `n` is zero.
pub fn documented(n: u32) {
    if n == 0 {
        panic!("n is zero"); // ok
    }
}

#[test]
fn fails() {
    panic!("on purpose"); // ok
}

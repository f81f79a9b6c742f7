pub fn openssl() -> Rsa {
    Rsa::generate(1024).unwrap_or_else(fail) // expect: short-rsa-key
}

pub fn pure(rng: &mut OsRng) -> RsaPrivateKey {
    RsaPrivateKey::new(rng, 512).unwrap_or_else(fail) // expect: short-rsa-key
}

pub fn long() -> Rsa {
    Rsa::generate(3072).unwrap_or_else(fail) // ok
}

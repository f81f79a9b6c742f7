pub fn derive(password: &[u8], salt: &[u8], key: &mut [u8]) {
    pbkdf2_hmac::<Sha256>(password, salt, 1000, key); // expect: weak-key-derivation
}

pub fn ring(password: &[u8], salt: &[u8], key: &mut [u8]) {
    let rounds = NonZeroU32::new(4096).unwrap();
    ring::pbkdf2::derive(ALGORITHM, NonZeroU32::new(4096).unwrap(), salt, password, key); // expect: weak-key-derivation
    keep(rounds);
}

pub fn cheap(password: &str) -> String {
    bcrypt::hash(password, 4).unwrap_or_default() // expect: weak-key-derivation
}

pub fn strong(password: &[u8], salt: &[u8], key: &mut [u8]) {
    pbkdf2_hmac::<Sha256>(password, salt, 600_000, key); // ok
}

pub fn costly(password: &str) -> String {
    bcrypt::hash(password, 12).unwrap_or_default() // ok
}

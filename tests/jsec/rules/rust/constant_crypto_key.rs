const KEY: &[u8; 32] = b"an example very very secret key.";

pub fn seal(message: &[u8]) {
    let key = Key::<Aes256Gcm>::from_slice(b"an example very very secret key."); // expect: constant-crypto-key
    let nonce = Nonce::from_slice(b"unique nonce"); // expect: constant-crypto-key
    seal_with(key, nonce, message);
}

pub fn zero_nonce() {
    let nonce = [0u8; 12];
    use_it(Nonce::from_slice(&nonce)); // expect: constant-crypto-key
}

pub fn named_key() {
    let mac = HmacSha256::new_from_slice(KEY); // expect: constant-crypto-key
    use_it(mac);
}

pub fn random_nonce() {
    let mut nonce = [0u8; 12];
    OsRng.fill_bytes(&mut nonce);
    use_it(Nonce::from_slice(&nonce)); // ok
}

pub fn given(key: &[u8]) {
    use_it(Key::from_slice(key)); // ok
}

use des::TdesEde3;
use openssl::symm::Cipher;
use rc4::Rc4;

pub fn old(key: &[u8]) {
    let cipher = Cipher::des_ede3_cbc(); // expect: insecure-cipher
    let stream = Rc4::new(key.into()); // expect: insecure-cipher
    let block = TdesEde3::new_from_slice(key); // expect: insecure-cipher
    let mode = Cipher::aes_128_ecb(); // expect: insecure-cipher
    keep(cipher, stream, block, mode);
}

pub fn good(key: &[u8]) {
    let cipher = Cipher::aes_256_gcm(); // ok
    let block = Aes256Gcm::new(key.into()); // ok
    keep(cipher, block);
}

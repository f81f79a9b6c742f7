use md5::Md5;
use openssl::hash::MessageDigest;
use sha1::{Digest, Sha1};
use sha2::Sha256;

pub fn old(password: &[u8]) {
    let digest = md5::compute(password); // expect: insecure-hash
    keep(digest);
}

pub fn files(data: &[u8]) {
    let mut hasher = Sha1::new(); // expect: insecure-hash
    hasher.update(data);
    let other = Md5::digest(data); // expect: insecure-hash
    keep(other);
}

pub fn signed(key: &Key) {
    Signer::new(MessageDigest::sha1(), key); // expect: insecure-hash
}

pub fn good(data: &[u8]) {
    let digest = Sha256::digest(data); // ok
    Signer::new(MessageDigest::sha256(), digest); // ok
}

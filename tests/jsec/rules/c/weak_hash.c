#include <openssl/evp.h>
#include <openssl/md5.h>
#include <openssl/sha.h>
#include <windows.h>

void digests(const unsigned char *text, unsigned long size, unsigned char *out) {
    MD5(text, size, out); // expect: weak-hash
    SHA1(text, size, out); // expect: weak-hash
    SHA256(text, size, out); // ok
    EVP_Digest(text, size, out, 0, EVP_md5(), 0); // expect: weak-hash
    EVP_Digest(text, size, out, 0, EVP_sha512(), 0); // ok
}

void windows(HCRYPTPROV provider, HCRYPTHASH *hash) {
    CryptCreateHash(provider, CALG_MD5, 0, 0, hash); // expect: weak-hash
    CryptCreateHash(provider, CALG_SHA1, 0, 0, hash); // expect: weak-hash
    CryptCreateHash(provider, CALG_SHA_256, 0, 0, hash); // ok
}

void file_checksum(const unsigned char *text, unsigned long size, unsigned char *out) {
    MD5(text, size, out); // expect: weak-hash
}

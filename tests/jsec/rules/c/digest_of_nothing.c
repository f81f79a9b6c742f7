#include <openssl/sha.h>
#include <windows.h>

void add(SHA256_CTX *context);

void empty(unsigned char *digest) {
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Final(digest, &context); // expect: digest-of-nothing
}

void full(unsigned char *digest, const char *text, unsigned long size) {
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, text, size);
    SHA256_Final(digest, &context); // ok
}

void elsewhere(unsigned char *digest) {
    SHA256_CTX context;
    SHA256_Init(&context);
    add(&context);
    SHA256_Final(digest, &context); // ok
}

void key(HCRYPTPROV provider, HCRYPTKEY *out) {
    HCRYPTHASH hash;
    if (!CryptCreateHash(provider, CALG_SHA_256, 0, 0, &hash))
        return;
    CryptDeriveKey(provider, CALG_AES_256, hash, 0, out); // expect: digest-of-nothing
}

void given(SHA256_CTX *context, unsigned char *digest) {
    SHA256_Final(digest, context); // ok
}

#define ADD(x) SHA256_Update(&context, &(x), sizeof(x))

void in_a_macro(unsigned char *digest, int number) {
    SHA256_CTX context;
    SHA256_Init(&context);
    ADD(number);
    SHA256_Final(digest, &context); // ok
}

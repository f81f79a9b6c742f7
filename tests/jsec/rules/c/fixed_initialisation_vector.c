#include <openssl/evp.h>
#include <openssl/rand.h>

void zero(EVP_CIPHER_CTX *context, const unsigned char *key) {
    unsigned char iv[16] = {0};
    EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), 0, key, iv); // expect: fixed-initialisation-vector
}

void literal(EVP_CIPHER_CTX *context, const unsigned char *key) {
    EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), 0, key, (unsigned char *) "0123456789abcdef"); // expect: fixed-initialisation-vector
}

int fresh(EVP_CIPHER_CTX *context, const unsigned char *key) {
    unsigned char iv[16] = {0};
    if (RAND_bytes(iv, sizeof iv) != 1)
        return -1;
    return EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), 0, key, iv); // ok
}

void given(EVP_CIPHER_CTX *context, const unsigned char *key, const unsigned char *iv) {
    EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), 0, key, iv); // ok
    EVP_EncryptInit_ex(context, 0, 0, 0, 0); // ok
}

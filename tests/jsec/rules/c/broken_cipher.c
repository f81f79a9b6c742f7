#include <openssl/des.h>
#include <openssl/evp.h>
#include <windows.h>

void ciphers(EVP_CIPHER_CTX *context, unsigned char *key, unsigned char *iv) {
    EVP_EncryptInit_ex(context, EVP_des_cbc(), 0, key, iv); // expect: broken-cipher
    EVP_EncryptInit_ex(context, EVP_des_ede3_cbc(), 0, key, iv); // expect: broken-cipher
    EVP_EncryptInit_ex(context, EVP_rc4(), 0, key, iv); // expect: broken-cipher
    EVP_EncryptInit_ex(context, EVP_aes_128_ecb(), 0, key, iv); // expect: broken-cipher
    EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), 0, key, iv); // ok
    EVP_get_cipherbyname("des-cbc"); // expect: broken-cipher
    EVP_get_cipherbyname("aes-256-gcm"); // ok
}

void windows(HCRYPTPROV provider, HCRYPTHASH hash, HCRYPTKEY *key) {
    CryptDeriveKey(provider, CALG_DES, hash, 0, key); // expect: broken-cipher
    CryptDeriveKey(provider, CALG_3DES, hash, 0, key); // expect: broken-cipher
    CryptDeriveKey(provider, CALG_RC5, hash, 0, key); // expect: broken-cipher
    CryptDeriveKey(provider, CALG_AES_256, hash, 0, key); // ok
}

void libgcrypt(gcry_cipher_hd_t *handle) {
    gcry_cipher_open(handle, GCRY_CIPHER_DES, GCRY_CIPHER_MODE_CBC, 0); // expect: broken-cipher
    gcry_cipher_open(handle, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_ECB, 0); // expect: broken-cipher
    gcry_cipher_open(handle, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM, 0); // ok
}

struct store { void (*setkey)(struct store *, int); };
void other(struct store *store) {
    store->setkey(store, 1); // ok
}

#include <openssl/rsa.h>
#include <windows.h>

void pad(RSA *rsa, const unsigned char *text, unsigned char *out) {
    RSA_public_encrypt(10, text, out, rsa, RSA_PKCS1_PADDING); // expect: rsa-without-oaep
    RSA_public_encrypt(10, text, out, rsa, RSA_PKCS1_OAEP_PADDING); // ok
}

void windows(HCRYPTPROV provider, BYTE *data, DWORD *size) {
    HCRYPTKEY key;
    if (!CryptGenKey(provider, CALG_RSA_KEYX, 0x08000000, &key))
        return;
    CryptEncrypt(key, 0, 1, 0, data, size, 100); // expect: rsa-without-oaep
    CryptEncrypt(key, 0, 1, CRYPT_OAEP, data, size, 100); // ok
}

void sign(EVP_PKEY_CTX *context) {
    EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING); // ok
}

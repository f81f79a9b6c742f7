#include <openssl/rsa.h>
#include <openssl/ec.h>
#include <windows.h>

#define BITS 1024

void keys(RSA *rsa, BIGNUM *e, int bits) {
    RSA_generate_key_ex(rsa, 1024, e, 0); // expect: small-key
    RSA_generate_key_ex(rsa, BITS, e, 0); // expect: small-key
    RSA_generate_key_ex(rsa, 3072, e, 0); // ok
    RSA_generate_key_ex(rsa, bits, e, 0); // ok
    EC_KEY_new_by_curve_name(NID_secp160k1); // expect: small-key
    EC_KEY_new_by_curve_name(NID_X9_62_prime256v1); // ok
}

void windows(HCRYPTPROV provider, HCRYPTKEY *key) {
    CryptGenKey(provider, CALG_RSA_KEYX, 512 << 16, key); // expect: small-key
    CryptGenKey(provider, CALG_AES_256, 0, key); // ok
}

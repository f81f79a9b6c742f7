#include <mysql.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define SECRET "hunter2"

void direct(MYSQL *db) {
    mysql_real_connect(db, "host", "app", "hunter2", "shop", 0, 0, 0); // expect: hardcoded-credential-argument
    mysql_real_connect(db, "host", "app", getenv("PW"), "shop", 0, 0, 0); // ok
    mysql_real_connect(db, "host", "app", SECRET, "shop", 0, 0, 0); // expect: hardcoded-credential-argument
}

void copied(char *user, char *domain) {
    HANDLE token;
    char *data;
    char buffer[100] = "";
    data = buffer;
    strcpy(data, SECRET);
    LogonUserA(user, domain, data, 2, 0, &token); // expect: hardcoded-credential-argument
}

void read_in(char *user, char *domain) {
    HANDLE token;
    char *data;
    char buffer[100] = "";
    data = buffer;
    if (fgets(data, 100, stdin) == NULL)
        return;
    LogonUserA(user, domain, data, 2, 0, &token); // ok
}

void key(EVP_CIPHER_CTX *context, const unsigned char *given, unsigned char *iv) {
    unsigned char own[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, given, iv); // ok
    EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, own, iv); // expect: hardcoded-credential-argument
    EVP_EncryptInit_ex(context, NULL, NULL, NULL, iv); // ok
}

void connection(const char *info) {
    PQconnectdb("host=db user=app password=hunter2"); // expect: hardcoded-credential-argument
    PQconnectdb(info); // ok
}

void passed(MYSQL *db, const char *password) {
    mysql_real_connect(db, "host", "app", password, "shop", 0, 0, 0); // ok
}

void array_key(EVP_CIPHER_CTX *context, unsigned char *iv) {
    unsigned char bytes[] = "0123456789abcdef";
    unsigned char copied[17];
    EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, bytes, iv); // expect: hardcoded-credential-argument
    memcpy(copied, "0123456789abcdef", 16);
    EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, copied, iv); // expect: hardcoded-credential-argument
}

int derived_key(EVP_CIPHER_CTX *context, unsigned char *iv) {
    unsigned char bytes[17] = "";
    if (RAND_bytes(bytes, 16) != 1)
        return -1;
    return EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, bytes, iv); // ok
}

#include <stdio.h>
#include <windows.h>

int decrypt(char *text);

void from_file(char *user, char *domain, FILE *file) {
    char data[100] = "";
    HANDLE token;
    if (fgets(data, 100, file) == NULL)
        return;
    LogonUserA(user, domain, data, 2, 0, &token); // expect: plaintext-password-storage
}

void from_file_sealed(char *user, char *domain, FILE *file) {
    char data[100] = "";
    HANDLE token;
    if (fgets(data, 100, file) == NULL)
        return;
    if (!CryptDecrypt(key, 0, 1, 0, (BYTE *) data, &length))
        return;
    LogonUserA(user, domain, data, 2, 0, &token); // ok
}

void from_socket(char *user, char *domain, int socket) {
    char data[100] = "";
    char *p = data;
    HANDLE token;
    if (recv(socket, p, 99, 0) <= 0)
        return;
    LogonUserA(user, domain, p, 2, 0, &token); // expect: plaintext-password-storage
}

void from_person(char *user, char *domain) {
    char data[100] = "";
    HANDLE token;
    if (fgets(data, 100, stdin) == NULL)
        return;
    LogonUserA(user, domain, data, 2, 0, &token); // ok
}

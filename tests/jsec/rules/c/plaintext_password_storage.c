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

void from_file_revealed(char *user, char *domain, FILE *file) {
    char data[100] = "";
    HANDLE token;
    if (fgets(data, 100, file) == NULL)
        return;
    reveal(data, 100);
    LogonUserA(user, domain, data, 2, 0, &token); // ok
}

void from_file_cut(char *user, char *domain, FILE *file) {
    char data[100] = "";
    HANDLE token;
    if (fgets(data, 100, file) == NULL)
        return;
    data[strcspn(data, "\n")] = 0;
    LogonUserA(user, domain, data, 2, 0, &token); // expect: plaintext-password-storage
}

void from_file_turned(char *user, char *domain, FILE *file) {
    char data[100] = "";
    HANDLE token;
    if (fgets(data, 100, file) == NULL)
        return;
    for (int i = 0; i < 99; i++)
        data[i] = (char)(data[i] + 13);
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

void from_registry(HKEY key) {
    char data[100] = "";
    DWORD size = 99;
    HANDLE token;
    if (RegQueryValueExA(key, "Word", NULL, NULL, (LPBYTE)data, &size) != ERROR_SUCCESS)
        return;
    LogonUserA("a", "b", data, 2, 0, &token); // expect: plaintext-password-storage
}

void registry_value_used(HKEY key, char *word) {
    char data[100] = "";
    DWORD size = 99;
    HANDLE token;
    if (RegQueryValueExA(key, "Name", NULL, NULL, (LPBYTE)data, &size) != ERROR_SUCCESS)
        return;
    LogonUserA(data, "b", word, 2, 0, &token); // ok
}

char *hashed_from_file(void) {
    static char data[100];
    FILE *file = fopen("word", "r");
    if (file == NULL)
        return NULL;
    if (fgets(data, 100, file) == NULL)
        data[0] = 0;
    fclose(file);
    return crypt(data, "ab"); // expect: plaintext-password-storage
}

char *hashed_from_person(void) {
    static char data[100];
    if (fgets(data, 100, stdin) == NULL)
        data[0] = 0;
    return crypt(data, "ab"); // ok
}

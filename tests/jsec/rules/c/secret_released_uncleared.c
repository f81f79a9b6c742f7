#include <stdlib.h>
#include <string.h>
#include <windows.h>

int log_in(const char *password);

void named(char *password, char *name) {
    log_in(password);
    free(password); // expect: secret-released-uncleared
    free(name); // ok
}

void cleared(char *password) {
    log_in(password);
    explicit_bzero(password, strlen(password));
    free(password); // ok
}

void by_use(char *user, char *domain, char *data) {
    HANDLE token;
    LogonUserA(user, domain, data, 2, 0, &token);
    free(data); // expect: secret-released-uncleared
}

void by_use_cleared(char *user, char *domain, char *data) {
    HANDLE token;
    LogonUserA(user, domain, data, 2, 0, &token);
    SecureZeroMemory(data, 100);
    free(data); // ok
}

char *grow(char *secret_key) {
    return realloc(secret_key, 1000); // expect: secret-released-uncleared
}

void on_stack(char *user, char *domain) {
    char data[100] = "";
    HANDLE token;
    if (fgets(data, 100, stdin) == 0)
        return;
    LogonUserA(user, domain, data, 2, 0, &token); // expect: secret-released-uncleared
}

void on_stack_cleared(char *user, char *domain) {
    char data[100] = "";
    HANDLE token;
    if (fgets(data, 100, stdin) == 0)
        return;
    LogonUserA(user, domain, data, 2, 0, &token); // ok
    SecureZeroMemory(data, 100);
}

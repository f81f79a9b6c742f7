#include <stdlib.h>
#include <string.h>

void read_password(char *out, size_t size);
int log_in(const char *password);

int local(void) {
    char password[64];
    read_password(password, sizeof password);
    int result = log_in(password);
    memset(password, 0, sizeof password); // expect: memset-of-dead-secret
    return result;
}

int local_explicit(void) {
    char password[64];
    read_password(password, sizeof password);
    int result = log_in(password);
    explicit_bzero(password, sizeof password); // ok
    return result;
}

int neutral(void) {
    char data[64];
    read_password(data, sizeof data);
    int result = log_in(data);
    memset(data, 0, sizeof data); // expect: memset-of-dead-secret
    return result;
}

int used_later(void) {
    char password[64];
    read_password(password, sizeof password);
    memset(password, 0, sizeof password); // ok
    return log_in(password);
}

int initialised(void) {
    char password[64];
    memset(password, 0, sizeof password); // ok
    return 0;
}

int heap(void) {
    char *password = malloc(64);
    if (password == NULL)
        return -1;
    read_password(password, 64);
    int result = log_in(password);
    memset(password, 0, 64); // expect: memset-of-dead-secret
    free(password);
    return result;
}

void callers(char *password) {
    memset(password, 0, 64); // ok
}

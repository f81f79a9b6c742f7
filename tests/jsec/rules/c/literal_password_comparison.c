#include <string.h>

int check(const char *password, const char *name) {
    if (strcmp(password, "letmein") == 0) // expect: literal-password-comparison
        return 1;
    if (!strcmp("letmein", password)) // expect: literal-password-comparison
        return 1;
    return strcmp(name, "admin") == 0; // ok
}

struct login { char passwd[32]; };

int check_field(struct login *login, const char *stored) {
    if (strcmp(login->passwd, stored) == 0) // ok
        return 1;
    if (strcmp(login->passwd, "") == 0) // ok
        return 0;
    return memcmp(login->passwd, "backdoor", 8) == 0; // expect: literal-password-comparison
}

int check_neutral(const char *text) {
    if (strcmp(text, "Passw0rd!") == 0) // expect: literal-password-comparison
        return 1;
    return strcmp(text, "HTTP/1.1 OK!") == 0; // ok
}

int place_compared(const char *pwd) {
    return memcmp(pwd, "/usr/obj", 8) == 0; // ok
}

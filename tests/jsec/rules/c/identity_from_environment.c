#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void allow(void);

void direct(void) {
    if (strcmp(getenv("USER"), "root") == 0) // expect: identity-from-environment
        allow();
}

void stored(void) {
    const char *name = getenv("LOGNAME");
    const char *login = getlogin();
    if (name != NULL && strcmp("admin", name) == 0) // expect: identity-from-environment
        allow();
    if (login != NULL && strcmp(login, "admin") == 0) // expect: identity-from-environment
        allow();
}

void other(const char *name) {
    const char *term = getenv("TERM");
    if (term != NULL && strcmp(term, "dumb") == 0) // ok
        return;
    if (geteuid() == 0 && strcmp(name, "root") == 0) // ok
        allow();
}

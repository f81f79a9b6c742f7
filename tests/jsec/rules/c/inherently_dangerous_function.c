#include <limits.h>
#include <stdio.h>
#include <unistd.h>

char *getwd(char *);

int where(void) {
    char directory[PATH_MAX];
    if (getwd(directory) == NULL) // expect: inherently-dangerous-function
        return -1;
    if (getcwd(directory, sizeof(directory)) == NULL) // ok
        return -1;
    return 0;
}

struct folder { char *(*getwd)(char *); };
char *member(struct folder *f, char *to) { return f->getwd(to); } // ok

int where_known(void) {
    char directory[4096];
    return getwd(directory) != 0; // expect: inherently-dangerous-function
}

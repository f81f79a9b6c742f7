#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void jail(const char *directory) {
    if (chroot(directory) != 0) // expect: chroot-without-chdir
        exit(1);
    fopen("file", "r");
}

void jail_and_enter(const char *directory) {
    if (chroot(directory) != 0 || chdir("/") != 0) // ok
        exit(1);
}

void enter_and_jail(const char *directory) {
    if (chdir(directory) != 0 || chroot(directory) != 0) // ok
        exit(1);
}

void enter_something_else(const char *directory, const char *other) {
    if (chdir(other) != 0 || chroot(directory) != 0) // expect: chroot-without-chdir
        exit(1);
}

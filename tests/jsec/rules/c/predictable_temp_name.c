#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

int two_steps(void) {
    char name[] = "/tmp/report-XXXXXX";
    int fd;
    mktemp(name); // expect: predictable-temp-name
    fd = open(name, O_RDWR | O_CREAT, 0600);
    return fd;
}

int nested(char *name) {
    return open(mktemp(name), O_RDWR | O_CREAT, 0600); // expect: predictable-temp-name
}

int nested_alone(char *name) {
    return open(mktemp(name), O_RDWR | O_CREAT | O_EXCL, 0600); // ok
}

int alone(void) {
    char *name = tempnam(NULL, NULL); // ok
    int fd;
    if (name == NULL)
        return -1;
    fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    free(name);
    return fd;
}

int once_alone(void) {
    char *name = tmpnam(NULL); // expect: predictable-temp-name
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        fd = open(name, O_RDWR | O_CREAT, 0600);
    return fd;
}

FILE *named(void) {
    char *name = tmpnam(NULL); // expect: predictable-temp-name
    return fopen(name, "w");
}

char *in_directory(void) {
    return tempnam("/var/lib/app", "app"); // expect: predictable-temp-name
}

int safe(void) {
    char name[] = "/tmp/report-XXXXXX";
    return mkstemp(name); // ok
}

FILE *unnamed(void) {
    return tmpfile(); // ok
}

#define NEW_NAME tmpnam
char *through_macro(char *buffer) {
    return NEW_NAME(buffer); // expect: predictable-temp-name
}

int windows_alone(void) {
    char name[260];
    if (GetTempFileNameA(".", "app", 1, name) == 0) // ok
        return -1;
    return _open(name, _O_RDWR | _O_CREAT | _O_EXCL, _S_IREAD | _S_IWRITE);
}

int windows_any(void) {
    char name[260];
    if (GetTempFileNameA(".", "app", 1, name) == 0) // expect: predictable-temp-name
        return -1;
    return _open(name, _O_RDWR | _O_CREAT, _S_IREAD | _S_IWRITE);
}

HANDLE windows_made(void) {
    char name[260];
    if (GetTempFileNameA(".", "app", 0, name) == 0) // ok: the file is there when it returns
        return INVALID_HANDLE_VALUE;
    return CreateFileA(name, GENERIC_WRITE, 0, NULL, TRUNCATE_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
}

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define OPEN_TO_ALL 0777

int files(const char *path) {
    int a = open(path, O_CREAT | O_WRONLY, 0777); // expect: permissive-file-mode
    int b = open(path, O_CREAT | O_WRONLY, 0600); // ok
    int c = open(path, O_CREAT | O_WRONLY, 0644); // ok
    int d = open(path, O_RDONLY); // ok
    int e = open(path, O_CREAT | O_WRONLY); // expect: permissive-file-mode
    int f = creat(path, S_IRUSR | S_IWUSR | S_IWOTH); // expect: permissive-file-mode
    int g = open(path, O_CREAT | O_WRONLY, S_IRUSR | S_IWUSR); // ok
    return a + b + c + d + e + f + g;
}

void modes(const char *path, mode_t mode) {
    chmod(path, 0666); // expect: permissive-file-mode
    chmod(path, OPEN_TO_ALL); // expect: permissive-file-mode
    chmod(path, 0750); // ok
    chmod(path, mode); // ok
    mkdir(path, 01777); // ok
    mkdir(path, 0777); // expect: permissive-file-mode
    mkdir(path, 0755); // ok
}

FILE *secrets(const char *key_file, const char *report) {
    FILE *a = fopen(key_file, "w"); // expect: permissive-file-mode
    FILE *b = fopen("/etc/app/server.key", "wb"); // expect: permissive-file-mode
    FILE *c = fopen(report, "w"); // ok
    FILE *d = fopen(key_file, "r"); // ok
    return a && b && c ? d : a;
}

FILE *guarded(const char *key_file) {
    umask(077);
    return fopen(key_file, "w"); // ok
}

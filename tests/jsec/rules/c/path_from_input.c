#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BASE "/srv/files/"

void environment(void) {
    char buffer[200] = BASE;
    char *data = buffer;
    FILE *f;
    char *name = getenv("NAME");
    if (name != NULL) strncat(data, name, 100);
    f = fopen(data, "r"); // expect: path-from-input
    if (f) fclose(f);
}

void fixed(void) {
    char buffer[200] = BASE;
    char *data = buffer;
    FILE *f;
    strcat(data, "file.txt");
    f = fopen(data, "r"); // ok
    if (f) fclose(f);
}

void network(int fd) {
    char name[100];
    ssize_t n = recv(fd, name, 99, 0);
    if (n <= 0) return;
    name[n] = '\0';
    unlink(name); // expect: path-from-input
}

void checked(int fd) {
    char name[100];
    ssize_t n = recv(fd, name, 99, 0);
    if (n <= 0) return;
    name[n] = '\0';
    if (strchr(name, '/') != NULL || strstr(name, "..") != NULL) return;
    unlink(name); // ok
}

int main(int argc, char **argv) {
    char path[300];
    FILE *f;
    if (argc < 2) return 1;
    f = fopen(argv[1], "r"); // ok
    if (f) fclose(f);
    snprintf(path, sizeof(path), "%s/%s", BASE, argv[1]);
    return open(path, O_RDONLY); // expect: path-from-input
}

#include <stdio.h>
#include <unistd.h>
#include <fcntl.h>

int read_header(FILE *file);

void twice(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    fclose(file);
    fclose(file); // expect: double-close
}

void sometimes_twice(FILE *file) {
    if (read_header(file) < 0)
        fclose(file);
    fclose(file); // expect: double-close
}

void descriptor(const char *path) {
    int fd = open(path, O_RDONLY);
    if (fd == -1)
        return;
    close(fd);
    close(fd); // expect: double-close
}

void two_files(const char *path) {
    int fd = open(path, O_RDONLY);
    if (fd >= 0)
        close(fd);
    fd = open(path, O_RDWR);
    if (fd >= 0)
        close(fd); // ok
}

int leaves_first(FILE *file) {
    if (read_header(file) < 0) {
        fclose(file);
        return -1;
    }
    return fclose(file); // ok
}

void one_or_the_other(int fd) {
#ifdef _WIN32
    closesocket(fd); // ok
#else
    close(fd); // ok
#endif
}

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int write_to(int fd);

int allowed(const char *path) {
    if (access(path, W_OK) == 0) {
        int fd = open(path, O_WRONLY); // expect: check-before-use-of-path
        return write_to(fd);
    }
    return -1;
}

int no_link(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0 || S_ISLNK(info.st_mode))
        return -1;
    FILE *file = fopen(path, "w"); // expect: check-before-use-of-path
    return file != NULL;
}

int compared(const char *path) {
    struct stat before, after;
    if (lstat(path, &before) != 0)
        return -1;
    int fd = open(path, O_RDONLY); // ok
    if (fstat(fd, &after) != 0 || before.st_ino != after.st_ino)
        return -1;
    return fd;
}

int opened_first(const char *path) {
    struct stat info;
    int fd = open(path, O_RDONLY); // ok
    if (fd < 0 || fstat(fd, &info) != 0)
        return -1;
    return fd;
}

int other_file(const char *path, const char *other) {
    if (access(path, R_OK) != 0)
        return -1;
    return open(other, O_RDONLY); // ok
}

int changed_name(const char *path) {
    if (access(path, R_OK) != 0)
        path = "/dev/null";
    return open(path, O_RDONLY); // ok
}

void rights(const char *path) {
    FILE *file = fopen(path, "w");
    chmod(path, 0600); // expect: check-before-use-of-path
    fclose(file);
}

void rights_by_descriptor(const char *path) {
    FILE *file = fopen(path, "w");
    fchmod(fileno(file), 0600); // ok
    fclose(file);
}

void removed(const char *path) {
    if (access(path, F_OK) == 0)
        unlink(path); // expect: check-before-use-of-path
}

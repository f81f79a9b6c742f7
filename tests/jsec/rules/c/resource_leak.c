#include <stdio.h>
#include <fcntl.h>
#include <unistd.h>

int early(const char *path, char *header, int size) {
    int fd = open(path, O_RDONLY); // expect: resource-leak
    if (fd < 0)
        return -1;
    if (read(fd, header, size) < 0)
        return -1;
    close(fd);
    return 0;
}

void never_closed(const char *path) {
    FILE *file = fopen(path, "w"); // expect: resource-leak
    if (file != NULL)
        fputs("x", file);
}

void opened_twice(const char *path) {
    FILE *file = fopen(path, "r"); // expect: resource-leak
    if (file == NULL)
        return;
    file = fopen(path, "w");
    if (file)
        fclose(file);
}

int closed(const char *path, char *header, int size) {
    int fd = open(path, O_RDONLY);
    if (fd == -1)
        return -1;
    if (read(fd, header, size) < 0) {
        close(fd);
        return -1; // ok
    }
    close(fd);
    return 0; // ok
}

FILE *returned(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file)
        perror(path);
    return file; // ok
}

void register_descriptor(int fd);
void handed_over(const char *path) {
    int fd = open(path, O_RDONLY);
    if (fd >= 0)
        register_descriptor(fd);
} // ok

void standard_streams_open(void) {
    int null = open("/dev/null", O_RDWR);
    if (null == -1)
        exit(1);
    if (null > 2)
        close(null);
} // ok

#include <stdio.h>
#include <unistd.h>
#include <fcntl.h>

void late_line(const char *path) {
    FILE *log = fopen(path, "a");
    if (log == NULL)
        return;
    fclose(log);
    fprintf(log, "done\n"); // expect: use-after-close
}

void late_write(const char *path) {
    int fd = open(path, O_RDWR);
    if (fd < 0)
        return;
    close(fd);
    write(fd, "x", 1); // expect: use-after-close
}

void in_order(const char *path) {
    FILE *log = fopen(path, "a");
    if (!log)
        return;
    fprintf(log, "done\n"); // ok
    fclose(log);
}

void opened_again(const char *path) {
    FILE *log = fopen(path, "a");
    if (!log)
        return;
    fclose(log);
    log = fopen(path, "r");
    if (log) {
        fgetc(log); // ok
        fclose(log);
    }
}

void number_shown(int first) {
    for (int i = first; i < 64; i++)
        close(i); // ok
    if (close(first))
        note("close of %d failed", first); // ok
}

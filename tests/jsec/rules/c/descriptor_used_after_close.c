#include <fcntl.h>
#include <unistd.h>

void late_write(const char *path) {
    int fd = open(path, O_RDWR);
    if (fd < 0)
        return;
    close(fd);
    write(fd, "x", 1); // expect: descriptor-used-after-close
}

void number_shown(int first) {
    for (int i = first; i < 64; i++)
        close(i); // ok
    if (close(first))
        note("close of %d failed", first); // ok
}

int put_back(int fd) {
    int kept = dup(fd);
    close(fd);
    return dup2(kept, fd); // ok
}

int copied_too_late(int fd, int other) {
    close(fd);
    return dup2(fd, other); // expect: descriptor-used-after-close
}

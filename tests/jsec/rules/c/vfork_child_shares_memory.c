#include <unistd.h>

int run(const char *path) {
    pid_t child = vfork(); // expect: vfork-child-shares-memory
    if (child == 0) {
        execl(path, path, (char *) 0);
        _exit(1);
    }
    return child;
}

int run_forked(const char *path) {
    pid_t child = fork(); // ok
    if (child == 0) {
        execl(path, path, (char *) 0);
        _exit(1);
    }
    return child;
}

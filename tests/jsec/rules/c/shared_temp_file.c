#include <fcntl.h>
#include <stdio.h>

#define LOG "/tmp/app.log"

FILE *log_file(void) {
    return fopen(LOG, "a"); // expect: shared-temp-file
}

int descriptor(void) {
    return open("/tmp/app.pid", O_CREAT | O_WRONLY, 0600); // expect: shared-temp-file
}

int exclusive(void) {
    return open("/tmp/app.pid", O_CREAT | O_EXCL | O_WRONLY, 0600); // ok
}

int reading(void) {
    FILE *file = fopen("/tmp/input", "r"); // ok
    return file != NULL;
}

FILE *built(int pid) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/app.%d", pid);
    return fopen(path, "w"); // expect: shared-temp-file
}

FILE *own(void) {
    return fopen("/var/lib/app/state", "w"); // ok
}

#include <stdio.h>
#include <unistd.h>

void send_name(int fd, const char *name) {
    char line[32];
    int n = snprintf(line, sizeof line, "%s\n", name);
    if (write(fd, line, n) < 0) // expect: snprintf-result-as-length
        return;
}

int send_name_checked(int fd, const char *name) {
    char line[32];
    int n = snprintf(line, sizeof line, "%s\n", name);
    if (n < 0 || n >= (int) sizeof line)
        return -1;
    return write(fd, line, n) == n; // ok
}

void send_number(int fd, int number) {
    char line[32];
    int n = snprintf(line, sizeof line, "%d\n", number);
    if (write(fd, line, n) < 0) // ok
        return;
}

void join(char *out, size_t size, const char **names, int count) {
    size_t used = 0;
    for (int i = 0; i < count; i++)
        used += snprintf(out + used, size - used, "%s,", names[i]); // expect: snprintf-result-as-length
}

void join_checked(char *out, size_t size, const char **names, int count) {
    size_t used = 0;
    for (int i = 0; i < count && used < size; i++)
        used += snprintf(out + used, size - used, "%s,", names[i]); // ok
}

void terminate(const char *name) {
    char line[32];
    int n = snprintf(line, sizeof line, "%s", name);
    line[n] = 0; // expect: snprintf-result-as-length
}

void send_short(int fd, int code) {
    char line[64];
    int n = snprintf(line, sizeof line, "%s %d\n", "code", code);
    if (write(fd, line, n) < 0) // ok
        return;
}

void send_twice(int fd, const char *name) {
    char line[32];
    int n = snprintf(line, sizeof line, "%s\n", name);
    puts(line);
    n = 4;
    if (write(fd, line, n) < 0) // ok
        return;
}

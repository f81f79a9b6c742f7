#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void log_line(int level, const char *fmt, ...) {
    va_list list;
    va_start(list, fmt);
    vfprintf(stderr, fmt, list);
    va_end(list);
    (void)level;
}

static int sum(int count, ...) {
    va_list list;
    int total = 0;
    va_start(list, count);
    while (count-- > 0) total += va_arg(list, int);
    va_end(list);
    return total;
}

void use(const char *text, int n) {
    char line[80];
    log_line(1, text); // expect: wrapper-format-not-literal
    log_line(1, "%s", text); // ok
    log_line(1, "done"); // ok
    log_line(sum(2, 1, n), NULL); // ok
    if (fgets(line, sizeof(line), stdin) == NULL) return;
    log_line(2, line); // expect: wrapper-format-not-literal
}

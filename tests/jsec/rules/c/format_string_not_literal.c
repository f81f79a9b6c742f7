#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#define TEXT "%d apples"
#define PRINT printf
#define _(x) gettext(x)
extern char *gettext(const char *);
static const char *const table[] = {"%d", "%u"};

void input(void) {
    char line[100] = "";
    char *data = line;
    if (fgets(data, 100, stdin) == NULL) return;
    printf(data); // expect: format-string-not-literal
    printf("%s", data); // ok
    fprintf(stderr, getenv("HOME")); // expect: format-string-not-literal
}

void literals(int n, int many) {
    const char *format = "%d\n";
    char buffer[100] = "";
    char *data = buffer;
    strcpy(data, "fixed text");
    printf(data); // ok
    printf(TEXT, n); // ok
    printf(_("%d apples"), n); // ok
    printf(many ? "%d apples" : "%d apple", n); // ok
    printf(format, n); // ok
    printf(table[many], n); // ok
}

void unknown(const char *text, const char *why) {
    PRINT(text); // expect: format-string-not-literal
    syslog(LOG_ERR, text); // expect: format-string-not-literal
    syslog(LOG_ERR, "%s", text); // ok
    errx(1, why); // expect: format-string-not-literal
    fprintf(stdout, text, 1); // expect: format-string-not-literal
}

void wrapper(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vprintf(format, list); // ok
    va_end(list);
}

void takes_list(const char *format, va_list list) {
    vfprintf(stderr, format, list); // ok
}

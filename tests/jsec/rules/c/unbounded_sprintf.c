#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct box { char text[24]; char *more; };

void numbers(int n, long m) {
    char line[16];
    char tiny[8];
    sprintf(line, "n=%d", n); // ok
    sprintf(tiny, "n=%d", n); // expect: unbounded-sprintf
    sprintf(line, "%lx and %ld", m, m); // expect: unbounded-sprintf
    sprintf(tiny, "%c%%", n); // ok
    sprintf(tiny, "long text"); // expect: unbounded-sprintf
}

void strings(const char *name, struct box *b) {
    char line[32];
    char word[10];
    char from[8] = "seven77";
    sprintf(line, "hello %s", name); // expect: unbounded-sprintf
    sprintf(line, "%.20s", name); // ok
    sprintf(word, "%s", from); // ok
    sprintf(b->text, "%s", name); // expect: unbounded-sprintf
    sprintf(b->more, "%s", name); // expect: unbounded-sprintf
    snprintf(line, sizeof(line), "hello %s", name); // ok
}

void environment(void) {
    char line[100];
    sprintf(line, "home is %s", getenv("HOME")); // expect: unbounded-sprintf
}

void forward(char *to, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsprintf(to, format, list); // expect: unbounded-sprintf
    va_end(list);
}

#include <stdio.h>
#include <string.h>

char *gets(char *);
#define READ_LINE gets

void straight(void) {
    char line[80];
    gets(line); // expect: gets-call
}

void macro(char *buffer) {
    if (READ_LINE(buffer) == NULL) // expect: gets-call
        return;
}

void better(void) {
    char line[80];
    if (fgets(line, sizeof(line), stdin) != NULL) // ok
        line[strcspn(line, "\n")] = '\0';
}

struct reader { char *(*gets)(char *, int); };
void member(struct reader *r, char *b) { r->gets(b, 3); } // ok

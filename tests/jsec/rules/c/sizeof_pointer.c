#include <stdlib.h>
#include <string.h>
#include <stdio.h>

struct box { char *text; char fixed[16]; };

void allocation(void) {
    double *data = NULL;
    data = (double *)malloc(sizeof(data)); // expect: sizeof-pointer
    if (data == NULL) return;
    free(data);
    data = (double *)malloc(sizeof(*data)); // ok
    free(data);
}

void parameter(char line[100], struct box *b) {
    memset(line, 0, sizeof(line)); // expect: sizeof-pointer
    memset(b, 0, sizeof(*b)); // ok
    memset(b, 0, sizeof b); // expect: sizeof-pointer
    snprintf(b->text, sizeof(b->text), "x"); // expect: sizeof-pointer
    snprintf(b->fixed, sizeof(b->fixed), "x"); // ok
    memcpy(b->fixed, &line, sizeof(line)); // ok
}

int count(int list[], int *end) {
    int own[10];
    int n = sizeof(list) / sizeof(list[0]); // expect: sizeof-pointer
    n += sizeof(own) / sizeof(own[0]); // ok
    n += sizeof(end) / sizeof(*end); // expect: sizeof-pointer
    return n;
}

void clear(void) {
    char *p;
    memset(&p, 0, sizeof(p)); // ok
    puts(p);
}

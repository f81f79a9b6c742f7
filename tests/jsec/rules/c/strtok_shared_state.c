#include <pthread.h>
#include <stdio.h>
#include <string.h>

void words(char *line) {
    char *w;
    for (w = strtok(line, " "); w != NULL; w = strtok(NULL, " ")) // expect: strtok-shared-state
        puts(w);
}

void nested(char *text) {
    char *line = strtok(text, "\n"); // expect: strtok-shared-state
    while (line != NULL) {
        char *w = strtok(line, " "); // expect: strtok-shared-state
        puts(w);
        line = strtok(NULL, "\n"); // ok
    }
}

void own_place(char *line) {
    char *place;
    char *w;
    for (w = strtok_r(line, " ", &place); w != NULL; w = strtok_r(NULL, " ", &place)) // ok
        puts(w);
}

void states(FILE *fp, char *line) {
    char *s = strtok(line, " "); // expect: strtok-shared-state
    while (fgets(line, 512, fp) != NULL) {
        s = strtok(line, " "); // expect: strtok-shared-state
        s = strtok((char *) NULL, " "); // ok
        puts(s);
    }
}

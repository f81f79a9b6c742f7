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

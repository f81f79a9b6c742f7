
#include <stdlib.h>
void given(void) {
    char *args[] = {"sh", "-c", getenv("ADD"), NULL};
    _spawnv(0, "sh", args); // expect: command-injection
}

void fixed(void) {
    char *args[] = {"sh", "-c", "ls", NULL};
    _spawnv(0, "C:/bin/sh", args);
}

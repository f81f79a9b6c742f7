#include <stdio.h>
#include <stdlib.h>

extern void step(void);

void unlimited(void) {
    int n = 0;
    int i;
    char line[50];
    if (fgets(line, sizeof(line), stdin) == NULL) return;
    if (sscanf(line, "%d", &n) == 1) {
        for (i = 0; i < n; i++) { // expect: loop-count-from-input
            step();
        }
    }
}

void limited(void) {
    int n = 0;
    int i;
    char line[50];
    if (fgets(line, sizeof(line), stdin) == NULL) return;
    if (sscanf(line, "%d", &n) == 1) {
        if (n < 10000) {
            for (i = 0; i < n; i++) { // ok
                step();
            }
        }
    }
}

void from_caller(int n) {
    int i = 0;
    if (getchar() == 'x' && rand() > 3) return;
    while (i < n) { // ok
        i++;
        step();
    }
}

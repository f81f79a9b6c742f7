
#include <stdio.h>
int late(const char *name) {
    FILE *in = fopen(name, "r");
    if (!in) return -1;
    fclose(in);
    return fgetc(in); // expect: use-after-close
}
void twice(const char *name) {
    FILE *in = popen(name, "r");
    if (!in) return;
    pclose(in);
    pclose(in); // expect: double-close
}
void untested(void) {
    FILE *in = tmpfile();
    fclose(in); // expect: unchecked-allocation
}

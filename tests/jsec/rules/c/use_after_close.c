#include <stdio.h>

void late_line(const char *path) {
    FILE *log = fopen(path, "a");
    if (log == NULL)
        return;
    fclose(log);
    fprintf(log, "done\n"); // expect: use-after-close
}

void end_of(FILE *log) {
    fclose(log);
}

void late_elsewhere(const char *path, int verbose) {
    FILE *log = fopen(path, "a");
    if (log == NULL)
        return;
    end_of(log);
    if (verbose)
        fputs("done\n", log); // expect: use-after-close
}

void in_order(const char *path) {
    FILE *log = fopen(path, "a");
    if (!log)
        return;
    fprintf(log, "done\n"); // ok
    fclose(log);
}

void opened_again(const char *path) {
    FILE *log = fopen(path, "a");
    if (!log)
        return;
    fclose(log);
    log = fopen(path, "r");
    if (log) {
        fgetc(log); // ok
        fclose(log);
    }
}

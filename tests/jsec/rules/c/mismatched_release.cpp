#include <cstdlib>
#include <cstdio>
#include <unistd.h>
#include <new>

void array_as_one() {
    int *counts = new int[10];
    delete counts; // expect: mismatched-release
}

void one_as_array() {
    int *count = new int;
    delete[] count; // expect: mismatched-release
}

void malloc_delete() {
    char *p = (char *)malloc(4);
    delete p; // expect: mismatched-release
}

void new_free() {
    char *p = new char[4];
    free(p); // expect: mismatched-release
}

void file_free(const char *path) {
    FILE *file = fopen(path, "r");
    if (file != NULL)
        free(file); // expect: mismatched-release
}

void pipe_fclose(const char *command) {
    FILE *pipe = popen(command, "r");
    if (pipe)
        fclose(pipe); // expect: mismatched-release
}

void matched() {
    int *counts = new int[10];
    delete[] counts; // ok
    char *p = (char *)malloc(4);
    free(p); // ok
    int *one = new (std::nothrow) int;
    delete one; // ok
}

void either(bool many, int *given) {
    int *p = given;
    if (many)
        p = new int[3];
    delete p; // expect: mismatched-release
}

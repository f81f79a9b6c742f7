#include <stdio.h>
#include <dirent.h>

void first_line(const char *path, char *line, int size) {
    FILE *file = fopen(path, "r");
    fgets(line, size, file); // expect: unchecked-open-result
    fclose(file);
}

int list(const char *path) {
    DIR *dir = opendir(path);
    struct dirent *entry = readdir(dir); // expect: unchecked-open-result
    closedir(dir);
    return entry != NULL;
}

int direct(const char *path) {
    return fgetc(fopen(path, "r")); // expect: unchecked-open-result
}

int tested(const char *path, char *line, int size) {
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    fgets(line, size, file); // ok
    return fclose(file);
}

int tested_late(const char *path) {
    FILE *file;
    if (!(file = fopen(path, "r"))) {
        perror(path);
        return -1;
    }
    fseek(file, 0, SEEK_END); // ok
    return fclose(file);
}

int first_byte(const char *path) {
    FILE *file = fopen(path, "r");
    int byte = fgetc(file); // expect: unchecked-open-result
    fclose(file);
    return byte < 0 ? -1 : 0;
}

int length_of(const char *path) {
    FILE *file;
    long length;

    file = fopen(path, "rb");
    fseek(file, 0, SEEK_END); // expect: unchecked-open-result
    length = ftell(file);
    fclose(file);
    if (length < 0)
        return -1;
    return (int)length;
}

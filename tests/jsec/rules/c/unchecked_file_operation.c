#include <stdio.h>
#include <unistd.h>

void work(void);

void enter(const char *directory) {
    chdir(directory); // expect: unchecked-file-operation
    work();
}

int enter_checked(const char *directory) {
    if (chdir(directory) != 0) // ok
        return -1;
    (void) chdir("/"); // ok
    return 0;
}

void move(const char *from, const char *to) {
    rename(from, to); // expect: unchecked-file-operation
}

void skip(FILE *file) {
    fseek(file, 10, SEEK_SET); // expect: unchecked-file-operation
}

int give_up(const char *name, int bad) {
    if (bad) {
        remove(name); // ok
        return -1;
    }
    remove(name); // expect: unchecked-file-operation
    work();
    return 0;
}

int stored(const char *from, const char *to) {
    int result = rename(from, to); // ok
    return result;
}

int pipes(HANDLE pipe, HANDLE out) {
    DWORD written = 0;
    ConnectNamedPipe(pipe, NULL); // expect: unchecked-file-operation
    if (!ConnectNamedPipe(pipe, NULL)) // ok
        return -1;
    WriteFile(out, "text", 4, &written, NULL); // expect: unchecked-file-operation
    WriteFile(GetStdHandle(STD_ERROR_HANDLE), "text", 4, &written, NULL); // ok
    return WriteFile(out, "text", 4, &written, NULL); // ok
}

void truncate(struct text *text, int width);

void show(struct text *text) {
    truncate(text, 80); // ok
}

void meet(struct hall *hall) {
    connect(hall, SIGNAL(opened()), hall->guest, SLOT(enter())); // ok
}

int replace_file(const char *from, const char *to) {
    FILE *file = fopen(to, "r");
    if (file == NULL)
        return -1;
    fseek(file, 12, SEEK_CUR); // expect: unchecked-file-operation
    int first = fgetc(file);
    fclose(file);
    if (first == EOF)
        return -1;
    return rename(from, to);
}

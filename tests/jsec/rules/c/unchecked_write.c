#include <stdio.h>
#include <unistd.h>

void lost(FILE *out, const char *text, size_t length) {
    fwrite(text, 1, length, out); // expect: unchecked-write
    fwrite(text, 1, length, out); // ok
}

int asked_later(FILE *out, const char *text, size_t length) {
    fwrite(text, 1, length, out); // ok
    return ferror(out);
}

int closed_with_care(FILE *out, const char *text) {
    fputs(text, out); // ok
    if (fclose(out) != 0)
        return -1;
    return 0;
}

int checked(FILE *out, const char *text, size_t length) {
    return fwrite(text, 1, length, out) == length; // ok
}

void to_terminal(const char *text) {
    fputs(text, stdout); // ok
    puts(text); // ok
    fputs(text, stderr); // ok
    fprintf(stderr, "%s", text); // ok
    write(2, text, 3); // ok
    wprintf(L"%s", text); // ok
}

void descriptor(int fd, const char *text) {
    write(fd, text, 10); // expect: unchecked-write
    (void) write(fd, text, 10); // ok
}

void report(const char *path, int value) {
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return;
    fprintf(out, "%d\n", value); // expect: unchecked-write
    fprintf(out, "%d\n", value); // ok
    fclose(out);
}

void report_to(FILE *out, int value) {
    fprintf(out, "%d\n", value); // ok
}

#define PUT fwrite
void through_macro(FILE *out, const char *text) {
    PUT(text, 1, 3, out); // expect: unchecked-write
}

int to_terminal_with_care(const char *text) {
    puts(text); // ok
    return ferror(stdout);
}

void lines(const char *text) {
    puts(text); // ok
    if (putchar('.') == EOF) // ok
        return;
    (void) puts(text); // ok
}

int looked_at(int c) {
    if (putchar(c) == EOF) // ok
        return -1;
    return printf("%c\n",
                  c) < 0; // ok
}

void not_looked_at(int c) {
    putchar(c); // expect: unchecked-write
    putchar(c); // ok
    puts("done"); // ok
}

void formatted(int c) {
    printf("%c\n", c); // expect: unchecked-write
}

void other_lines(const char *text) {
    fputs(text, stdout); // ok
    fputc('.', stdout); // ok
    if (fputs(text, stderr) == EOF) // ok
        return;
    putc('\n', stdout); // ok
    strcmp(text, "stdout") == 0;
}

void nothing_is_sent(int fd, const char *data) {
    send(fd, NULL, 0, 0); // ok
    send(fd, data, 10, 0); // expect: unchecked-write
}

#define dprintf(x) do { } while (0)

void debug(int step) {
    dprintf(("step\n")); // ok
}

int write_header(const char *path, const char *header) {
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return -1;
    fwrite(header, 1, 16, file); // expect: unchecked-write
    fclose(file);
    return 0;
}

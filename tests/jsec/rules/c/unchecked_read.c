#include <stdio.h>
#include <unistd.h>
#include <sys/socket.h>

void use(const char *text);
void use_number(int number);

void line(FILE *file) {
    char text[100];
    fgets(text, sizeof text, file); // expect: unchecked-read
    use(text);
}

void block(FILE *file) {
    char text[100];
    fread(text, 1, sizeof text, file); // expect: unchecked-read
    use(text);
}

void block_checked_later(FILE *file) {
    char text[100];
    fread(text, 1, sizeof text, file); // ok
    if (ferror(file))
        return;
    use(text);
}

int checked(FILE *file, int fd) {
    char text[100];
    if (fgets(text, sizeof text, file) == NULL) // ok
        return -1;
    ssize_t got = read(fd, text, sizeof text); // ok
    if (got <= 0)
        return -1;
    use(text);
    return 0;
}

void never_read(int fd) {
    char text[100];
    int got = read(fd, text, sizeof text); // expect: unchecked-read
    use(text);
}

void decided(int fd) {
    char text[100];
    (void) read(fd, text, sizeof text); // ok
    use(text);
}

void number(void) {
    int value;
    scanf("%d", &value); // expect: unchecked-read
    use_number(value);
}

#define RECEIVE(socket, buffer, size) recv(socket, buffer, size, 0)
#define GET(socket, buffer, size, flags) recv(socket, buffer, size, flags)
void through_macro(int socket) {
    char text[100];
    RECEIVE(socket, text, 100); // missed: unchecked-read (a macro that adds an argument)
    GET(socket, text, 100, 0); // expect: unchecked-read
    use(text);
}

void loop(int fd) {
    char text[10];
    long got;
    while ((got = read(fd, text, sizeof text)) > 0) // ok
        use(text);
}

void old_style(file) FILE *file; {
    char text[10];
    fgets(text, 10, file); // expect: unchecked-read
    use(text);
}

void read_of_our_own(struct reader *reader) {
    reader->read(reader, 0, 0); // ok
}

int read_header(const char *path, char *header) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return -1;
    fread(header, 1, 16, file); // expect: unchecked-read
    fclose(file);
    return header[0] == 'R';
}

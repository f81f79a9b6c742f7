#include <string.h>
#include <wchar.h>

extern void show(const char *);

void whole_target(const char *name) {
    char line[80] = "name: ";
    strncat(line, name, sizeof(line)); // expect: strncat-wrong-size
    strncat(line, name, sizeof(line) - strlen(line)); // expect: strncat-wrong-size
    strncat(line, name, sizeof(line) - strlen(line) - 1); // ok
    strncat(line, name, 200); // expect: strncat-wrong-size
    strncat(line, name, strlen(name)); // expect: strncat-wrong-size
    show(line);
}

void fits(void) {
    char source[100];
    char data[100];
    memset(source, 'C', 100 - 1);
    source[100 - 1] = '\0';
    data[0] = '\0';
    strncat(data, source, 100); // ok
    show(data);
}

void too_small(void) {
    char source[100];
    char data[50];
    memset(source, 'C', 100 - 1);
    source[100 - 1] = '\0';
    data[0] = '\0';
    strncat(data, source, 100); // expect: strncat-wrong-size
    show(data);
}

void unknown(char *to, const char *from, size_t room) {
    strncat(to, from, room); // ok
}

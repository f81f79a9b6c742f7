#include <ctype.h>
#include <string.h>

void chop(char *line) {
    char *end = line + strlen(line) - 1;
    while (*end == '\n') // expect: backward-scan-without-start
        *end-- = '\0';
}

void chop_bounded(char *line) {
    char *end = line + strlen(line) - 1;
    while (end >= line && *end == '\n') // ok
        *end-- = '\0';
}

void chop_index(char *line) {
    int last = strlen(line) - 1;
    while (isspace(line[last])) // expect: backward-scan-without-start
        line[last--] = '\0';
}

void chop_index_bounded(char *line) {
    int last = strlen(line) - 1;
    while (last >= 0 && isspace(line[last])) // ok
        line[last--] = '\0';
}

void chop_left_inside(char *line) {
    char *end = line + strlen(line) - 1;
    while (isspace(*end)) { // ok
        if (end == line)
            break;
        end--;
    }
    *end = '\0';
}

char *trimmed_in_front(char *line) {
    while (isspace(*line))
        line++;
    if (*line == '\0')
        return line;
    char *end = line + strlen(line) - 1;
    while (isspace(*end)) // ok
        end--;
    end[1] = '\0';
    return line;
}

char *to_known_character(char *path) {
    char *end = path + strlen(path) - 1;
    while (*end != '/') // ok
        end--;
    return end;
}

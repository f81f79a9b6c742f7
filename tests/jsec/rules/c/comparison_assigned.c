#include <stdlib.h>

struct chunk {
    long length;
    int found;
};

int next(const char *line);
void skip(long amount);

void read_chunks(struct chunk *chunk, const char *line) {
    char *end;
    while ((chunk->length = strtol(line, &end, 16) > 0) && end != line) // expect: comparison-assigned
        skip(chunk->length);
}

void read_chunks_right(struct chunk *chunk, const char *line) {
    char *end;
    while ((chunk->length = strtol(line, &end, 16)) > 0 && end != line) // ok
        skip(chunk->length);
}

int as_truth(const char *line, struct chunk *chunk) {
    int failed;
    if ((failed = next(line) < 0)) // ok
        return failed;
    if ((chunk->found = next(line) == 1)) // ok
        return 1;
    return 0;
}

int sum(const char *line) {
    int n;
    if ((n = next(line) > 0)) // expect: comparison-assigned
        return n + 1;
    return 0;
}

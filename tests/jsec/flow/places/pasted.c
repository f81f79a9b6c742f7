
static int pfirst;
static int second;

int load(void *library) {
#define LOAD(symbol) *(int *)(&p ## symbol) = number(library, #symbol)
    LOAD(first);
#undef LOAD
    return 10 / pfirst;
}

int use(void) {
    return 10 / second; // expect: divide-by-zero
}

#define WRITTEN_(x) #x
#define WRITTEN(x) WRITTEN_(x)
#define WIDEST WRITTEN(PATH_MAX)
#define LESS 100
#define LESS_TEXT WRITTEN(LESS)
#define ELSEWHERE WRITTEN(OF_A_HEADER)
struct file { char name[PATH_MAX + 1]; };

int read_name(FILE *from, struct file *to) {
    char line[16384];
    if (!fgets(line, sizeof line, from)) return 0;
    return sscanf(line, "%" WIDEST "s", to->name);
}

int read_word(FILE *from) {
    char line[16384], word[100];
    if (!fgets(line, sizeof line, from)) return 0;
    return sscanf(line, "%" LESS_TEXT "s", word); // expect: buffer-write-stack
}

int read_unknown(FILE *from) {
    char line[16384], word[100];
    if (!fgets(line, sizeof line, from)) return 0;
    return sscanf(line, "%" ELSEWHERE "s", word);
}

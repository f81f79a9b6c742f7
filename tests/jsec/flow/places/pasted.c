
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


static int *pfirst;
static int *second;

int load(void *library) {
#define LOAD(symbol) *(void **)(&p ## symbol) = dlsym(library, #symbol)
    LOAD(first);
#undef LOAD
    return *pfirst;
}

int use(void) {
    return *second; // expect: null-dereference
}

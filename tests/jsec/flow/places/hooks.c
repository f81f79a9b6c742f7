typedef void (*release)(void *);
typedef void *(*allocate)(unsigned long);
extern release own_free;
extern allocate own_malloc;
struct hooks {
    release give_back;
};
extern struct hooks hooks;
#define free(p) own_free(p)
#define malloc(n) own_malloc(n)
#define kfree(p) hooks.give_back(p)

int late(const char *s) {
    char *p = malloc(10);
    if (!p)
        return 1;
    if (*s == 'x') {
        free(p);
        printf("%s", p);  // expect: use-after-free
        return 2;
    }
    free(p);
    return 0;
}

int twice(const char *s) {
    char *p = malloc(10);
    if (!p)
        return 1;
    free(p);
    free(p);  // expect: double-free
    return s[0];
}

int lost(const char *s) {
    char *p = malloc(10);  // expect: leak
    if (!p)
        return 1;
    if (*s)
        return 2;
    free(p);
    return 0;
}

int sound(const char *s) {
    char *p = malloc(10);
    if (!p)
        return 1;
    p[9] = *s;
    free(p);
    return 0;
}

int twice_through_a_member(char *p) {
    kfree(p);
    kfree(p);  // expect: double-free
    return 0;
}

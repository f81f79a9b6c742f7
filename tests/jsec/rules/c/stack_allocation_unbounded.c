#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 64
#define STACK alloca
extern void show(void *);

void calls(size_t n, const char *s) {
    show(alloca(n)); // expect: stack-allocation-unbounded
    show(alloca(SIZE * sizeof(int))); // ok
    show(STACK(strlen(s) + 1)); // expect: stack-allocation-unbounded
    if (n > 100) return;
    show(alloca(n)); // ok
}

void input(void) {
    int n = atoi(getenv("N"));
    show(alloca(n)); // expect: stack-allocation-unbounded
}

void limited_string(void) {
    char name[16] = "";
    show(alloca(strlen(name) + 1)); // ok
}

struct short_net { unsigned short length; };
struct long_net { unsigned size; };

void short_length(const struct short_net *net, unsigned char count) {
    show(alloca(net->length)); // ok
    show(alloca((count + 1) * 16)); // ok
}

void long_length(const struct long_net *net, unsigned short count) {
    show(alloca(net->size)); // expect: stack-allocation-unbounded
    show(alloca(count * 4096)); // expect: stack-allocation-unbounded
}

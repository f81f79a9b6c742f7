#include <cstdio>
#include <cstdlib>
#include <string>

char *name_of(int id) {
    char name[32];
    snprintf(name, sizeof name, "item %d", id);
    return name; // expect: returned-local-address
}

int *counter() {
    int count = 0;
    return &count; // expect: returned-local-address
}

char *through_pointer() {
    char buffer[16];
    char *p = buffer;
    p[0] = 'x';
    return p; // expect: returned-local-address
}

struct pair { int a; int b; };
int *inside() {
    struct pair p = {1, 2};
    return &p.a; // expect: returned-local-address
}

std::string &reference() {
    std::string text = "x";
    return text; // expect: returned-local-address
}

char *element() {
    char buffer[16];
    return &buffer[2]; // expect: returned-local-address
}

const char *literal() {
    const char *p = "text";
    return p; // ok
}

char *kept() {
    static char name[32];
    return name; // ok
}

int *given(int *count) {
    return &count[1]; // ok
}

char *parameter_array(char buffer[16]) {
    return buffer; // ok
}

int element_value() {
    int values[3] = {1, 2, 3};
    return values[0]; // ok
}

int *member_of(struct pair *p) {
    return &p->a; // ok
}

std::string copy() {
    std::string text = "x";
    return text; // ok
}

std::string &alias(std::string &given) {
    std::string &text = given;
    return text; // ok
}

struct state { int n; };
struct state *made(void);
struct state *by_version(void) {
#if VERSION >= 2
    struct state *kept;
    kept = made();
    return kept; // ok
#else
    static struct state kept;
    return &kept; // ok
#endif
}

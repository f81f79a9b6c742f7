#include <stddef.h>

struct node { int size; };
void use(struct node *n);

void both_sides(struct node *n) {
    if ((n != NULL) & (n->size > 0)) // expect: bitwise-and-of-null-test
        use(n);
}

void either_side(struct node *n) {
    if ((n == NULL) | (n->size == 0)) // expect: bitwise-and-of-null-test
        return;
    use(n);
}

void guarded(struct node *n, int flags) {
    if ((n != NULL) && (n->size > 0)) // ok
        use(n);
    if ((n != NULL) & (flags > 0)) // ok
        use(n);
    if (flags & 4) // ok
        use(n);
}

#include <stdlib.h>
#include <sys/random.h>

void make_session_key(unsigned char *out) {
    for (int i = 0; i < 16; i++)
        out[i] = rand() % 256; // expect: weak-random
}

unsigned token(void) {
    unsigned session_token = random(); // expect: weak-random
    return session_token;
}

int shuffle(int *cards, int n) {
    int a = rand() % n; // expect: weak-random
    int b = rand() % n; // ok
    int c = cards[a];
    cards[a] = cards[b];
    cards[b] = c;
    return a;
}

int strong(unsigned char *key) {
    return getrandom(key, 16, 0) == 16; // ok
}

unsigned modern(void) {
    return arc4random(); // ok
}

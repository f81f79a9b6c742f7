#include <cstdlib>
#include <string>

void legacy(char *text);

void shout(const std::string &text) {
    const_cast<char &>(text[0]) = 'X'; // expect: const-cast-away
}

void hand_on(const char *text) {
    legacy(const_cast<char *>(text)); // expect: const-cast-away
}

struct cache {
    int value;
    int get() const {
        const_cast<cache *>(this)->value = 1; // expect: const-cast-away
        return value;
    }
    const int &look() const { return value; }
    int &look() { return const_cast<int &>(const_cast<const cache *>(this)->look()); } // ok
};

void releases(const char *text) {
    free(const_cast<char *>(text)); // ok
}

void adds(char *text) {
    const char *p = const_cast<const char *>(text); // ok
    legacy(static_cast<char *>(text)); // ok
    (void)p;
}


#include <string.h>
class Shared {
public:
    Shared(const char *s) { name = new char[strlen(s) + 1]; strcpy(name, s); }
    ~Shared() { delete [] name; } // expect: double-free
    char *name;
};
class Own {
public:
    Own(const char *s) { name = new char[strlen(s) + 1]; strcpy(name, s); }
    Own(const Own &o) { name = new char[strlen(o.name) + 1]; strcpy(name, o.name); }
    Own &operator=(const Own &o) {
        if (&o != this) {
            delete [] name;
            name = new char[strlen(o.name) + 1];
            strcpy(name, o.name);
        }
        return *this;
    }
    ~Own() { delete [] name; }
    char *name;
};
class Hasty {
public:
    Hasty(const char *s) { name = new char[strlen(s) + 1]; strcpy(name, s); }
    Hasty &operator=(const Hasty &o) {
        delete [] name;
        name = new char[strlen(o.name) + 1]; // expect: use-after-free
        strcpy(name, o.name);
        return *this;
    }
    ~Hasty() { delete [] name; }
    char *name;
};
void shared() { Shared one("x"); Shared two(one); }
void owned() { Own one("x"); Own two(one); Own three = two; three = one; one = one; }
void handed() { Own *one = new Own("x"); std::unique_ptr<Own> own(one); }
void hasty() { Hasty one("x"); one = one; }


#include <stdexcept>
void lost(int n) {
    int *many = new int[10](); // expect: leak
    if (many[n & 1] == n) { throw std::runtime_error("x"); }
    delete [] many;
}
void kept(int n) {
    int *many = new int[10]();
    if (n == 3) { delete [] many; throw 1; }
    delete [] many;
}
class Hold {
public:
    Hold() { p = new int(3); }
    ~Hold() { delete p; }
    int *p;
};
void held(int n) { Hold h; if (n == 3) throw 1; }
void caught(int n) {
    char *text = 0;
    try {
        text = new char[64]; // expect: leak
        if (n == 7) throw 5;
        delete [] text;
    } catch (int) { n = 3; }
}
void caught_ok(int n) {
    char *text = 0;
    try { text = new char[64]; if (n == 7) throw 5; } catch (int) { n = 3; }
    delete [] text;
}
static void thrower(int n) { if (n > 3) throw n; }
void outer(int n) {
    char *text = new char[64]; // expect: leak
    try { thrower(n); delete [] text; } catch (...) { n = 1; }
}
void outer_ok(int n) {
    char *text = new char[64];
    try { thrower(n); } catch (...) { n = 1; }
    delete [] text;
}
void through(int n) {
    char *text = new char[64]; // expect: leak
    thrower(n);
    delete [] text;
}
void through_ok(int n) { Hold h; thrower(n); }
int unset(int n) {
    int code;
    try { if (n) throw 1; code = 5; } catch (int) { n = 0; }
    return code + n; // expect: uninitialized
}
int set(int n) {
    int code;
    try { if (n) throw 1; code = 5; } catch (int) { code = 0; }
    return code + n;
}


static int five = 5;
void run(void (*what)());
void set_null() {
    int *p = &five;
    auto set = [&p](int *q) { p = q; };
    set(0);
    *p = 1; // expect: null-dereference
}
void set_good() {
    int *p = 0;
    auto set = [&p](int *q) { p = q; };
    set(&five);
    *p = 1;
}
void handed_on() {
    int *p = 0;
    run([&] { p = &five; });
    *p = 1;
}
void at_once(int n) {
    char *text = new char[4]; // expect: leak
    int code = [&](int m) { if (m > 3) return 1; delete [] text; return 0; }(n);
    n = code;
}
void released(int n) {
    char *text = new char[4];
    auto give = [text](int m) { if (m) n = m; delete [] text; return 0; };
    n = give(n);
}
int from_value() {
    auto same = [](auto m) { return m; };
    return 100 / same(0); // expect: divide-by-zero
}

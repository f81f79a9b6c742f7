
#include <string>
class base { public: virtual ~base() {} };
class one : public base { public: int some; };
class two : public one { public: int more; };
class box { public: box() { other = 1; } int get() { return value; } int value; int other; };
void show(int number);
int other_class() {
    one o;
    base *b = &o;
    two *t = dynamic_cast<two *>(b);
    return t->more; // expect: null-dereference
}
int same_class() {
    two o;
    base *b = &o;
    o.more = 1;
    two *t = dynamic_cast<two *>(b);
    return t->more;
}
int tested(base *b) {
    two *t = dynamic_cast<two *>(b);
    return t ? t->more : 0;
}
unsigned long no_text() {
    std::string *s = nullptr;
    return s->size(); // expect: null-dereference
}
unsigned long text(std::string *s) { return s->size(); }
void member() {
    box b;
    show(b.get()); // expect: uninitialized
}

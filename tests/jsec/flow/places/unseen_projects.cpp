// What real projects taught: code that looked wrong and is not, beside flaws of the same shape.
#include <cstddef>

// A method that is not virtual is not that of a derived class.
template <class T> class List { public: void append(T item); };
class Names : public List<char *> { public: void append(char *item); };
void Names::append(char *) {}
struct Reader { Reader(int n); int n; };
Reader::Reader(int n) : n(n) {}
class File { List<Reader *> readers; public: void add(); };
void File::add() { readers.append(new Reader(1)); }

// Parameters that are left out have the values of the declaration.
struct B { int x; };
class Converter { public: Converter(B &b, const char *set = 0); int run(); private: B *b_; const char *set_; };
Converter::Converter(B &b, const char *set) : b_(&b), set_(set) {}
int Converter::run() { return b_ ? 1 : 2; }
int convert(B &b) { Converter c(b); return c.run(); }

// What `new` took goes back when the constructor throws.
struct Part { Part(const char *s); int x; };
Part::Part(const char *s) { if (!s) throw 1; x = 1; }
class Whole { Part *part; public: Whole(const char *s); };
Whole::Whole(const char *s) : part(new Part(s)) {}

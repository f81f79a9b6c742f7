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

// An argument that throws leaves nothing allocated.
struct Port { Port(int n) { if (n < 0) throw 1; } };
struct Wire { Wire(const Port &p); };
struct Line { Wire *wire; void open(int n) { if (!wire) wire = new Wire(Port(n)); } };

// An object of a class that is not seen may register itself with what it is given.
template <class Handler> class Acceptor {
    int reactor;
    virtual Handler *make(int socket) { return new Handler(socket, reactor); }
    void accept(int socket) { make(socket); }
};
struct Plain { int n; };
int lost(int n) {
    Plain *plain = new Plain; // expect: leak
    if (n) return 1;
    delete plain;
    return 0;
}

// Whether something was inserted says nothing of where it is.
#include <map>
#include <utility>
struct Counts {
    std::map<int, int> counts;
    void add(int n) {
        std::pair<std::map<int, int>::iterator, bool> found = counts.insert(std::make_pair(n, 1));
        if (!found.second) found.first->second++;
    }
};

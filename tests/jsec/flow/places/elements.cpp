
#include <cstdlib>
#include <string>
#include <vector>
struct Pool {
    std::vector<int *> all;
    ~Pool() { for (int *one : all) delete one; }
    int *get() { int *one = new int(0); all.push_back(one); return one; }
};
int pooled() {
    Pool pool;
    int *one = pool.get();
    *one = 3;
    return *one;
}
int summed() {
    int all[3] = {1, 2, 3};
    int sum = 0;
    for (int one : all) sum += one;
    return sum;
}
void run(const std::vector<const char *> &fixed) {
    std::vector<const char *> all(fixed);
    all.push_back(getenv("ADD"));
    for (const char *one : all) system(one); // expect: command-injection
}

struct part { int *held; int size; };
class parts {
public:
    ~parts();
    void clear();
    void drop();
    int twice();
    std::vector<int *> lines;
    std::vector<part> all;
    int *last;
};
parts::~parts() { for (unsigned i = 0; i < lines.size(); i++) delete[] lines[i]; }
void parts::clear() { for (auto &one : all) delete one.held; }
void parts::drop() { for (part &one : all) { delete one.held; one.held = nullptr; } }
int parts::twice() {
    delete last;
    delete last; // expect: double-free
    return 0;
}

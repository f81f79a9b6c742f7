
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

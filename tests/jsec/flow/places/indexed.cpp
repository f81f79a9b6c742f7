
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>
extern void use(int n);
extern void fill(std::vector<int> &v);
extern int any();
struct pair { int x, y; };

int first_of_none() {
    std::vector<int> v;
    return v[0]; // expect: buffer-read-over
}
int first() { std::vector<int> v; v.push_back(3); return v[0]; }
void behind() {
    std::vector<int> v(10);
    for (int i = 0; i <= 10; i++)
        v[i] = 1; // expect: buffer-write-heap
}
void to_its_size() { std::vector<int> v(10); for (size_t i = 0; i < v.size(); i++) v[i] = 1; }
void not_resized() {
    std::vector<int> v;
    v.reserve(4);
    v[1] = 2; // expect: buffer-write-heap
}
void resized() { std::vector<int> v; v.resize(4); v[3] = 2; v.push_back(1); v[4] = 1; }
void shorter() {
    std::vector<int> v(3);
    v.pop_back();
    v[2] = 1; // expect: buffer-write-heap
}
void as_bytes() {
    std::vector<char> v(100);
    memset(v.data(), 0, v.size());
    memset(&v[0], 0, 101); // expect: buffer-write-heap
}

void filled_elsewhere() { std::vector<int> v; fill(v); use(v[3]); }
void many() { std::vector<int> v; for (int i = 0; i < 100; i++) v.push_back(i); use(v[99]); }
void some() {
    std::vector<int> v;
    int n = any();
    while (n--) v.push_back(n);
    if (v.size() > 5) use(v[5]);
}
void given() { std::vector<int> v, w(5); v = w; use(v[4]); }
void listed() { std::vector<int> v{1, 2, 3}, w = {1, 2}; use(v[2]); use(w[1]); }
void swapped() { std::vector<int> v, w(5); v.swap(w); use(v[4]); }
void put_in() { std::vector<int> v; v.insert(v.end(), 4, 7); use(v[3]); }
void walked() {
    std::vector<int> v;
    v.push_back(1);
    for (auto it = v.begin(); it != v.end(); ++it) use(*it);
    for (auto n : v) use(n);
}
void either(bool b) {
    std::vector<int> v;
    if (b) v.push_back(1);
    else { v.push_back(2); v.push_back(3); }
    use(v[0]);
}
void by_lambda() {
    std::vector<int> v;
    auto add = [&](int n) { v.push_back(n); };
    add(1);
    use(v[0]);
}
void inner() { std::vector<std::vector<int>> v(3, std::vector<int>(4)); v[2][3] = 1; use(v[2][3]); }
void records() { std::vector<pair> v; v.push_back({1, 2}); v[0].x = 3; use(v.back().y); }

void each_once() {
    std::vector<char *> v(2);
    v[0] = (char *) malloc(4);
    v[1] = (char *) malloc(4);
    free(v[0]);
    free(v[1]);
}
void one_twice() {
    std::vector<char *> v(2);
    v[0] = (char *) malloc(4);
    free(v[0]);
    free(v[0]); // expect: double-free
}
void by_key() {
    std::map<int, char *> m;
    m[0] = (char *) malloc(4);
    m[1] = (char *) malloc(4);
    free(m[0]);
    free(m[1]);
}
void in_a_loop() {
    std::vector<int *> v;
    for (int i = 0; i < 3; i++) v.push_back(new int(i));
    for (int i = 0; i < 3; i++) delete v[i];
}
void also_in_an_array() {
    char *v[3];
    for (int i = 0; i < 3; i++) v[i] = (char *) malloc(4);
    for (int i = 0; i < 3; i++) free(v[i]);
}
void the_last_twice() {
    char *v[3];
    for (int i = 0; i < 3; i++) v[i] = (char *) malloc(4);
    for (int i = 0; i < 3; i++) free(v[i]);
    free(v[2]); // expect: double-free
}
void the_last_not() {
    char *v[3];
    for (int i = 0; i < 3; i++)
        v[i] = (char *) malloc(4); // expect: leak
    for (int i = 0; i < 2; i++) free(v[i]);
}

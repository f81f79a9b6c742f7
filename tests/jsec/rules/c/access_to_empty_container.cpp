#include <string>
#include <vector>
#include <deque>

void fill(std::vector<int> &v);

char last(const std::string &line) {
    return line.back(); // expect: access-to-empty-container
}

int never_filled() {
    std::vector<int> v;
    return v.front(); // expect: access-to-empty-container
}

void take(std::deque<int> queue) {
    queue.pop_front(); // expect: access-to-empty-container
}

char tested(const std::string &line) {
    return line.empty() ? '\0' : line.back(); // ok
}

int sized(const std::vector<int> &v) {
    if (v.size() > 0)
        return v.front(); // ok
    return 0;
}

int filled() {
    std::vector<int> v;
    v.push_back(3);
    return v.back(); // ok
}

int by_function() {
    std::vector<int> v;
    fill(v);
    return v.back(); // ok
}

int with_values() {
    std::vector<int> v = {1, 2};
    return v.back(); // ok
}

char of_a_size(size_t size) {
    std::vector<char> text(size);
    return text.front(); // ok
}

struct Chunks {
    std::vector<int> chunks;
    std::vector<int> unasked;

    bool none() const {
        return this->chunks.empty();
    }
    int span() const {
        const int first = this->chunks.front(); // expect: access-to-empty-container
        const int last = this->chunks.back(); // ok
        return last - first;
    }
    int span_checked() const {
        if (this->chunks.empty())
            return 0;
        return this->chunks.back() - this->chunks.front(); // ok
    }
    int of_unasked() const {
        return this->unasked.front(); // ok
    }
};

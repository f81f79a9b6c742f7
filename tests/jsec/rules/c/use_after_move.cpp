#include <memory>
#include <string>
#include <utility>
#include <vector>

void take(std::string text);
void show(const std::string &text);
struct request { std::string path; };

void member(std::vector<request> &queue, request r) {
    queue.push_back(std::move(r));
    show(r.path); // expect: use-after-move
}

void argument(std::string text) {
    take(std::move(text));
    show(text); // expect: use-after-move
}

void pointer(std::unique_ptr<request> p) {
    auto q = std::move(p);
    show(p->path); // expect: use-after-move
}

void rounds(std::vector<std::string> &out, std::string text, int n) {
    for (int i = 0; i < n; i++)
        out.push_back(std::move(text)); // expect: use-after-move
}

void in_branch(std::string text, bool now) {
    if (now)
        take(std::move(text));
    show(text); // expect: use-after-move
}

void new_value(std::string text) {
    take(std::move(text));
    text = "again";
    show(text); // ok
}

void cleared(std::string text) {
    take(std::move(text));
    text.clear();
    show(text); // ok
}

void leaves(std::string text, bool now) {
    if (now) {
        take(std::move(text));
        return;
    }
    show(text); // ok
}

std::string returned(std::string text) {
    return std::move(text); // ok
}

void fresh_each_round(std::vector<std::string> &out, int n) {
    for (int i = 0; i < n; i++) {
        std::string text = "x";
        out.push_back(std::move(text)); // ok
    }
}

void member_only(request r) {
    take(std::move(r.path));
    show(r.path); // missed: use-after-move (members are not followed)
}

size_t size_of_what_was_moved(std::string text) {
    std::string kept = std::move(text);
    return text.size() + kept.size(); // expect: use-after-move
}

size_t size_before_the_move(std::string text) {
    size_t size = text.size(); // ok
    std::string kept = std::move(text);
    return size + kept.size(); // ok
}

struct Named {
    std::string name;
};

struct Sized : Named {
    std::string size;
    Sized &operator=(Sized &&other) {
        Named::operator=(std::move(other));
        size = std::move(other.size); // ok
        return *this;
    }
};

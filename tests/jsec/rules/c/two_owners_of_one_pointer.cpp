#include <memory>

struct Session { std::shared_ptr<Session> self(); };

void twice() {
    Session *raw = new Session;
    std::shared_ptr<Session> first(raw);
    std::shared_ptr<Session> second(raw); // expect: two-owners-of-one-pointer
}

void from_get(std::shared_ptr<Session> first) {
    std::shared_ptr<Session> second(first.get()); // expect: two-owners-of-one-pointer
}

void deleted_too() {
    Session *raw = new Session;
    std::unique_ptr<Session> owner(raw);
    delete raw; // expect: two-owners-of-one-pointer
}

std::shared_ptr<Session> Session::self() {
    std::shared_ptr<Session> me(this); // expect: two-owners-of-one-pointer
    return me;
}

void copied() {
    std::shared_ptr<Session> first(new Session);
    std::shared_ptr<Session> second(first); // ok
    std::shared_ptr<Session> third = first; // ok
}

void two_objects() {
    Session *raw = new Session;
    std::unique_ptr<Session> first(raw);
    raw = new Session;
    std::unique_ptr<Session> second(raw); // ok
}

void branches(bool which) {
    Session *raw = new Session;
    if (which) {
        std::unique_ptr<Session> first(raw);
    } else {
        std::unique_ptr<Session> second(raw); // ok
    }
}

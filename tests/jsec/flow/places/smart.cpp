
#include <memory>
#include <cstdlib>
void seen(int n);

void twice() {
    std::unique_ptr<int> own(new int(5));
    int *raw = own.get();
    seen(*raw);
    delete raw; // expect: double-free
}

void given_up() {
    std::unique_ptr<int> own(new int(5));
    int *raw = own.release();
    seen(*raw);
    delete raw;
}

void lost() {
    std::unique_ptr<int> own(new int(5)); // expect: leak
    int *raw = own.release();
    seen(*raw);
}

void too_late() {
    std::unique_ptr<int> own(new int(5));
    int *raw = own.get();
    own.reset();
    seen(*raw); // expect: use-after-free
}

void another() {
    std::unique_ptr<int> own(new int(5));
    own.reset(new int(6));
    int *raw = own.get();
    seen(*raw);
}

void two_owners() {
    int *raw = new int(4);
    std::shared_ptr<int> one(raw);
    std::shared_ptr<int> other(raw); // expect: double-free
}

void shared() {
    std::shared_ptr<int> one(new int(4));
    std::shared_ptr<int> other(one);
    one.reset();
    seen(*other);
}

void many() {
    std::unique_ptr<char> own(new char[4]); // expect: mismatched-free
    std::unique_ptr<char[]> right(new char[4]);
    std::unique_ptr<char, void (*)(void *)> freed((char *)malloc(4), free);
}

void kept(std::unique_ptr<int> &out) {
    std::unique_ptr<int> own(new int(5));
    int *raw = own.get();
    out = std::move(own);
    seen(*raw);
}

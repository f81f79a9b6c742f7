#include <mutex>
#include <stdexcept>

static std::mutex gate;
static int total;

void thrown() {
    gate.lock();
    total++;
    if (total > 9)
        throw std::runtime_error("many"); // expect: missing-unlock
    gate.unlock();
}

void given_back() {
    gate.lock();
    total++;
    if (total > 9) {
        gate.unlock();
        throw std::runtime_error("many"); // ok
    }
    gate.unlock();
}

void guarded() {
    std::lock_guard<std::mutex> hold(gate);
    total++;
    if (total > 9)
        throw std::runtime_error("many"); // ok
}

void caught() {
    gate.lock();
    try {
        if (total > 9)
            throw std::runtime_error("many"); // ok
        total++;
    } catch (const std::exception &) {
        total = 0;
    }
    gate.unlock();
}

#include <atomic>
#include <mutex>
#include <thread>

static int count;
static int guarded;
static std::atomic<int> safe;
static std::mutex lock;

static void work() {
    count++; // expect: unlocked-shared-variable
    safe++; // ok
    std::lock_guard<std::mutex> hold(lock);
    guarded++; // ok
}

int main() {
    std::thread one(work), two(work);
    one.join();
    two.join();
    return count + guarded;
}

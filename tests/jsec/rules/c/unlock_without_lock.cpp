#include <mutex>
#include <pthread.h>

static pthread_mutex_t lock;
static std::mutex guard;
void work();

void twice(int failed) {
    pthread_mutex_lock(&lock);
    work();
    pthread_mutex_unlock(&lock);
    if (failed)
        pthread_mutex_unlock(&lock); // expect: unlock-without-lock
}

void never_taken() {
    pthread_mutex_t own;
    pthread_mutex_init(&own, nullptr);
    pthread_mutex_unlock(&own); // expect: unlock-without-lock
}

void wait_outside() {
    pthread_mutex_unlock(&lock); // ok
    work();
    pthread_mutex_lock(&lock);
}

void methods() {
    guard.lock();
    work();
    guard.unlock();
    guard.unlock(); // expect: unlock-without-lock
}

void knows_itself() {
    std::unique_lock<std::mutex> hold(guard);
    hold.unlock(); // ok
    hold.lock();
    hold.unlock();
    hold.lock();
}

void pairs(int n) {
    for (int i = 0; i < n; i++) {
        guard.lock();
        work();
        guard.unlock(); // ok
    }
}

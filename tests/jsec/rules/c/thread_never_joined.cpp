#include <pthread.h>
#include <thread>

void *run(void *request);
void *detaching(void *unused) {
    pthread_detach(pthread_self());
    return unused;
}
void plain();
void keep(pthread_t thread);

void forget(void *request) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, request) != 0) // expect: thread-never-joined
        return;
}

void join(void *request) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, request) == 0) // ok
        pthread_join(thread, nullptr);
}

void detach(void *request) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, request) == 0) // ok
        pthread_detach(thread);
}

void detaches_itself(void *request) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, detaching, request) != 0) // ok
        return;
}

void hand_over(void *request) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, request) == 0) // ok
        keep(thread);
}

void with_attributes(pthread_attr_t *attributes) {
    pthread_t thread;
    if (pthread_create(&thread, attributes, run, nullptr) != 0) // ok
        return;
}

void object() {
    std::thread worker(plain); // expect: thread-never-joined
}

void joined_object() {
    std::thread worker(plain); // ok
    worker.join();
}

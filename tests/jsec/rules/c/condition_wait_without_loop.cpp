#include <condition_variable>
#include <mutex>
#include <pthread.h>

static pthread_cond_t filled;
static pthread_mutex_t lock;
static std::condition_variable ready;
static std::mutex guard;
bool empty();
int take();

int once() {
    pthread_mutex_lock(&lock);
    if (empty())
        pthread_cond_wait(&filled, &lock); // expect: condition-wait-without-loop
    int item = take();
    pthread_mutex_unlock(&lock);
    return item;
}

int looping() {
    pthread_mutex_lock(&lock);
    while (empty())
        pthread_cond_wait(&filled, &lock); // ok
    int item = take();
    pthread_mutex_unlock(&lock);
    return item;
}

int modern() {
    std::unique_lock<std::mutex> hold(guard);
    ready.wait(hold); // expect: condition-wait-without-loop
    return take();
}

int predicate() {
    std::unique_lock<std::mutex> hold(guard);
    ready.wait(hold, [] { return !empty(); }); // ok
    return take();
}

struct process { int wait(int pid); };
int other(process *child) {
    take();
    return child->wait(1); // ok
}

void wait_for_signal() {
    std::unique_lock<std::mutex> hold(guard);
    ready.wait(hold); // ok
    hold.release();
}

typedef pthread_cond_t own_condition;
void own_wait(own_condition *condition, pthread_mutex_t *mutex) {
    if (pthread_cond_wait(condition, mutex)) // ok
        abort();
}
int wait_for_it(own_condition *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    if (until)
        return pthread_cond_timedwait(condition, mutex, until); // ok
    else
        return pthread_cond_wait(condition, mutex); // ok
}

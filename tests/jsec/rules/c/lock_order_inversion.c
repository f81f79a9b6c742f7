#include <pthread.h>

static pthread_mutex_t accounts, journal, names;
void work(void);

void book(void) {
    pthread_mutex_lock(&accounts);
    pthread_mutex_lock(&journal); // ok
    work();
    pthread_mutex_unlock(&journal);
    pthread_mutex_unlock(&accounts);
}

void replay(void) {
    pthread_mutex_lock(&journal);
    pthread_mutex_lock(&accounts); // expect: lock-order-inversion
    work();
    pthread_mutex_unlock(&accounts);
    pthread_mutex_unlock(&journal);
}

void one_by_one(void) {
    pthread_mutex_lock(&journal);
    pthread_mutex_unlock(&journal);
    pthread_mutex_lock(&names); // ok
    pthread_mutex_unlock(&names);
}

static pthread_mutex_t index_lock, cache_lock, queue_lock;

static void fill_cache(void) {
    pthread_mutex_lock(&cache_lock);
    work();
    pthread_mutex_unlock(&cache_lock);
}

static void refill(void) {
    work();
    fill_cache();
}

void update(void) {
    pthread_mutex_lock(&index_lock);
    refill(); // ok
    pthread_mutex_unlock(&index_lock);
}

static void look_up(void) {
    pthread_mutex_lock(&index_lock);
    pthread_mutex_unlock(&index_lock);
}

void serve(void) {
    pthread_mutex_lock(&cache_lock);
    look_up(); // expect: lock-order-inversion
    pthread_mutex_unlock(&cache_lock);
}

void serve_later(void) {
    pthread_mutex_lock(&queue_lock);
    pthread_mutex_unlock(&queue_lock);
    look_up(); // ok
}

void own_lock(void) {
    pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&index_lock);
    fill_cache(); // ok
    pthread_mutex_unlock(&index_lock);
}

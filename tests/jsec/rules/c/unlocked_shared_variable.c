#include <pthread.h>

static int count, total, guarded, result;
static _Atomic int safe;
static pthread_mutex_t lock;

static void *worker(void *unused) {
    int local = 0;
    local++; // ok
    count++; // expect: unlocked-shared-variable
    safe++; // ok
    pthread_mutex_lock(&lock);
    guarded++; // ok
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *single(void *unused) {
    total = total + 1; // expect: unlocked-shared-variable
    result = 5; // ok
    return unused;
}

static void *shadow(void *unused) {
    int count = 1;
    count++; // ok
    return unused;
}

int main(void) {
    pthread_t threads[4], one, two;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], 0, worker, 0) != 0)
            return 1;
    if (pthread_create(&one, 0, single, 0) != 0 || pthread_create(&two, 0, shadow, 0) != 0)
        return 1;
    int seen = total;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return seen + result;
}

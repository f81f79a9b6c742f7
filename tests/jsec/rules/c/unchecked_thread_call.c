#include <pthread.h>

void *run(void *unused);
void work(void);

int start(pthread_t *thread) {
    pthread_create(thread, NULL, run, NULL); // expect: unchecked-thread-call
    if (pthread_create(thread, NULL, run, NULL) != 0) // ok
        return -1;
    (void) pthread_create(thread, NULL, run, NULL); // ok
    return 0;
}

void tried(pthread_mutex_t *lock) {
    pthread_mutex_trylock(lock); // expect: unchecked-thread-call
    work();
    pthread_mutex_unlock(lock); // ok
}

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

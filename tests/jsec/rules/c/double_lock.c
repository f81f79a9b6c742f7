#include <pthread.h>

static pthread_mutex_t lock, other;
void work(void);

void twice(void) {
    pthread_mutex_lock(&lock);
    work();
    pthread_mutex_lock(&lock); // expect: double-lock
    pthread_mutex_unlock(&lock);
}

void again(void) {
    pthread_mutex_lock(&lock);
    work();
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock); // ok
    pthread_mutex_unlock(&lock);
}

void two(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&other); // ok
    pthread_mutex_unlock(&other);
    pthread_mutex_unlock(&lock);
}

void branches(int first) {
    if (first) {
        pthread_mutex_lock(&lock);
    } else {
        pthread_mutex_lock(&lock); // ok
    }
    pthread_mutex_unlock(&lock);
}

struct node { pthread_mutex_t lock; struct node *next; };

void hand_over_hand(struct node *p) {
    pthread_mutex_lock(&p->lock);
    struct node *next = p->next;
    pthread_mutex_unlock(&p->lock);
    p = next;
    pthread_mutex_lock(&p->lock); // ok
    pthread_mutex_unlock(&p->lock);
}

void loop(int n) {
    while (n-- > 0) {
        pthread_mutex_lock(&lock); // missed: double-lock (held on one of two ways here only)
        if (n == 3)
            continue;
        pthread_mutex_unlock(&lock);
    }
}

void tried(void) {
    if (pthread_mutex_trylock(&lock) != 0)
        pthread_mutex_lock(&lock); // ok
    pthread_mutex_unlock(&lock);
}

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int work(void);
int full(void);

int early(void) {
    pthread_mutex_lock(&lock);
    if (full())
        return -1; // expect: missing-unlock
    work();
    pthread_mutex_unlock(&lock);
    return 0; // ok
}

int every_way(void) {
    pthread_mutex_lock(&lock);
    if (full()) {
        pthread_mutex_unlock(&lock);
        return -1; // ok
    }
    work();
    pthread_mutex_unlock(&lock);
    return 0;
}

int cleanup(void) {
    int result = -1;
    pthread_mutex_lock(&lock);
    if (full())
        goto out;
    result = work();
out:
    pthread_mutex_unlock(&lock);
    return result; // ok
}

int checked(void) {
    int error = pthread_mutex_lock(&lock);
    if (error != 0)
        return error; // ok
    error = work();
    if (error != 0)
        return error; // expect: missing-unlock
    pthread_mutex_unlock(&lock);
    return 0;
}

int in_condition(void) {
    if (pthread_mutex_lock(&lock) != 0)
        return -1; // ok
    pthread_mutex_unlock(&lock);
    return 0;
}

int tried(void) {
    if (pthread_mutex_trylock(&lock) == 0) {
        if (full())
            return 1; // expect: missing-unlock
        pthread_mutex_unlock(&lock);
    }
    return 0; // ok
}

void lock_all(void) {
    pthread_mutex_lock(&lock);
} // ok

int conditional(int threads) {
    if (threads)
        pthread_mutex_lock(&lock);
    work();
    if (threads)
        pthread_mutex_unlock(&lock);
    return 0; // ok
}

int in_switch(int kind) {
    pthread_mutex_lock(&lock);
    switch (kind) {
    case 1:
        pthread_mutex_unlock(&lock);
        return 1; // ok
    case 2:
        return 2; // expect: missing-unlock
    default:
        break;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

void update(void) {
    pthread_mutex_lock(&lock);
    work();
} // expect: missing-unlock

struct guarded { mtx_t lock; int value; };
int c11(struct guarded *g) {
    if (mtx_lock(&g->lock) != thrd_success)
        return -1; // ok
    g->value++;
    if (mtx_unlock(&g->lock) != thrd_success)
        return -1; // ok
    return 0;
}

int in_macro_loop(struct queue *q, int wanted) {
    struct entry *one;
    pthread_mutex_lock(&lock);
    LIST_FOREACH(one, q->entries) {
        if (one->id == wanted) {
            q->found++;
            break; // ok
        }
    }
    pthread_mutex_unlock(&lock);
    return q->found;
}

int past_the_release(int busy) {
    pthread_mutex_lock(&m);
    if (busy)
        goto end;
    count();
    pthread_mutex_unlock(&m);
end:
    return busy; // expect: missing-unlock
}

int to_the_release(int busy) {
    pthread_mutex_lock(&m);
    if (busy)
        goto out;
    count();
out:
    pthread_mutex_unlock(&m);
    return busy; // ok
}

void out_of_the_loop(struct table *t, int wanted) {
    for (int i = 0; i < wanted; i++) {
        pthread_mutex_lock(&t->lock);
        if (t->used == i)
            break;
        pthread_mutex_unlock(&t->lock);
    }
} // expect: missing-unlock

void released_in_the_loop(struct table *t, int wanted) {
    for (int i = 0; i < wanted; i++) {
        pthread_mutex_lock(&t->lock);
        if (t->used == i) {
            pthread_mutex_unlock(&t->lock);
            break;
        }
        pthread_mutex_unlock(&t->lock);
    }
} // ok

void when_it_was_taken(void) {
    int locked = !pthread_mutex_lock(&m);
    count();
    if (locked)
        pthread_mutex_unlock(&m);
} // ok

static int (*give_back)(pthread_mutex_t *) = pthread_mutex_unlock;
void by_pointer(void) {
    pthread_mutex_lock(&m);
    count();
    give_back(&m);
} // ok

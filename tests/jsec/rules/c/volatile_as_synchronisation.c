#include <pthread.h>
#include <stdatomic.h>

static volatile int done;
static atomic_int stopped;
static volatile int only_here;
void work(void);

static void *worker(void *unused) {
    while (!done) // expect: volatile-as-synchronisation
        work();
    only_here = 1; // ok
    return unused;
}

static void *careful(void *unused) {
    while (!stopped) // ok
        work();
    return unused;
}

int main(void) {
    pthread_t one, two;
    if (pthread_create(&one, 0, worker, 0) != 0 || pthread_create(&two, 0, careful, 0) != 0)
        return 1;
    done = 1;
    stopped = 1;
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}

#include <pthread.h>
#include <stdlib.h>
#include <windows.h>

typedef void *gate_t;
int gateMake(gate_t *out);
void gateAcquire(gate_t gate);
void gateRelease(gate_t gate);
void gateEnd(gate_t gate);
void look(gate_t gate);

static int total;

int forgotten(void) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    if (pthread_mutex_lock(&own) != 0) // expect: lock-lost-while-held
        return -1;
    total++;
    return total;
}

int given_back(void) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    if (pthread_mutex_lock(&own) != 0) // ok
        return -1;
    total++;
    pthread_mutex_unlock(&own);
    return total;
}

int some_ways(int stop) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&own); // expect: lock-lost-while-held
    if (stop)
        return 0;
    pthread_mutex_unlock(&own);
    return 1;
}

static int make(pthread_mutex_t **out) {
    pthread_mutex_t *made = malloc(sizeof *made);
    if (made == NULL)
        return 0;
    pthread_mutex_init(made, NULL);
    *out = made;
    return 1;
}

static void hold(pthread_mutex_t *lock) {
    pthread_mutex_lock(lock); // ok
}

int through_calls(void) {
    pthread_mutex_t *own = NULL;
    if (!make(&own))
        return 0;
    hold(own);
    total++;
    return total; // expect: lock-lost-while-held
}

int by_name(void) {
    gate_t own = NULL;
    if (!gateMake(&own))
        return 0;
    gateAcquire(own); // expect: lock-lost-while-held
    total++;
    return total;
}

int by_name_whole(void) {
    gate_t own = NULL;
    if (!gateMake(&own))
        return 0;
    gateAcquire(own); // ok
    total++;
    gateRelease(own);
    gateEnd(own);
    return total;
}

int of_the_caller(pthread_mutex_t *lock) {
    pthread_mutex_lock(lock); // ok
    return total;
}

int handed_on(pthread_mutex_t **out) {
    pthread_mutex_t *own = NULL;
    if (!make(&own))
        return 0;
    pthread_mutex_lock(own); // ok
    *out = own;
    return 1;
}

int section(void) {
    CRITICAL_SECTION own;
    InitializeCriticalSection(&own);
    EnterCriticalSection(&own); // expect: lock-lost-while-held
    return total;
}

int handle(void) {
    HANDLE own = CreateMutexA(NULL, FALSE, NULL);
    if (own == NULL)
        return 0;
    if (WaitForSingleObject(own, INFINITE) != WAIT_OBJECT_0) // expect: lock-lost-while-held
        exit(1);
    total++;
    CloseHandle(own);
    return total;
}

int handle_whole(void) {
    HANDLE own = CreateMutexA(NULL, FALSE, NULL);
    if (own == NULL)
        return 0;
    if (WaitForSingleObject(own, INFINITE) != WAIT_OBJECT_0) // ok
        exit(1);
    total++;
    ReleaseMutex(own);
    CloseHandle(own);
    return total;
}

static void give_back(pthread_mutex_t *lock) {
    pthread_mutex_unlock(lock);
}

static void end(pthread_mutex_t *lock) {
    pthread_mutex_destroy(lock);
    free(lock);
}

int ended(void) {
    static pthread_mutex_t *kept;
    if (!make(&kept))
        return 0;
    hold(kept); // expect: lock-lost-while-held
    total++;
    end(kept);
    return total;
}

int ended_in_order(void) {
    static pthread_mutex_t *kept;
    if (!make(&kept))
        return 0;
    hold(kept); // ok
    total++;
    give_back(kept);
    end(kept);
    return total;
}

#include <signal.h>
#include <stdlib.h>

typedef struct {
    sig_atomic_t count;
} State;

static State *shared;
static State *unseen;

static void on_interrupt(int number) {
    if (shared != NULL)
        shared->count = number;
}

void freed_too_late(void) {
    signal(SIGINT, on_interrupt);
    free(unseen); // ok
    free(shared); // expect: object-freed-behind-signal-handler
    shared = NULL;
}

void replaced(void) {
    signal(SIGINT, on_interrupt);
    shared = malloc(sizeof(*shared)); // expect: object-freed-behind-signal-handler
    if (shared != NULL)
        shared->count = 0;
}

void installed_after(void) {
    free(shared); // ok
    shared = malloc(sizeof(*shared)); // ok
    if (shared != NULL)
        shared->count = 0;
    signal(SIGINT, on_interrupt);
}

void reset_before(void) {
    signal(SIGINT, on_interrupt);
    signal(SIGINT, SIG_DFL);
    free(shared); // ok
    shared = NULL;
}

void blocked_before(void) {
    sigset_t all;
    sigfillset(&all);
    signal(SIGINT, on_interrupt);
    sigprocmask(SIG_BLOCK, &all, NULL);
    free(shared); // ok
    shared = NULL;
    sigprocmask(SIG_UNBLOCK, &all, NULL);
}

void taken_out_first(void) {
    State *old;
    signal(SIGINT, on_interrupt);
    old = shared;
    shared = NULL;
    free(old); // ok
}

void either(int wanted) {
    if (wanted) {
        signal(SIGINT, on_interrupt);
    } else {
        free(shared); // ok
        shared = NULL;
    }
}

void local_of_the_name(void) {
    State *shared = malloc(sizeof(*shared)); // ok
    signal(SIGINT, on_interrupt);
    free(shared); // ok
}

#include <signal.h>

static int interrupted;
static volatile sig_atomic_t stopped;
static int only_here;

static void on_interrupt(int number) {
    interrupted = number; // expect: plain-variable-in-signal-handler
    stopped = 1; // ok
    only_here = 1; // ok
}

int main(void) {
    signal(SIGINT, on_interrupt);
    while (!interrupted && !stopped)
        ;
    return 0;
}

struct state {
    volatile sig_atomic_t ending;
    int last;
};
static struct state all, other;

static void on_end(int number) {
    all.ending = 1; // ok
    other.ending = 1; // ok
    other.last = number; // expect: plain-variable-in-signal-handler
}

int wait_for_end(void) {
    signal(SIGTERM, on_end);
    while (!all.ending)
        ;
    return other.last;
}

static char phase[32] = "idle";

static void on_hint(int number) {
    (void)number;
    char own[32];
    strcpy(own, "local"); // ok
    strcpy(phase, "stopping"); // expect: plain-variable-in-signal-handler
}

void run_phases(void) {
    signal(SIGUSR1, on_hint);
    puts(phase);
}

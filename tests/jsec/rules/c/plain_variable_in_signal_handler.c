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

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void report(const char *text) {
    fprintf(stderr, "%s\n", text); // ok
}

static void on_interrupt(int number) {
    printf("signal %d\n", number); // expect: unsafe-call-in-signal-handler
    report("interrupted"); // ok
    exit(1); // ok
}

static void on_quit(int number) {
    interrupted = number;
    write(2, "quit\n", 5); // ok
    _exit(1); // ok
}

static void on_child(int number) {
    free((void *) 0); // expect: unsafe-call-in-signal-handler
}

static void on_alarm(int number) {
    report("alarm"); // ok
    exit(1); // expect: unsafe-call-in-signal-handler
}

static void on_hangup(int number) {
    report("hangup"); // expect: unsafe-call-in-signal-handler
}

static void ordinary(int number) {
    printf("%d\n", number); // ok
}

int main(void) {
    struct sigaction action = {0};
    signal(SIGINT, on_interrupt);
    signal(SIGQUIT, on_quit);
    signal(SIGALRM, on_alarm);
    signal(SIGHUP, on_hangup);
    action.sa_handler = on_child;
    sigaction(SIGCHLD, &action, 0);
    ordinary(interrupted);
    return 0;
}

static void connection_lost(int number) {
    if (number)
        _exit(1);
    else
        exit(1); // ok
}
static void child_killed(int number) {
    if (number)
        _exit(1);
    exit(1); // ok
}
static void child_freed(int number) {
    if (number)
        interrupted = 1;
    exit(1); // expect: unsafe-call-in-signal-handler
}
void watch(void) {
    signal(SIGPIPE, connection_lost);
    signal(SIGTERM, child_killed);
    signal(SIGUSR1, child_freed);
}

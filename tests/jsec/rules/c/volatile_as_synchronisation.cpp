#include <atomic>
#include <csignal>
#include <cstdio>

volatile int ready;
static int data;

int wait_for_it() {
    while (!ready) { // expect: volatile-as-synchronisation
    }
    return data;
}

void provide(int value) {
    data = value;
    ready = 1;
}

std::atomic<int> prepared;

int wait_for_the_other() {
    while (!prepared) { // ok
    }
    return data;
}

volatile int stopped;

void on_signal(int) { stopped = 1; }

void until_stopped() {
    std::signal(SIGINT, on_signal);
    while (!stopped) { // ok
    }
}

volatile int state;

void work() {
    while (!state) { // ok
        std::puts("working");
    }
}

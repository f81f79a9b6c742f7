typedef struct job *job_handle;
typedef struct gate *gate_handle;
int launch(void (*work)(void *), void *given, job_handle *job);
int finish(job_handle job);
void close_gate(gate_handle gate);
void open_gate(gate_handle gate);

static gate_handle first, second, third;
static int counted, summed, listed;

static void careful(void *unused) {
    close_gate(first); // ok
    counted = counted + 1;
    open_gate(first);
}

static void forgets(void *unused) {
    close_gate(second); // expect: thread-keeps-lock
    summed = summed + 1;
}

static void leaves_early(void *unused) {
    close_gate(third);
    if (listed > 100) {
        return; // expect: thread-keeps-lock
    }
    listed = listed + 1;
    open_gate(third);
}

static void leaves_with_care(void *unused) {
    close_gate(third);
    if (listed > 100) {
        open_gate(third);
        return; // ok
    }
    listed = listed + 1;
    open_gate(third);
}

static void run(void) {
    job_handle one, two;
    launch(careful, 0, &one);
    launch(careful, 0, &two);
    finish(one);
    finish(two);
    launch(forgets, 0, &one);
    launch(forgets, 0, &two);
    finish(one);
    finish(two);
    launch(leaves_early, 0, &one);
    launch(leaves_early, 0, &two);
    finish(one);
    finish(two);
    launch(leaves_with_care, 0, &one);
    launch(leaves_with_care, 0, &two);
    finish(one);
    finish(two);
}

int main(void) {
    run();
    close_gate(second); // ok
    return counted + summed + listed;
}

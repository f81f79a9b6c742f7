#include <sys/stat.h>

void open_to_all(void) {
    umask(0); // expect: permissive-umask
    umask(000); // expect: permissive-umask
}

void careful(void) {
    umask(077); // ok
    umask(022); // ok
    umask(S_IRWXG | S_IRWXO); // ok
}

void confused(void) {
    umask(0644); // expect: permissive-umask
}

mode_t probe(void) {
    mode_t old = umask(0); // ok
    umask(old);
    return old;
}

void ask_for_mask(struct job *job) {
    umask(job->mask = umask(0)); // ok
}

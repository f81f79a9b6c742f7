#include <stdlib.h>
#include <unistd.h>

void work(void);

void drop(void) {
    setgid(getgid()); // expect: unchecked-privilege-change
    setuid(getuid()); // expect: unchecked-privilege-change
    work();
}

void drop_checked(void) {
    if (setuid(getuid()) != 0) // ok
        abort();
    work();
}

void drop_and_ask(uid_t user) {
    setuid(user); // ok
    if (geteuid() != user)
        abort();
    work();
}

int passed_on(uid_t user) {
    return seteuid(user); // ok
}

void in_branch(int daemon) {
    if (daemon)
        setuid(65534); // expect: unchecked-privilege-change
    work();
}

void kept(void) {
    setuid(geteuid()); // ok
    setuid(0);         // ok
}

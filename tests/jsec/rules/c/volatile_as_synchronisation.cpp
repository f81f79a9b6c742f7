struct Poller {
    volatile bool stop = false;
    volatile bool unset = false;
    bool plain = false;

    void cancel() {
        stop = true;
        plain = true;
    }

    void wait() {
        while (!stop) { // expect: volatile-as-synchronisation
        }
    }

    void wait_for_plain() {
        while (!plain) { // ok
        }
    }

    void wait_for_unset() {
        while (!unset) { // ok
        }
    }
};

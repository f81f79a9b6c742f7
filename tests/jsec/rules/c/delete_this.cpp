struct Session {
    int count;
    void close() {
        delete this; // expect: delete-this
    }
    void finish() {
        delete this; // expect: delete-this
        count = 0;
    }
    void release() {
        if (--count == 0)
            delete this; // ok
    }
    void drop(Session *other) {
        delete other; // ok
    }
};

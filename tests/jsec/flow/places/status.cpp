
#include <stdlib.h>
struct Status {
    Status() : state_(0) {}
    explicit Status(int code) : state_(code) {}
    static Status OK() { return Status(); }
    static Status Bad(int code) { return Status(code); }
    bool ok() const { return state_ == 0; }
    int state_;
};

Status make(int **out) {
    *out = (int *)malloc(4);
    if (*out == NULL) return Status::Bad(1);
    return Status::OK();
}

int tested() {
    int *block;
    Status status = make(&block);
    if (!status.ok()) return 1;
    *block = 1;
    free(block);
    return 0;
}

int kept() { // expect: leak
    int *block;
    Status status = make(&block);
    if (!status.ok()) return 1;
    *block = 1;
    return 0;
}

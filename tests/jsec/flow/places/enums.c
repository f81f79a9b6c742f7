
typedef enum { UNSET = -1, GET, HEAD, PUT } method;
typedef enum { RED, GREEN, BLUE } color;
static const int names[5];

const int *name_of(method m) {
    return (unsigned)m < sizeof(names) / sizeof(*names) - 1 ? names + m : names + m + 5;
}

int first(method m) {
    return *name_of(m);
}

const int *color_of(color c) {
    return (unsigned)c < sizeof(names) / sizeof(*names) - 1 ? names + c : names + c + 5;
}

int second(color c) {
    return *color_of(c); // expect: buffer-read-over
}

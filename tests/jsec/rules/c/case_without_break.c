void close_file(int file);
void remove_file(int file);
void fatal(const char *text);

int act(int what, int file) {
    switch (what) {
    case 0:
        close_file(file); // expect: case-without-break
    case 1:
        remove_file(file); // ok
        break;
    case 2:
    case 3:
        close_file(file); // ok
        /* fall through */
    case 4:
        fatal("four"); // ok
    case 5:
        return 1; // ok
    case 6: {
        close_file(file); // ok
        break;
    }
    case 7:
        if (file)
            close_file(file); // ok
        __attribute__((fallthrough));
    default:
        remove_file(file);
    }
    return 0;
}

int unpack(int count, const char *bytes) {
    int sum = 0;
    switch (count) {
    case 3:
        sum += bytes[2]; // ok
    case 2:
        sum += bytes[1]; // ok
    case 1:
        sum += bytes[0];
    }
    return sum;
}

int said_inside(int what, int file) {
    switch (what) {
    case 0: {
        close_file(file); // ok
        /* fall through */
    }
    default:
        remove_file(file);
    }
    return 0;
}

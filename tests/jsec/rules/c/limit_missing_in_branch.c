enum { MOST = 64 };

int next(const unsigned char **p);

int decode(const unsigned char *p, const unsigned char *end, int *values) {
    int index = 0, length;
    while (p < end) {
        if (*p < 16) {
            length = next(&p);
            index += length; // expect: limit-missing-in-branch
        } else {
            length = next(&p);
            if (index + length > MOST)
                break;
            index += length; // ok
        }
    }
    return values[index];
}

int decode_checked(const unsigned char *p, const unsigned char *end) {
    int index = 0, length;
    while (p < end) {
        length = next(&p);
        if (index + length > MOST)
            break;
        if (*p < 16) {
            index += length; // ok
        } else {
            index += length; // ok
        }
    }
    return index;
}

int decode_cases(const unsigned char *p, const unsigned char *end) {
    int index = 0, length;
    while (p < end) {
        switch (*p) {
        case 1:
            length = next(&p);
            if (length + index > MOST)
                return -1;
            index += length; // ok
            break;
        default:
            length = next(&p);
            index += length; // expect: limit-missing-in-branch
            break;
        }
    }
    return index;
}

int count(const unsigned char *p, const unsigned char *end) {
    int index = 0, length = 1;
    while (p < end) {
        if (*p++)
            index += length; // ok
        else
            index += 2; // ok
    }
    return index;
}

static const char *texts[] = {"fine", "full", "gone"};

const char *times(int err) {
    if (err > 0) err = 0;
    return texts[err * -1]; // expect: negated-index-without-limit
}

const char *minus(int err) {
    if (err > 0) return "";
    return texts[-err]; // expect: negated-index-without-limit
}

const char *limited(int err) {
    if (err > 0 || err < -2) err = 0;
    return texts[-err]; // ok
}

const char *inside(int err) {
    if (err <= 0 && err >= -2)
        return texts[err * -1]; // ok
    return "";
}

int pointer(const int *end, int back) {
    return end[-back]; // ok
}

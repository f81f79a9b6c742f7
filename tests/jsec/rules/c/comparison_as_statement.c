int assign(int failed, int *out) {
    int result;
    result == -1; // expect: comparison-as-statement
    *out == 3; // expect: comparison-as-statement
    result = failed == 1; // ok
    if (result == 2) // ok
        return 1;
    for (result == 0; result < 3; result++) // expect: comparison-as-statement
        ;
    return result == 3; // ok
}

static int same_time(const struct stat *a, const struct stat *b) {
    return
#ifdef st_mtime
#if defined(__APPLE__)
        a->st_mtimespec.tv_nsec == b->st_mtimespec.tv_nsec // ok
#else
        a->st_mtim.tv_nsec == b->st_mtim.tv_nsec // ok
#endif
#else
        1
#endif
        && a->st_mtime == b->st_mtime; // ok
}

int check(int a);
void work(int a);

int verify(int a, int b) {
    if (check(a) != 0)
        goto fail;
        goto fail; // expect: misleading-indentation
    if (check(b) != 0)
        goto fail;
    work(a); // ok
    if (check(b))
        work(a);

        work(b); // ok
    for (int i = 0; i < a; i++)
        work(i);
        work(b); // expect: misleading-indentation
    if (a == b); // expect: misleading-indentation
    {
        work(a);
    }
    if (a) work(a);
    work(b); // ok
    return 0;
fail:
    return -1;
}

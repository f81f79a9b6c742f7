int conditions(int a, int *p) {
    if (a = 5) // expect: assignment-in-condition
        return 1;
    if (int b = a) // ok
        return b;
    if ((p = &a)) // ok
        return 2;
    return a == 5; // ok
}

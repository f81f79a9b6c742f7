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

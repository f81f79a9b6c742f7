
int first(int number) { return number; }
int first(const char *text) { return text[0]; } // expect: null-dereference
int both() {
    const char *text = 0;
    return first(3) + first(text);
}

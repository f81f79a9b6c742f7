
struct address;
void show(unsigned n);

void seen(void) {
    unsigned words[16 / sizeof(short)];
    memset(words, 0, sizeof(words));
    for (int i = 0; i <= 8; i++)
        show(words[i]); // expect: buffer-read-over
}

void unseen(void) {
    unsigned words[sizeof(struct address) / sizeof(short)];
    memset(words, 0, sizeof(words));
    for (int i = 0; i < (int) COUNT_OF(words); i++)
        show(words[i]);
}

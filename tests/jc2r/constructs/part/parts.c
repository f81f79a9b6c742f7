/* A file that another one includes, with a function that stays in C. */
static const int steps[] = {1, 2, 3};
int stepped(long n) { long r; __asm__("lea (%1,%1), %0 #%=" : "=r"(r) : "r"(n)); return (int)(r * sizeof steps / sizeof *steps); }
int doubled(int n) { return n * 2 + steps[0]; }

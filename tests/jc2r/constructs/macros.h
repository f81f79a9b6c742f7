#define MODE_READ 1
#define MODE_MASK (MODE_READ | 6u)
#define NIL 0
#define PI 3.14159265358979
#define TWICE(x) ((x) * 2)
int later(int n);
/* Three times a number. */
#define TRIPLE(x) ((x) * 3)

#define MODE_READ 1
#define MODE_MASK (MODE_READ | 6u)
#define NIL 0
#ifdef __NOWHERE__
#define MARK '$'
#define END '\n'
#define SPREADING(x) ((x) * 3)
#else
#define MARK '%'
#define END '\t'
#define SPREADING(x) ((x) * 5)
#endif
#define PI 3.14159265358979
#define TWICE(x) ((x) * 2)
int later(int n);
/* Three times a number. */
#define TRIPLE(x) ((x) * 3)

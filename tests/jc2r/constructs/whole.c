#include <stdio.h>
#include "part/parts.c"
int main(void) { printf("%d %d\n", stepped(21), doubled(4)); return steps[2]; }

#include <stdio.h>
#define LOCAL static
#define HIDDEN LOCAL

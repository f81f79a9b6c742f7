#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdlib.h>

/* The shell of the platform; the port to the old terminal had another one. */
#define RUN_SHELL(command) system(command)

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#if 0
/* The terminal had no snprintf. */
#define FORMAT(buffer, ...) sprintf(buffer, __VA_ARGS__)
#endif

#endif

#include <stddef.h>

#define LIB_EXPORT
#define LIB_API(name) name
struct file { int error; const char *message; };

const char *LIB_API(last_error)(struct file *f, int *number)
{
    int error = f->error;
    if (error > 0)
        error = 0;
    *number = error; // expect: unchecked-out-parameter
    return f->message;
}

LIB_EXPORT void count(struct file *f, size_t *total)
{
    *total = f->error; // expect: unchecked-out-parameter
}

const char *LIB_API(tested)(struct file *f, int *number)
{
    if (number != NULL)
        *number = f->error; // ok
    return f->message;
}

LIB_EXPORT int leaves(struct file *f, int *number)
{
    if (!number)
        return -1;
    *number = f->error; // ok
    return 0;
}

LIB_EXPORT int sometimes(struct file *f, int *number)
{
    if (f->error)
        *number = f->error; // ok
    return 0;
}

static void inside(struct file *f, int *number)
{
    *number = f->error; // ok
}

void not_marked(struct file *f, int *number)
{
    inside(f, number);
    *number = 0; // ok
}

/* Linked into every library under test in front of the system's allocator: notes what is allocated,
   fills it with one pattern, keeps freed memory apart so that no address comes twice, and refuses
   what is too large. What ends a run in a way of its own is left to the executor. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

void *__real_malloc(size_t);
void __real_free(void *);

#define MOST 65536
#define LARGEST (256u << 20)

struct allocation {
    unsigned char *start;
    size_t size;
    int freed;
};

struct allocation harness_allocations[MOST];
int harness_count;
static size_t total;

static struct allocation *find(void *start)
{
    for (int i = harness_count - 1; i >= 0; i--)
        if (harness_allocations[i].start == start)
            return &harness_allocations[i];
    return NULL;
}

void *__wrap_malloc(size_t size)
{
    unsigned char *start;
    if (harness_count == MOST || size > LARGEST || total + size > LARGEST ||
        (start = __real_malloc(size)) == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    total += size;
    memset(start, 0xA5, size);
    harness_allocations[harness_count].start = start;
    harness_allocations[harness_count].size = size;
    harness_allocations[harness_count++].freed = 0;
    return start;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *start;
    if (size != 0 && count > LARGEST / size) {
        errno = ENOMEM;
        return NULL;
    }
    start = __wrap_malloc(count * size);
    if (start != NULL)
        memset(start, 0, count * size);
    return start;
}

void __wrap_free(void *start)
{
    struct allocation *one = start == NULL ? NULL : find(start);
    if (one == NULL || one->freed) {
        __real_free(start); /* not ours, or freed twice: the system says what becomes of it */
        return;
    }
    one->freed = 1;
    total -= one->size;
#ifdef HARNESS_SANITIZED
    __real_free(start);
#endif
}

void *__wrap_realloc(void *start, size_t size)
{
    struct allocation *one = start == NULL ? NULL : find(start);
    void *other = __wrap_malloc(size);
    if (other != NULL && one != NULL) {
        memcpy(other, start, one->size < size ? one->size : size);
        __wrap_free(start);
    }
    return other;
}

char *__wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *other = __wrap_malloc(size);
    return other == NULL ? NULL : memcpy(other, text, size);
}

char *__wrap_strndup(const char *text, size_t most)
{
    size_t size = strnlen(text, most);
    char *other = __wrap_malloc(size + 1);
    if (other == NULL)
        return NULL;
    other[size] = 0;
    return memcpy(other, text, size);
}

long __wrap_time(long *at)
{
    if (at != NULL)
        *at = 1000000000;
    return 1000000000;
}

void *harness_allocate(size_t size)
{
    return __wrap_malloc(size);
}

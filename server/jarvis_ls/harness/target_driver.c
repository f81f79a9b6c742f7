/* Behind a unit and before the function `harness_case` that calls a function of it: what makes
   arguments out of bytes. The first bytes of an input choose, each at a fixed place (so that an
   input of zeros is the plainest case, and a zero makes one choice plain again); those behind them
   are contents. Blocks have exactly the size they are said to have. */
#undef main
#undef static
#undef inline
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef memcpy
#undef memset
#undef strlen
#undef exit
#undef _exit
#undef fork
#undef read
#undef write
#undef fprintf
#undef printf
#undef random
#undef rand
#ifdef __cplusplus
#include <new>
#include <string>
extern "C" {
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __cplusplus
}
#endif

#if defined(__clang__)
#define HARNESS_BARE __attribute__((no_sanitize("address", "undefined", "integer", "coverage"), unused))
#elif __GNUC__ >= 12
#define HARNESS_BARE                                                                               \
    __attribute__((no_sanitize_address, no_sanitize_undefined, no_sanitize_coverage, unused))
#else
#define HARNESS_BARE __attribute__((no_sanitize_address, no_sanitize_undefined, unused))
#endif
#define HARNESS_MOST 4096
#define HARNESS_ROOTS 512

#ifdef __cplusplus
extern "C" {
#endif
/* Of what stands in for the library, where that is linked: see `interposers.c` of jsec. */
void jsec_hold(int held) __attribute__((weak));
void jsec_fail(long number) __attribute__((weak));
long jsec_counted(void) __attribute__((weak));
void jsec_tell_leaks(void) __attribute__((weak));
void jsec_tell_lost(void) __attribute__((weak));
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
int __asan_address_is_poisoned(void const volatile *) __attribute__((weak));
/* Leaks are looked for behind the call, not where the program ends. */
const char *__asan_default_options(void);
const char *__lsan_default_options(void);
HARNESS_BARE const char *__asan_default_options(void)
{
    return "leak_check_at_exit=0";
}
HARNESS_BARE const char *__lsan_default_options(void)
{
    return "use_unaligned=1:print_suppressions=0";
}
#ifdef __cplusplus
}
#endif

/* The arguments of the call and what came of it: nothing that these lead to is a leak. */
void *harness_roots[HARNESS_ROOTS];
unsigned char harness_result[4096] __attribute__((aligned(16)));
static unsigned harness_rooted;

HARNESS_BARE static void harness_root(const void *made)
{
    harness_roots[harness_rooted++ % HARNESS_ROOTS] = (void *)made;
}

/* Called right before the function, and right behind it. */
HARNESS_BARE static void harness_enter(void)
{
    if (jsec_hold != NULL)
        jsec_hold(0);
}

HARNESS_BARE static void harness_leave(void)
{
    if (jsec_hold != NULL)
        jsec_hold(1);
}

static const unsigned char *harness_in;
static unsigned harness_size, harness_next;
static int harness_aloud;

HARNESS_BARE static unsigned harness_byte(unsigned at)
{
    return at < harness_size ? harness_in[at] : 0;
}

/* The next byte of what is behind the choices; it begins again at the end. */
HARNESS_BARE static unsigned char harness_content(unsigned first)
{
    if (harness_size <= first)
        return 0;
    if (harness_next < first || harness_next >= harness_size)
        harness_next = first;
    return harness_in[harness_next++];
}

HARNESS_BARE static void harness_say(const char *name, const char *what, long long value)
{
    if (!harness_aloud)
        return;
    fprintf(stderr, "HARNESS: %s = ", name);
    fprintf(stderr, what, value);
    fputc('\n', stderr);
}

/* Says how many elements there are behind a pointer, and the first bytes of them. */
HARNESS_BARE static void harness_say_array(const char *name, const void *place, size_t count,
                                           size_t element)
{
    const unsigned char *bytes = (const unsigned char *)place;
    size_t size = count * element, zeros = 0, shown = size < 8 ? size : 8;
    if (!harness_aloud)
        return;
    while (place != NULL && zeros < size && bytes[zeros] == 0)
        zeros++;
    fprintf(stderr, "HARNESS: %s = ", name);
    if (place == NULL)
        fputs("NULL", stderr);
    else
        fprintf(stderr, "%zu elements%s", count, zeros == size ? " of zero" : ", the first bytes");
    for (size_t i = 0; place != NULL && zeros < size && i < shown; i++)
        fprintf(stderr, " %02x", bytes[i]);
    fputc('\n', stderr);
}

/* Says the beginning of a string, and how long it is. */
HARNESS_BARE static void harness_say_string(const char *name, const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text);
    if (!harness_aloud)
        return;
    fprintf(stderr, "HARNESS: %s = ", name);
    if (text == NULL)
        fputs("NULL", stderr);
    else
        fputc('"', stderr);
    for (size_t i = 0; i < length && i < 24; i++)
        fputc(text[i] >= ' ' && text[i] < 127 ? text[i] : '?', stderr);
    if (text != NULL)
        fprintf(stderr, length > 24 ? "…\" (%zu bytes)" : "\"", length);
    fputc('\n', stderr);
}

/* A number: one of `values`, or anything from `low` to `high`. 9 bytes. */
HARNESS_BARE static long long harness_integer(unsigned at, const long long *values, unsigned count,
                                              long long low, long long high)
{
    unsigned manner = harness_byte(at);
    uint64_t raw = 0, span = (uint64_t)high - (uint64_t)low + 1;
    if (manner < count)
        return values[manner];
    for (unsigned i = 1; i <= 8; i++)
        raw = raw << 8 | harness_byte(at + i);
    return (long long)((uint64_t)low + (span ? raw % span : raw));
}

HARNESS_BARE static double harness_fraction(unsigned at, const double *values, unsigned count)
{
    unsigned manner = harness_byte(at);
    unsigned char raw[8];
    double value;
    if (manner < count)
        return values[manner];
    for (unsigned i = 0; i < 8; i++)
        raw[i] = (unsigned char)harness_byte(at + 1 + i);
    memcpy(&value, raw, sizeof value);
    return value;
}

/* How much of `capacity` there is said to be. 9 bytes. */
HARNESS_BARE static long long harness_part(unsigned at, long long capacity)
{
    long long values[4];
    values[0] = capacity;
    values[1] = capacity > 0 ? capacity - 1 : 0;
    values[2] = 0;
    values[3] = capacity > 0 ? 1 : 0;
    return harness_integer(at, values, 4, 0, capacity);
}

/* Memory of `count` elements, which is one of `counts`; null when the first byte is 1. 3 bytes. */
HARNESS_BARE static void *harness_array(unsigned at, unsigned first, size_t element,
                                        const unsigned *counts, unsigned known, size_t *count)
{
    unsigned pattern = harness_byte(at + 2);
    unsigned char *made;
    size_t size;
    *count = 0;
    if (harness_byte(at) == 1)
        return NULL;
    *count = counts[harness_byte(at + 1) % known];
    size = *count * element;
    made = (unsigned char *)malloc(size);
    if (made == NULL)
        _exit(96);
    for (size_t i = 0; i < size; i++)
        made[i] = pattern == 0 ? 0 : pattern == 1 ? 255 : pattern == 2 ? (unsigned char)i : 
                                                            harness_content(first);
    return made;
}

/* Writes what is behind the choices to a file, or some lines where nothing is, and gives its name. */
HARNESS_BARE static const char *harness_file(unsigned first)
{
    static const char name[] = "harness-input", lines[] = "input 1\ninput 2\n";
    const void *data = harness_size > first ? (const void *)(harness_in + first) : (const void *)lines;
    size_t size = harness_size > first ? harness_size - first : sizeof lines - 1;
    FILE *file = fopen(name, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        _exit(96);
    return name;
}

/* A string with its end, in exactly that much memory; null when the first byte is 1. 3 bytes. */
HARNESS_BARE static char *harness_string(unsigned at, unsigned first, const unsigned *lengths,
                                         unsigned known, const char *const *words, unsigned told,
                                         size_t *size)
{
    static const char *const patterns[] = {"a", "%s%n", "9", "-1 ", "../"};
    unsigned pattern = harness_byte(at + 2), plain = sizeof patterns / sizeof *patterns;
    size_t length = lengths[harness_byte(at + 1) % known];
    const char *from = pattern < plain ? patterns[pattern] : NULL;
    char *made;
    *size = 0;
    if (harness_byte(at) == 1)
        return NULL;
    if (pattern == 254)
        from = harness_file(first);
    else if (pattern >= plain && pattern < plain + told)
        from = words[pattern - plain];
    if (pattern >= plain && from != NULL)
        length = strlen(from);
    made = (char *)malloc(length + 1);
    if (made == NULL)
        _exit(96);
    for (size_t i = 0, n = from ? strlen(from) : 0; i < length; i++) {
        made[i] = n ? from[i % n] : (char)harness_content(first);
        if (made[i] == 0)
            made[i] = 'b';
    }
    made[length] = 0;
    *size = length + 1;
    return made;
}

/* A structure, all zero; null when the first byte is 1. 1 byte. */
HARNESS_BARE static void *harness_block(unsigned at, size_t size)
{
    void *made;
    if (harness_byte(at) == 1)
        return NULL;
    made = calloc(1, size ? size : 1);
    if (made == NULL)
        _exit(96);
    return made;
}

/* Tells whether a structure was released. */
HARNESS_BARE static int harness_is_gone(const void *made)
{
    return made != NULL && __asan_address_is_poisoned != NULL && __asan_address_is_poisoned(made);
}

HARNESS_BARE static void harness_put(void *block, size_t at, const void *value, size_t size)
{
    if (block != NULL)
        memcpy((char *)block + at, value, size);
}

/* A stream that holds `size` bytes. */
HARNESS_BARE static FILE *harness_stream(void *contents, size_t size)
{
    FILE *stream;
    if (contents == NULL)
        return NULL;
    stream = tmpfile();
    if (stream == NULL)
        _exit(96);
    if (size != 0 && fwrite(contents, 1, size, stream) != size)
        _exit(96);
    rewind(stream);
    return stream;
}

/* A stream that holds what is behind the choices. */
HARNESS_BARE static FILE *harness_stream_of_input(unsigned first)
{
    size_t size = harness_size > first ? harness_size - first : 0;
    return harness_stream((void *)(harness_in + (size ? first : 0)), size);
}

static volatile unsigned char harness_kept;

/* Uses what a function has returned, so that no compiler leaves out what it was made of. */
HARNESS_BARE static void harness_keep(const void *result, size_t size)
{
    for (size_t i = 0; i < size; i++)
        harness_kept ^= ((const unsigned char *)result)[i];
    for (size_t i = 0; i < size && i < sizeof harness_result; i++)
        harness_result[i] = ((const unsigned char *)result)[i];
}

/* Says what a function has returned, of a pointer whether it is one. */
HARNESS_BARE static void harness_answer(long long value)
{
    if (harness_aloud)
        printf("HARNESS-answer=%lld\n", value);
}

#ifdef __cplusplus
struct harness_any {
    void *place;
    template <class T> operator T *() const { return (T *)place; }
};
struct harness_number {
    long long value;
    template <class T> operator T() const { return (T)value; }
};
static inline std::string harness_text(const char *text)
{
    return text == NULL ? "" : text;
}
#define HARNESS_POINTER(place) harness_any{(void *)(place)}
#define HARNESS_NUMBER(value) harness_number{value}
#else
#define HARNESS_POINTER(place) (place)
#define HARNESS_NUMBER(value) (value)
#endif

static void harness_case(void);

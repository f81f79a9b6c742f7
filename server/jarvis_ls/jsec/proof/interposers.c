/* Stand-ins for library functions that make a run depend on its inputs and settings alone.
 *
 * Linked into the program under test with -Wl,--wrap=NAME for each NAME below. The settings are
 * environment variables:
 *
 *   JSEC_FAIL_ALLOC=N    the Nth allocation returns null (-1: all)
 *   JSEC_FAIL_CALL=NAME  the call NAME fails with EIO or ENOSPC; '*' is any that may fail ...
 *   JSEC_FAIL_NUMBER=N   ... when it is made for the Nth time (-1: always)
 *   JSEC_SHORT_READS=1   read and fread deliver one byte at most
 *   JSEC_RANDOM=N,M,...  rand and random return N, then M, the last again and again; otherwise
 *                        their seed is fixed
 *   JSEC_TIME=N          time returns N
 *   JSEC_USERS=U,E       the program is started by user and group U with the rights of E, which it may
 *                        change: as a set-user-ID program is
 *   JSEC_SIGNALS=N       each signal that the program installs a handler for arrives once: at once
 *                        (1), or with the Nth call of a stand-in behind that
 *
 * At the end "JSEC: leaked NAME" and the stack are written for each stream and descriptor that is
 * still open, where NAME is the function that opened it. A program that calls jsec_hold calls a single
 * function: then they are written of what this has opened and nothing leads to any more.
 *
 * When a descriptor is closed as a stream or a stream as a descriptor, "JSEC: unfit NAME" and the
 * stack are written.
 *
 * Of blocks that were not enlarged, for realloc failed, and that nothing leads to any more, "JSEC: lost
 * realloc" and the stack of that call are written when a harness asks for it.
 *
 * A function that no signal handler may call is told with "JSEC: unsafe NAME" and the stack when it
 * is called by one.
 *
 * When a call fails because of JSEC_FAIL_CALL, "JSEC: failed NAME" and the stack are written to
 * descriptor 2, so that it is known which call of the program it was. Where it is named and does not
 * fail, "JSEC: short NAME N" tells that the Nth read gave less than was asked for.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

ssize_t __real_read(int, void *, size_t);
ssize_t __real_write(int, const void *, size_t);
size_t __real_fread(void *, size_t, size_t, FILE *);
size_t __real_fwrite(const void *, size_t, size_t, FILE *);
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
char *__real_strdup(const char *);
FILE *__real_fopen(const char *, const char *);
FILE *__real_fdopen(int, const char *);
FILE *__real_freopen(const char *, const char *, FILE *);
wchar_t *__real_fgetws(wchar_t *, int, FILE *);
int __real_fputws(const wchar_t *, FILE *);
wint_t __real_fputwc(wchar_t, FILE *);
wint_t __real_putwc(wchar_t, FILE *);
wint_t __real_putwchar(wchar_t);
int __real_chdir(const char *);
int __real_setuid(uid_t);
int __real_setgid(gid_t);
int __real_seteuid(uid_t);
int __real_setegid(gid_t);
int __real_setreuid(uid_t, uid_t);
int __real_setregid(gid_t, gid_t);
int __real_setresuid(uid_t, uid_t, uid_t);
int __real_setresgid(gid_t, gid_t, gid_t);
int __real_setgroups(size_t, const gid_t *);
int __real_initgroups(const char *, gid_t);
int __real_chroot(const char *);
uid_t __real_getuid(void);
uid_t __real_geteuid(void);
gid_t __real_getgid(void);
gid_t __real_getegid(void);
char *__real_fgets(char *, int, FILE *);
int __real_fputs(const char *, FILE *);
int __real_puts(const char *);
int __real_putchar(int);
int __real_fputc(int, FILE *);
int __real_putc(int, FILE *);
int __real_fclose(FILE *);
int __real_fflush(FILE *);
int __real_fseek(FILE *, long, int);
int __real_rename(const char *, const char *);
int __real_remove(const char *);
int __real_close(int);
int __real_open(const char *, int, ...);
int __real_rand(void);
long __real_random(void);
void __real_srand(unsigned);
void __real_srandom(unsigned);

static int settings_read, is_held, calls_one_function;
static long fail_alloc, fail_number, allocations, matching;
static const char *fail_call, *fixed_random, *fixed_time;
static int short_reads;
static long signals;

/* Real, effective and saved, of users and of groups, where they are told. */
static int users_told;
static unsigned users[3], groups[3];

static void read_settings(void)
{
    const char *text;
    char *end;
    if (settings_read)
        return;
    settings_read = 1;
    text = getenv("JSEC_FAIL_ALLOC");
    fail_alloc = text ? atol(text) : 0;
    text = getenv("JSEC_FAIL_NUMBER");
    fail_number = text ? atol(text) : 1;
    fail_call = getenv("JSEC_FAIL_CALL");
    fixed_random = getenv("JSEC_RANDOM");
    fixed_time = getenv("JSEC_TIME");
    short_reads = getenv("JSEC_SHORT_READS") != NULL;
    text = getenv("JSEC_SIGNALS");
    signals = text ? atol(text) : 0;
    text = getenv("JSEC_USERS");
    users_told = text != NULL;
    if (users_told) {
        users[0] = groups[0] = (unsigned)strtoul(text, &end, 10);
        users[1] = *end == ',' ? (unsigned)strtoul(end + 1, &end, 10) : users[0];
        users[2] = groups[1] = groups[2] = users[1];
    }
}

static void signal_may_arrive(void);

static int allocation_fails(void)
{
    read_settings();
    signal_may_arrive();
    if (fail_alloc == 0 || is_held)
        return 0;
    allocations++;
    if (fail_alloc > 0 && allocations != fail_alloc)
        return 0;
    errno = ENOMEM;
    return 1;
}

/* Of the sanitizers' library, where a program is linked with it. */
__attribute__((weak)) void __sanitizer_print_stack_trace(void);
__attribute__((weak)) void __sanitizer_symbolize_pc(void *, const char *, char *, size_t);

#define MOST_OPEN 256
#define MOST_FRAMES 6
#define MOST_DESCRIPTORS 65536

/* What is open, by stream or by descriptor plus one, and the calls that opened it. */
static struct { const char *opened_by; void *handle; void *callers[MOST_FRAMES]; } open_now[MOST_OPEN];

/* Fills in the calls under way, the innermost first: every function keeps its frame pointer. */
static void note_callers(void **callers, void **frame)
{
    int i;
    for (i = 0; i < MOST_FRAMES; i++)
        callers[i] = NULL;
    for (i = 0; i < MOST_FRAMES && frame != NULL && frame[1] != NULL; i++) {
        void **above = frame[0];
        callers[i] = (char *)frame[1] - 1;
        if (above <= frame || (char *)above - (char *)frame > 1 << 20)
            break;
        frame = above;
    }
}

static void note_open(const char *name, void *handle, void **frame)
{
    int i;
    for (i = 0; i < MOST_OPEN && handle != NULL && !is_held; i++)
        if (open_now[i].handle == NULL) {
            open_now[i].opened_by = name;
            open_now[i].handle = handle;
            note_callers(open_now[i].callers, frame);
            return;
        }
}

static void note_closed(void *handle)
{
    int i;
    for (i = 0; i < MOST_OPEN; i++)
        if (open_now[i].handle == handle)
            open_now[i].handle = NULL;
}

/* A stream takes over the descriptor that it is made of. */
static void note_taken_over(void *handle, void *by)
{
    int i;
    for (i = 0; i < MOST_OPEN; i++)
        if (open_now[i].handle == handle)
            open_now[i].handle = by;
}

#define DESCRIPTOR(number) ((void *)((char *)0 + (number) + 1))
#define FRAME ((void **)__builtin_frame_address(0))

/* What calls that have returned left on the stack would keep memory from being a leak. */
__attribute__((noinline)) static void clear_dead_stack(void)
{
    volatile char dead[65536];
    size_t at;
    for (at = 0; at < sizeof dead; at++)
        dead[at] = 0;
}

/* Blocks that stayed where they were, for realloc failed. */
#define MOST_UNMOVED 64
static struct { char *block; void *callers[MOST_FRAMES]; } unmoved[MOST_UNMOVED];

static void note_unmoved(char *block, void **frame)
{
    int i;
    for (i = 0; i < MOST_UNMOVED && block != NULL && !is_held; i++)
        if (unmoved[i].block == NULL) {
            unmoved[i].block = block;
            note_callers(unmoved[i].callers, frame);
            return;
        }
}

static void tell_calls(const char *what, const char *name, void **callers)
{
    char frame[600];
    int depth;
    dprintf(2, "JSEC: %s %s\n", what, name);
    for (depth = 0; depth < MOST_FRAMES && callers[depth] != NULL; depth++) {
        __sanitizer_symbolize_pc(callers[depth], "%p in %f %s:%l", frame, sizeof frame);
        dprintf(2, "    #%d %s\n", depth, frame);
    }
    dprintf(2, "\n");
}

__attribute__((destructor)) static void tell_leaks(void)
{
    int i;
    if (__sanitizer_symbolize_pc == NULL || calls_one_function)
        return;
    clear_dead_stack();
    for (i = 0; i < MOST_OPEN; i++)
        if (open_now[i].handle != NULL)
            tell_calls("leaked", open_now[i].opened_by, open_now[i].callers);
}

/* The writable memory of the program, as the linker names it. */
extern char __data_start[] __attribute__((weak)), _end[] __attribute__((weak));
__attribute__((weak)) int __sanitizer_get_ownership(const volatile void *);
__attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void *);
__attribute__((weak)) const char *__asan_locate_address(void *, char *, size_t, void **, size_t *);

#define MOST_BLOCKS 4096
static struct { char *begin; size_t size; } blocks[MOST_BLOCKS];
static int block_count;

static void add_block(char *begin, size_t size)
{
    int i;
    for (i = 0; i < block_count; i++)
        if (blocks[i].begin == begin)
            return;
    if (block_count < MOST_BLOCKS) {
        blocks[block_count].begin = begin;
        blocks[block_count].size = size;
    }
    block_count++;
}

static int is_own(const char *at)
{
    return (at >= (char *)open_now && at < (char *)(open_now + MOST_OPEN)) ||
           (at >= (char *)blocks && at < (char *)(blocks + MOST_BLOCKS)) ||
           (at >= (char *)unmoved && at < (char *)(unmoved + MOST_UNMOVED));
}

/* Tells whether memory that global variables lead to has a handle in it, or an address in a block of
 * some size; of a descriptor any number like it counts. */
static int is_kept(char *handle, size_t room, int is_descriptor)
{
    void *probe = __real_malloc(1);
    int i, number = (int)(handle - (char *)0) - 1;
    block_count = 0;
    add_block(__data_start, (size_t)(_end - __data_start));
    for (i = 0; i < block_count && i < MOST_BLOCKS; i++) {
        char *at = blocks[i].begin, *end = at + blocks[i].size;
        for (; at + 4 <= end; at += 4) {
            char name[2], *word;
            void *begin;
            size_t size;
            int value;
            if (is_own(at))
                continue;
            memcpy(&value, at, sizeof value);
            if (is_descriptor && value == number)
                break;
            if (at + sizeof word > end || ((size_t)at & 7) != 0)
                continue;
            memcpy(&word, at, sizeof word);
            if (!is_descriptor && word >= handle && word <= handle + room)
                break;
            /* blocks of the heap are in the same part of the address space */
            if ((size_t)word >> 42 == (size_t)probe >> 42 &&
                strncmp(__asan_locate_address(word, name, sizeof name, &begin, &size), "heap", 4) == 0)
                add_block(begin, size);
        }
        if (at + 4 <= end)
            break;
    }
    free(probe);
    return i < block_count;
}

/* For a harness that calls one function: what is outside of that call is not counted and does not
 * fail, and what is opened there is its own. */
void jsec_hold(int held)
{
    read_settings();
    calls_one_function = 1;
    is_held = held;
}

/* Lets any call fail that may, when it is the Nth. */
void jsec_fail(long number)
{
    fail_call = "*";
    fail_number = number;
    matching = 0;
}

/* Returns how many calls were counted since then. */
long jsec_counted(void)
{
    return matching;
}

/* Tells what the function has opened and nothing leads to any more. */
void jsec_tell_leaks(void)
{
    int i;
    if (__sanitizer_symbolize_pc == NULL || __asan_locate_address == NULL || __data_start == NULL)
        return;
    clear_dead_stack();
    for (i = 0; i < MOST_OPEN; i++)
        if (open_now[i].handle != NULL &&
            !is_kept(open_now[i].handle, 0, (size_t)open_now[i].handle < MOST_DESCRIPTORS))
            tell_calls("leaked", open_now[i].opened_by, open_now[i].callers);
}

/* Tells what blocks stayed where they were although nothing leads to them any more. */
void jsec_tell_lost(void)
{
    int i;
    if (__sanitizer_symbolize_pc == NULL || __asan_locate_address == NULL || __data_start == NULL ||
        __sanitizer_get_allocated_size == NULL || __sanitizer_get_ownership == NULL)
        return;
    for (i = 0; i < MOST_UNMOVED; i++) {
        char *block = unmoved[i].block;
        if (block != NULL && __sanitizer_get_ownership(block) &&
            !is_kept(block, __sanitizer_get_allocated_size(block), 0))
            tell_calls("lost", "realloc", unmoved[i].callers);
    }
}

void jsec_reached(void)
{
    static const char text[] = "\nJARVIS: reached\n";
    static int told;
    if (!told)
        (void)!__real_write(2, text, sizeof text - 1);
    told = 1;
}

static void tell(const char *head, const char *name)
{
    (void)!__real_write(2, head, strlen(head));
    (void)!__real_write(2, name, strlen(name));
    (void)!__real_write(2, "\n", 1);
    if (__sanitizer_print_stack_trace != NULL)
        __sanitizer_print_stack_trace();
}

/* Signals whose handlers are installed, and those that have arrived. */
static struct { char waits, arrived; } handled[65];
static volatile int signal_under_way;
static long calls_behind;

static void let_arrive(int number)
{
    if (handled[number].arrived || signal_under_way)
        return;
    handled[number].arrived = 1;
    signal_under_way = number;
    raise(number);
    signal_under_way = 0;
}

static void signal_may_arrive(void)
{
    int number;
    if (signals < 2 || signal_under_way)
        return;
    for (number = 1; number < 65 && !handled[number].waits; number++)
        ;
    if (number == 65 || ++calls_behind < signals)
        return;
    for (number = 1; number < 65; number++)
        if (handled[number].waits)
            let_arrive(number);
}

static void note_handler(int number, void (*handler)(int))
{
    read_settings();
    if (!signals || number < 1 || number > 64 || handler == SIG_DFL || handler == SIG_IGN)
        return;
    handled[number].waits = 1;
    if (signals == 1)
        let_arrive(number);
}

/* What POSIX lets a signal handler call, of the functions below, and what does no harm in practice. */
static int is_safe(const char *name)
{
    static const char *const safe[] = {
        "read", "write", "open", "close", "rename", "remove", "chdir", "setuid", "setgid",
        "socket", "connect", "bind", "listen", "accept", "recv", "send", "time",
        "snprintf",
    };
    size_t at;
    for (at = 0; at < sizeof safe / sizeof *safe; at++)
        if (strcmp(name, safe[at]) == 0)
            return 1;
    return 0;
}

static void tell_unsafe(const char *name)
{
    if (signal_under_way && !is_safe(name))
        tell("\nJSEC: unsafe ", name);
}

static int call_fails(const char *name, int error)
{
    read_settings();
    tell_unsafe(name);
    signal_may_arrive();
    if (fail_call == NULL || is_held || (strcmp(fail_call, "*") != 0 && strcmp(fail_call, name) != 0))
        return 0;
    matching++;
    if (fail_number > 0 && matching != fail_number)
        return 0;
    tell("JSEC: failed ", name);
    errno = error;
    return 1;
}

/* Whether a call is one that is to fail another time: what changes the machine then succeeds without
 * doing it, for a sandbox may not let it, and of others it is told when they fail by themselves. */
static int is_chosen(const char *name)
{
    return fail_call != NULL && (strcmp(fail_call, "*") == 0 || strcmp(fail_call, name) == 0);
}

static void tell_own_failure(const char *name, int failed)
{
    if (failed && fail_call != NULL && strcmp(fail_call, name) == 0)
        tell("JSEC: itself ", name);
}

/* A read that gives less than was asked for, or nothing, and is not let fail, is told with its
 * number. */
static void tell_short(const char *name, size_t asked, size_t given)
{
    char line[64] = "\nJSEC: short ", *end = line + sizeof line;
    long number = matching;
    if (given < asked && fail_call != NULL && strcmp(fail_call, name) == 0) {
        *--end = '\n';
        do
            *--end = (char)('0' + number % 10);
        while ((number /= 10) > 0 && end > line + 32);
        *--end = ' ';
        (void)!__real_write(2, line, strlen(line));
        (void)!__real_write(2, name, strlen(name));
        (void)!__real_write(2, end, (size_t)(line + sizeof line - end));
    }
}

#define CHANGE(name, error, real) (call_fails(name, error) ? -1 : is_chosen(name) ? 0 : (real))

void *__wrap_malloc(size_t size)
{
    return allocation_fails() || call_fails("malloc", ENOMEM) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return allocation_fails() || call_fails("calloc", ENOMEM) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    if (allocation_fails() || call_fails("realloc", ENOMEM)) {
        note_unmoved(old, FRAME);
        return NULL;
    }
    return __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return allocation_fails() || call_fails("strdup", ENOMEM) ? NULL : __real_strdup(text);
}

wchar_t *__wrap_wcsdup(const wchar_t *text)
{
    size_t size = (wcslen(text) + 1) * sizeof *text;
    wchar_t *copy = allocation_fails() || call_fails("wcsdup", ENOMEM) ? NULL : malloc(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}

/* A file that is read by a function that is called by itself is there, when it is looked for how that
 * function fares with and without failures. */
static int stands_for_file(int failed)
{
    return failed && errno == ENOENT && calls_one_function && fail_call != NULL && *fail_call == '*';
}

FILE *__wrap_fopen(const char *name, const char *mode)
{
    FILE *file;
    if (call_fails("fopen", EACCES))
        return NULL;
    file = __real_fopen(name, mode);
    if (stands_for_file(file == NULL)) {
        file = tmpfile();
        if (file != NULL) {
            fputs("input\n", file);
            rewind(file);
        }
    }
    tell_own_failure("fopen", file == NULL);
    note_open("fopen", file, FRAME);
    return file;
}

FILE *__wrap_fdopen(int descriptor, const char *mode)
{
    FILE *file = call_fails("fdopen", EINVAL) ? NULL : __real_fdopen(descriptor, mode);
    if (file != NULL)
        note_taken_over(DESCRIPTOR(descriptor), file);
    return file;
}

FILE *__wrap_freopen(const char *name, const char *mode, FILE *file)
{
    if (!call_fails("freopen", EACCES)) {
        file = __real_freopen(name, mode, file);
        tell_own_failure("freopen", file == NULL);
        return file;
    }
    note_closed(file);
    __real_fclose(file);
    return NULL;
}

/* Gives a descriptor a number that is not met elsewhere, such as among the lines of sources that the
 * sanitizers keep: the highest that it may have. */
static int rare_number(int descriptor)
{
    static const int numbers[] = {64817, 16273, 4049, 1013, 727};
    size_t at;
    for (at = 0; at < sizeof numbers / sizeof *numbers; at++) {
        int other = fcntl(descriptor, F_DUPFD, numbers[at]);
        if (other >= 0) {
            __real_close(descriptor);
            return other;
        }
    }
    return descriptor;
}

int __wrap_open(const char *name, int flags, ...)
{
    mode_t mode;
    int descriptor;
    va_list values;
    va_start(values, flags);
    mode = flags & O_CREAT ? va_arg(values, mode_t) : 0;
    va_end(values);
    if (call_fails("open", EACCES))
        return -1;
    descriptor = __real_open(name, flags, mode);
    if (stands_for_file(descriptor < 0)) {
        FILE *file = tmpfile();
        if (file != NULL) {
            fputs("input\n", file);
            rewind(file);
            descriptor = dup(fileno(file));
            fclose(file);
        }
    }
    tell_own_failure("open", descriptor < 0);
    if (descriptor >= 0 && calls_one_function && !is_held)
        descriptor = rare_number(descriptor);
    if (descriptor >= 0)
        note_open("open", DESCRIPTOR(descriptor), FRAME);
    return descriptor;
}

ssize_t __wrap_read(int descriptor, void *into, size_t count)
{
    ssize_t given;
    if (call_fails("read", EIO))
        return -1;
    given = __real_read(descriptor, into, short_reads && count > 1 ? 1 : count);
    tell_short("read", count, given > 0 ? (size_t)given : 0);
    return given;
}

ssize_t __wrap_write(int descriptor, const void *from, size_t count)
{
    return call_fails("write", ENOSPC) ? -1 : __real_write(descriptor, from, count);
}

size_t __wrap_fread(void *into, size_t size, size_t count, FILE *file)
{
    size_t given;
    if (call_fails("fread", EIO))
        return 0;
    given = __real_fread(into, size, short_reads && count > 1 ? 1 : count, file);
    tell_short("fread", count, given);
    return given;
}

size_t __wrap_fwrite(const void *from, size_t size, size_t count, FILE *file)
{
    return call_fails("fwrite", ENOSPC) ? 0 : __real_fwrite(from, size, count, file);
}

char *__wrap_fgets(char *into, int size, FILE *file)
{
    char *line;
    if (call_fails("fgets", EIO))
        return NULL;
    line = __real_fgets(into, size, file);
    tell_short("fgets", 1, line != NULL);
    return line;
}

int __wrap_fputs(const char *text, FILE *file)
{
    return call_fails("fputs", ENOSPC) ? EOF : __real_fputs(text, file);
}

int __wrap_puts(const char *text)
{
    return call_fails("puts", ENOSPC) ? EOF : __real_puts(text);
}

int __wrap_putchar(int c)
{
    return call_fails("putchar", ENOSPC) ? EOF : __real_putchar(c);
}

int __wrap_fputc(int c, FILE *file)
{
    return call_fails("fputc", ENOSPC) ? EOF : __real_fputc(c, file);
}

int __wrap_putc(int c, FILE *file)
{
    return call_fails("putc", ENOSPC) ? EOF : __real_putc(c, file);
}

wchar_t *__wrap_fgetws(wchar_t *into, int size, FILE *file)
{
    wchar_t *line;
    if (call_fails("fgetws", EIO))
        return NULL;
    line = __real_fgetws(into, size, file);
    tell_short("fgetws", 1, line != NULL);
    return line;
}

int __wrap_fputws(const wchar_t *text, FILE *file)
{
    return call_fails("fputws", ENOSPC) ? -1 : __real_fputws(text, file);
}

wint_t __wrap_fputwc(wchar_t c, FILE *file)
{
    return call_fails("fputwc", ENOSPC) ? WEOF : __real_fputwc(c, file);
}

wint_t __wrap_putwc(wchar_t c, FILE *file)
{
    return call_fails("putwc", ENOSPC) ? WEOF : __real_putwc(c, file);
}

wint_t __wrap_putwchar(wchar_t c)
{
    return call_fails("putwchar", ENOSPC) ? WEOF : __real_putwchar(c);
}

/* Tells of a descriptor that is closed as a stream, and of a stream that is closed as a descriptor. */
static int is_stream(int number)
{
    int i, found = number == (int)(size_t)stdin || number == (int)(size_t)stdout ||
                   number == (int)(size_t)stderr;
    for (i = 0; i < MOST_OPEN; i++)
        found |= (size_t)open_now[i].handle >= MOST_DESCRIPTORS &&
                 number == (int)(size_t)open_now[i].handle;
    return found;
}

/* Nothing is lost when a stream that was only read cannot be closed. */
static int is_only_read(FILE *file)
{
    return file != NULL && is_chosen("fclose") && !__fwritable(file);
}

int __wrap_fclose(FILE *file)
{
    if (file != NULL && (size_t)file < MOST_DESCRIPTORS && fcntl((int)(size_t)file, F_GETFD) >= 0)
        tell("JSEC: unfit ", "fclose");
    note_closed(file);
    if (is_only_read(file) || !call_fails("fclose", ENOSPC)) {
        int failed = __real_fclose(file);
        tell_own_failure("fclose", failed);
        return failed;
    }
    __real_fclose(file);
    errno = ENOSPC;
    return EOF;
}

int __wrap_fflush(FILE *file)
{
    int failed;
    if (call_fails("fflush", ENOSPC))
        return EOF;
    failed = __real_fflush(file);
    tell_own_failure("fflush", failed);
    return failed;
}

int __wrap_fseek(FILE *file, long where, int whence)
{
    int failed;
    if (call_fails("fseek", EIO))
        return -1;
    failed = __real_fseek(file, where, whence);
    tell_own_failure("fseek", failed);
    return failed;
}

int __wrap_rename(const char *from, const char *to)
{
    return CHANGE("rename", EACCES, __real_rename(from, to));
}

int __wrap_remove(const char *name)
{
    return CHANGE("remove", EACCES, __real_remove(name));
}

int __wrap_chdir(const char *name)
{
    return CHANGE("chdir", EACCES, __real_chdir(name));
}

uid_t __wrap_getuid(void)
{
    read_settings();
    return users_told ? users[0] : __real_getuid();
}

uid_t __wrap_geteuid(void)
{
    read_settings();
    return users_told ? users[1] : __real_geteuid();
}

gid_t __wrap_getgid(void)
{
    read_settings();
    return users_told ? groups[0] : __real_getgid();
}

gid_t __wrap_getegid(void)
{
    read_settings();
    return users_told ? groups[1] : __real_getegid();
}

#define KEEP ((unsigned)-1)

/* Changes users or groups as the system does where whoever asks has been told to be one of them. */
static int change_ids(unsigned *ids, unsigned real, unsigned effective, unsigned saved)
{
    unsigned wanted[3] = {real, effective, saved}, i;
    for (i = 0; i < 3; i++)
        if (wanted[i] != KEEP && users[1] != 0 && wanted[i] != ids[0] && wanted[i] != ids[1] &&
            wanted[i] != ids[2]) {
            errno = EPERM;
            return -1;
        }
    for (i = 0; i < 3; i++)
        if (wanted[i] != KEEP)
            ids[i] = wanted[i];
    return 0;
}

/* All three are changed by who may do anything, else the effective one. */
static int change_id(unsigned *ids, unsigned id)
{
    return users[1] == 0 ? change_ids(ids, id, id, id) : change_ids(ids, KEEP, id, KEEP);
}

/* Tells whether a change would leave everything as it is: that it fails harms nobody. */
static int keeps_ids(const unsigned *ids, unsigned real, unsigned effective, unsigned saved)
{
    read_settings();
    return users_told && (real == KEEP || real == ids[0]) &&
           (effective == KEEP || effective == ids[1]) && (saved == KEEP || saved == ids[2]);
}

static int keeps_id(const unsigned *ids, unsigned id)
{
    read_settings();
    return users[1] == 0 ? keeps_ids(ids, id, id, id) : keeps_ids(ids, KEEP, id, KEEP);
}

/* As of `CHANGE`; where users are told, what they are is changed here. */
#define BECOME(name, kept, told, real)                                                             \
    ((kept) ? 0                                                                                    \
     : call_fails(name, EPERM) ? -1 : users_told ? (told) : is_chosen(name) ? 0 : (real))

int __wrap_setuid(uid_t user)
{
    return BECOME("setuid", keeps_id(users, user), change_id(users, user), __real_setuid(user));
}

int __wrap_setgid(gid_t group)
{
    return BECOME("setgid", keeps_id(groups, group), change_id(groups, group), __real_setgid(group));
}

int __wrap_seteuid(uid_t user)
{
    return BECOME("seteuid", keeps_ids(users, KEEP, user, KEEP),
                  change_ids(users, KEEP, user, KEEP), __real_seteuid(user));
}

int __wrap_setegid(gid_t group)
{
    return BECOME("setegid", keeps_ids(groups, KEEP, group, KEEP),
                  change_ids(groups, KEEP, group, KEEP), __real_setegid(group));
}

int __wrap_setreuid(uid_t user, uid_t effective)
{
    return BECOME("setreuid", keeps_ids(users, user, effective, effective),
                  change_ids(users, user, effective, effective), __real_setreuid(user, effective));
}

int __wrap_setregid(gid_t group, gid_t effective)
{
    return BECOME("setregid", keeps_ids(groups, group, effective, effective),
                  change_ids(groups, group, effective, effective), __real_setregid(group, effective));
}

int __wrap_setresuid(uid_t user, uid_t effective, uid_t saved)
{
    return BECOME("setresuid", keeps_ids(users, user, effective, saved),
                  change_ids(users, user, effective, saved), __real_setresuid(user, effective, saved));
}

int __wrap_setresgid(gid_t group, gid_t effective, gid_t saved)
{
    return BECOME("setresgid", keeps_ids(groups, group, effective, saved),
                  change_ids(groups, group, effective, saved), __real_setresgid(group, effective, saved));
}

int __wrap_setgroups(size_t count, const gid_t *list)
{
    return BECOME("setgroups", 0, 0, __real_setgroups(count, list));
}

int __wrap_initgroups(const char *user, gid_t group)
{
    return BECOME("initgroups", 0, 0, __real_initgroups(user, group));
}

int __wrap_chroot(const char *name)
{
    return CHANGE("chroot", EPERM, __real_chroot(name));
}

int __wrap_close(int descriptor)
{
    if (is_stream(descriptor) && fcntl(descriptor, F_GETFD) < 0)
        tell("JSEC: unfit ", "close");
    note_closed(DESCRIPTOR(descriptor));
    if ((fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY || !call_fails("close", EIO)) {
        int failed = __real_close(descriptor);
        tell_own_failure("close", failed);
        return failed;
    }
    __real_close(descriptor);
    errno = EIO;
    return -1;
}

/* Looks at the strings that a format of wide characters prints: the sanitizer looks into the lengths
 * of strings, not into what prints them. Ends at what it does not know. */
static void look_at_wide(const wchar_t *format, va_list values)
{
    static volatile size_t length;
    for (; *format; format++) {
        int longs = 0, is_bounded = 0;
        if (*format != L'%')
            continue;
        for (format++; *format && wcschr(L"-+ #0123456789.*hlLqjzt", *format); format++) {
            longs += *format == L'l' || *format == L'j' || *format == L'z' || *format == L't';
            is_bounded |= *format == L'.';
            if (*format == L'*')
                (void)va_arg(values, int);
            if (*format == L'L' || *format == L'q')
                return;
        }
        if (*format == L'%')
            continue;
        if (*format == L's' || *format == L'S') {
            const void *text = va_arg(values, const void *);
            if (text && !is_bounded)
                length = longs || *format == L'S' ? wcslen(text) : strlen(text);
        } else if (*format && wcschr(L"pn", *format)) {
            (void)va_arg(values, void *);
        } else if (*format && wcschr(L"eEfFgGaA", *format)) {
            (void)va_arg(values, double);
        } else if (*format && wcschr(L"diouxXc", *format)) {
            if (longs)
                (void)va_arg(values, long);
            else
                (void)va_arg(values, int);
        } else {
            return;
        }
    }
}

int __wrap_wprintf(const wchar_t *format, ...)
{
    int written;
    va_list values;
    va_start(values, format);
    look_at_wide(format, values);
    va_end(values);
    va_start(values, format);
    written = vwprintf(format, values);
    va_end(values);
    return written;
}

int __wrap_fwprintf(FILE *file, const wchar_t *format, ...)
{
    int written;
    va_list values;
    va_start(values, format);
    look_at_wide(format, values);
    va_end(values);
    va_start(values, format);
    written = vfwprintf(file, format, values);
    va_end(values);
    return written;
}

int __wrap_printf(const char *format, ...)
{
    int written;
    va_list values;
    if (call_fails("printf", ENOSPC))
        return -1;
    va_start(values, format);
    written = vprintf(format, values);
    va_end(values);
    return written;
}

int __wrap_fprintf(FILE *file, const char *format, ...)
{
    int written;
    va_list values;
    if (call_fails("fprintf", ENOSPC))
        return -1;
    va_start(values, format);
    written = vfprintf(file, format, values);
    va_end(values);
    return written;
}

int __wrap___isoc99_scanf(const char *format, ...)
{
    int found;
    va_list values;
    if (call_fails("scanf", EIO))
        return EOF;
    va_start(values, format);
    found = vscanf(format, values);
    va_end(values);
    tell_short("scanf", 1, found != EOF);
    return found;
}

int __wrap___isoc99_fscanf(FILE *file, const char *format, ...)
{
    int found;
    va_list values;
    if (call_fails("fscanf", EIO))
        return EOF;
    va_start(values, format);
    found = vfscanf(file, format, values);
    va_end(values);
    tell_short("fscanf", 1, found != EOF);
    return found;
}

int __wrap_snprintf(char *into, size_t size, const char *format, ...)
{
    int done;
    va_list values;
    if (call_fails("snprintf", EILSEQ))
        return -1;
    va_start(values, format);
    done = vsnprintf(into, size, format, values);
    va_end(values);
    return done;
}

int __wrap_swprintf(wchar_t *into, size_t size, const wchar_t *format, ...)
{
    int done;
    va_list values;
    if (call_fails("swprintf", EILSEQ))
        return -1;
    va_start(values, format);
    done = vswprintf(into, size, format, values);
    va_end(values);
    return done;
}

int __wrap___isoc99_sscanf(const char *text, const char *format, ...)
{
    int done;
    va_list values;
    if (call_fails("sscanf", EIO))
        return EOF;
    va_start(values, format);
    done = vsscanf(text, format, values);
    va_end(values);
    tell_short("sscanf", 1, done != EOF);
    return done;
}

int __wrap___isoc99_wscanf(const wchar_t *format, ...)
{
    int done;
    va_list values;
    if (call_fails("wscanf", EIO))
        return EOF;
    va_start(values, format);
    done = vwscanf(format, values);
    va_end(values);
    tell_short("wscanf", 1, done != EOF);
    return done;
}

int __wrap___isoc99_fwscanf(FILE *file, const wchar_t *format, ...)
{
    int done;
    va_list values;
    if (call_fails("fwscanf", EIO))
        return EOF;
    va_start(values, format);
    done = vfwscanf(file, format, values);
    va_end(values);
    tell_short("fwscanf", 1, done != EOF);
    return done;
}

/* `new (std::nothrow)` of objects and of arrays, by the names that it has for the linker; in C it is
 * not there. */
__attribute__((weak)) void *__real__ZnwmRKSt9nothrow_t(size_t, const void *);
__attribute__((weak)) void *__real__ZnamRKSt9nothrow_t(size_t, const void *);

void *__wrap__ZnwmRKSt9nothrow_t(size_t size, const void *tag)
{
    return allocation_fails() ? NULL : __real__ZnwmRKSt9nothrow_t(size, tag);
}

void *__wrap__ZnamRKSt9nothrow_t(size_t size, const void *tag)
{
    return allocation_fails() ? NULL : __real__ZnamRKSt9nothrow_t(size, tag);
}

/* The sanitizer looks into functions of bytes, not into these: copying and moving bytes does what
 * they do, and is looked into. */
wchar_t *__wrap_wcscpy(wchar_t *to, const wchar_t *from)
{
    return memcpy(to, from, (wcslen(from) + 1) * sizeof *to);
}

wchar_t *__wrap_wcsncpy(wchar_t *to, const wchar_t *from, size_t count)
{
    size_t length = wcsnlen(from, count);
    memcpy(to, from, length * sizeof *to);
    memset(to + length, 0, (count - length) * sizeof *to);
    return to;
}

wchar_t *__wrap_wmemcpy(wchar_t *to, const wchar_t *from, size_t count)
{
    return memcpy(to, from, count * sizeof *to);
}

wchar_t *__wrap_wmemmove(wchar_t *to, const wchar_t *from, size_t count)
{
    return memmove(to, from, count * sizeof *to);
}

wchar_t *__wrap_wmemset(wchar_t *to, wchar_t value, size_t count)
{
    size_t at;
    memset(to, 0, count * sizeof *to);
    for (at = 0; at < count; at++)
        to[at] = value;
    return to;
}

/* The other end of every connection is standard input; what is sent to it is dropped. */
int __wrap_socket(int domain, int type, int protocol)
{
    (void)domain, (void)type, (void)protocol;
    return call_fails("socket", EACCES) ? -1 : __real_open("/dev/null", O_RDWR);
}

int __wrap_connect(int descriptor, const void *address, unsigned size)
{
    (void)descriptor, (void)address, (void)size;
    return call_fails("connect", ECONNREFUSED) ? -1 : 0;
}

int __wrap_bind(int descriptor, const void *address, unsigned size)
{
    (void)descriptor, (void)address, (void)size;
    return call_fails("bind", EADDRINUSE) ? -1 : 0;
}

int __wrap_listen(int descriptor, int waiting)
{
    (void)descriptor, (void)waiting;
    return call_fails("listen", EADDRINUSE) ? -1 : 0;
}

int __wrap_accept(int descriptor, void *address, unsigned *size)
{
    (void)descriptor, (void)address, (void)size;
    return call_fails("accept", ECONNABORTED) ? -1 : __real_open("/dev/null", O_RDWR);
}

ssize_t __wrap_recv(int descriptor, void *into, size_t count, int flags)
{
    (void)descriptor, (void)flags;
    if (call_fails("recv", ECONNRESET))
        return -1;
    return __real_read(0, into, short_reads && count > 1 ? 1 : count);
}

ssize_t __wrap_send(int descriptor, const void *from, size_t count, int flags)
{
    (void)descriptor, (void)from, (void)flags;
    return call_fails("send", ECONNRESET) ? -1 : (ssize_t)count;
}

static int random_value(int *value)
{
    read_settings();
    if (fixed_random == NULL)
        return 0;
    *value = (int)atol(fixed_random);
    if (strchr(fixed_random, ',') != NULL)
        fixed_random = strchr(fixed_random, ',') + 1;
    return 1;
}

int __wrap_rand(void)
{
    int value;
    return random_value(&value) ? value : __real_rand();
}

long __wrap_random(void)
{
    int value;
    return random_value(&value) ? (long)value : __real_random();
}

void __wrap_srand(unsigned seed)
{
    (void)seed;
    __real_srand(1);
}

void __wrap_srandom(unsigned seed)
{
    (void)seed;
    __real_srandom(1);
}

time_t __wrap_time(time_t *into)
{
    time_t now;
    read_settings();
    now = fixed_time ? (time_t)atol(fixed_time) : 1700000000;
    if (into != NULL)
        *into = now;
    return now;
}

/* Where signals arrive (JSEC_SIGNALS) these are stood in for as well; elsewhere nothing links them. */
__attribute__((weak)) void (*__real_signal(int, void (*)(int)))(int);
__attribute__((weak)) void (*__real___sysv_signal(int, void (*)(int)))(int);
__attribute__((weak)) void (*__real_sigset(int, void (*)(int)))(int);
__attribute__((weak)) int __real_sigaction(int, const struct sigaction *, struct sigaction *);

void (*__wrap_signal(int number, void (*handler)(int)))(int)
{
    void (*before)(int) = __real_signal(number, handler);
    note_handler(number, before == SIG_ERR ? SIG_DFL : handler);
    return before;
}

void (*__wrap___sysv_signal(int number, void (*handler)(int)))(int)
{
    void (*before)(int) = __real___sysv_signal(number, handler);
    note_handler(number, before == SIG_ERR ? SIG_DFL : handler);
    return before;
}

void (*__wrap_sigset(int number, void (*handler)(int)))(int)
{
    void (*before)(int) = __real_sigset(number, handler);
    note_handler(number, before == SIG_ERR ? SIG_DFL : handler);
    return before;
}

int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    int failed = __real_sigaction(number, action, before);
    if (!failed && action != NULL)
        note_handler(number, action->sa_handler);
    return failed;
}

#define UNSAFE(type, name, parameters, arguments) \
    __attribute__((weak)) type __real_##name parameters; \
    type __wrap_##name parameters \
    { \
        tell_unsafe(#name); \
        return __real_##name arguments; \
    }

UNSAFE(void, free, (void *pointer), (pointer))
UNSAFE(void, perror, (const char *text), (text))
UNSAFE(int, vprintf, (const char *format, va_list values), (format, values))
UNSAFE(int, vfprintf, (FILE *file, const char *format, va_list values), (file, format, values))
UNSAFE(struct tm *, localtime, (const time_t *when), (when))
UNSAFE(struct tm *, gmtime, (const time_t *when), (when))
UNSAFE(char *, ctime, (const time_t *when), (when))
UNSAFE(char *, asctime, (const struct tm *when), (when))
UNSAFE(char *, strsignal, (int number), (number))
UNSAFE(void, psignal, (int number, const char *text), (number, text))
UNSAFE(int, setenv, (const char *name, const char *value, int over), (name, value, over))
UNSAFE(int, putenv, (char *text), (text))
UNSAFE(int, system, (const char *command), (command))
UNSAFE(FILE *, popen, (const char *command, const char *mode), (command, mode))
UNSAFE(int, pclose, (FILE *file), (file))
UNSAFE(DIR *, opendir, (const char *name), (name))
UNSAFE(struct dirent *, readdir, (DIR *folder), (folder))
UNSAFE(int, closedir, (DIR *folder), (folder))
UNSAFE(struct passwd *, getpwnam, (const char *name), (name))
UNSAFE(struct passwd *, getpwuid, (uid_t user), (user))
UNSAFE(void, openlog, (const char *name, int options, int facility), (name, options, facility))
UNSAFE(void, closelog, (void), ())
UNSAFE(void, vsyslog, (int level, const char *format, va_list values), (level, format, values))

/* The archive beside libc defines 'atexit', and a weak reference does not take it from there. The
 * runtime of clang's sanitizers calls it before the program begins. */
int __cxa_atexit(void (*function)(void *), void *argument, void *library);

static void call_plain(void *function)
{
    ((void (*)(void))function)();
}

int __wrap_atexit(void (*function)(void))
{
    tell_unsafe("atexit");
    return __cxa_atexit(call_plain, (void *)function, NULL);
}

void __wrap_syslog(int level, const char *format, ...)
{
    va_list values;
    tell_unsafe("syslog");
    va_start(values, format);
    vsyslog(level, format, values);
    va_end(values);
}

__attribute__((weak, noreturn)) void __real_exit(int);
__attribute__((weak, noreturn)) void __real_longjmp(jmp_buf, int);
__attribute__((weak, noreturn)) void __real__longjmp(jmp_buf, int);
__attribute__((weak, noreturn)) void __real_siglongjmp(sigjmp_buf, int);

__attribute__((noreturn)) void __wrap_exit(int status)
{
    tell_unsafe("exit");
    signal_under_way = 0;
    __real_exit(status);
}

__attribute__((noreturn)) void __wrap_longjmp(jmp_buf place, int value)
{
    signal_under_way = 0;
    __real_longjmp(place, value);
}

__attribute__((noreturn)) void __wrap__longjmp(jmp_buf place, int value)
{
    signal_under_way = 0;
    __real__longjmp(place, value);
}

__attribute__((noreturn)) void __wrap_siglongjmp(sigjmp_buf place, int value)
{
    signal_under_way = 0;
    __real_siglongjmp(place, value);
}

/* Behind `harness_case`: runs inputs.

     PROGRAM <INPUT                     one case, with its arguments told
     PROGRAM table FILE                 inputs, each two bytes of length (little-endian) and itself
     PROGRAM failing FILE               each of a table, then with its first call that may fail
                                        failing, its second and so on; where HARNESS_MARKED is set
                                        only those that set `harness_reached`
     PROGRAM leaks FILE                 the same, and what is looked for are leaks
     PROGRAM explore SECONDS FILE MOST  inputs like those of FILE, led by coverage, by libFuzzer
                                        where HARNESS_FUZZER is defined; the first is changed even
                                        if it leads nowhere new

   Many run in child processes. "HARNESS: case HEX" is printed of one whose report names a wanted
   line first (HARNESS_WANTED is NAME:FIRST:LAST, a file without its folder and lines of it), of a
   leak one whose report names it anywhere, where calls fail with the number of the one that did; at
   the end "HARNESS: runs N BAD REACHED": how many have ended badly, and how many have set the
   variable `harness_reached`, which code can be made to do. After a few cases, or more that end
   badly, no more are run. */

volatile int harness_reached;

#define HARNESS_REPORTED 77 /* what the sanitizers are told to exit with */
#define HARNESS_FOUND 78
#define HARNESS_FAILURES 40
#define HARNESS_ENOUGH 4
#define HARNESS_SECONDS 2
#define HARNESS_CORPUS 512
#define HARNESS_SEEDS 600
#define HARNESS_LEAKS 150  /* inputs */
#define HARNESS_FAILING 12 /* of them so many also with calls that fail */
#define HARNESS_CALLS 24   /* calls of each that fail */

struct harness_entry {
    unsigned size;
    unsigned char data[HARNESS_MOST];
};

struct harness_shared {
    unsigned runs, reached, entries, compared, seeds, tried, fallible;
    struct harness_entry now, corpus[HARNESS_CORPUS], seed[HARNESS_SEEDS];
    unsigned char seen[65536];
    uint64_t operands[256];
    unsigned char widths[256];
};

static struct harness_shared *harness_all;
static unsigned char harness_counts[65536];
static uintptr_t harness_before;
static int harness_counting;

#if defined(HARNESS_COVERAGE)
#ifdef __cplusplus
extern "C" {
#endif
HARNESS_BARE void __sanitizer_cov_trace_pc(void);
HARNESS_BARE void __sanitizer_cov_trace_pc(void)
{
    uintptr_t here = (uintptr_t)__builtin_return_address(0);
    if (!harness_counting)
        return;
    here = (here >> 1) * 0x9E3779B1u >> 7;
    if (harness_counts[(here ^ harness_before) & 65535] != 255)
        harness_counts[(here ^ harness_before) & 65535]++;
    harness_before = here >> 1;
}

HARNESS_BARE static void harness_operand(uint64_t a, uint64_t b, unsigned width)
{
    if (!harness_counting || a == b)
        return;
    for (unsigned i = 0; i < 2; i++) {
        unsigned place = harness_all->compared++ & 255;
        harness_all->operands[place] = i ? b : a;
        harness_all->widths[place] = (unsigned char)width;
    }
}

#define HARNESS_COMPARE(name, type)                                                                \
    HARNESS_BARE void name(type a, type b);                                                        \
    HARNESS_BARE void name(type a, type b)                                                         \
    {                                                                                              \
        harness_operand(a, b, sizeof(type));                                                                     \
    }
HARNESS_COMPARE(__sanitizer_cov_trace_cmp1, uint8_t)
HARNESS_COMPARE(__sanitizer_cov_trace_cmp2, uint16_t)
HARNESS_COMPARE(__sanitizer_cov_trace_cmp4, uint32_t)
HARNESS_COMPARE(__sanitizer_cov_trace_cmp8, uint64_t)
HARNESS_COMPARE(__sanitizer_cov_trace_const_cmp1, uint8_t)
HARNESS_COMPARE(__sanitizer_cov_trace_const_cmp2, uint16_t)
HARNESS_COMPARE(__sanitizer_cov_trace_const_cmp4, uint32_t)
HARNESS_COMPARE(__sanitizer_cov_trace_const_cmp8, uint64_t)
HARNESS_BARE void __sanitizer_cov_trace_cmpf(float a, float b);
HARNESS_BARE void __sanitizer_cov_trace_cmpf(float a, float b)
{
    (void)a, (void)b;
}
HARNESS_BARE void __sanitizer_cov_trace_cmpd(double a, double b);
HARNESS_BARE void __sanitizer_cov_trace_cmpd(double a, double b)
{
    (void)a, (void)b;
}
HARNESS_BARE void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases);
HARNESS_BARE void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases)
{
    for (uint64_t i = 0; i < cases[0] && i < 16; i++)
        harness_operand(value, cases[2 + i], (unsigned)cases[1] / 8);
}
#ifdef __cplusplus
}
#endif
#endif

HARNESS_BARE static void harness_run(const unsigned char *data, unsigned size)
{
    harness_in = data;
    harness_size = size;
    harness_next = 0;
    harness_counting = 1;
    harness_reached = 0;
    harness_leave();
    harness_case();
#ifdef HARNESS_TWICE
    harness_next = 0;
    harness_case();
#endif
    harness_counting = 0;
    harness_all->reached += harness_reached != 0;
}

static char harness_report[32768];
static int harness_heard;
static unsigned harness_bad, harness_found;

/* Reads what was reported from some byte on; returns how many bytes there are in all. */
HARNESS_BARE static off_t harness_hear(off_t from)
{
    ssize_t size = pread(harness_heard, harness_report, sizeof harness_report - 1, from);
    harness_report[size > 0 ? size : 0] = 0;
    return lseek(harness_heard, 0, SEEK_END);
}

/* Tells whether the first place of the wanted file that a report names is on a wanted line. */
HARNESS_BARE static int harness_is_wanted(void)
{
    const char *wanted = getenv("HARNESS_WANTED"), *colon = wanted ? strchr(wanted, ':') : NULL;
    const char *head = harness_report, *place;
    ptrdiff_t length;
    int first, last;
    if (colon == NULL || sscanf(colon, ":%d:%d", &first, &last) != 2)
        return 0;
    length = colon - wanted + 1;
    while ((place = strstr(head, "runtime error: ")) != NULL) { /* each is of one line */
        while (place > head && place[-1] != '\n')
            place--;
        head = strchr(place, '\n') ? strchr(place, '\n') : place + strlen(place);
        for (; place + length < head; place++)
            if (strncmp(place, wanted, (size_t)length) == 0 && atoi(place + length) >= first &&
                atoi(place + length) <= last)
                return 1;
    }
    head = strstr(harness_report, "Sanitizer: ");
    for (place = head; place != NULL && *place != 0; place++)
        if (place - harness_report >= length &&
            strncmp(place - length, wanted, (size_t)length) == 0)
            return atoi(place) >= first && atoi(place) <= last;
    return 0;
}

/* Waits for a child, and prints its case when it is wanted; returns 0 when no more need be run. */
HARNESS_BARE static int harness_ended(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) < 0)
        return 0;
    harness_hear(0);
    if (WIFEXITED(status) ? WEXITSTATUS(status) == HARNESS_REPORTED : WTERMSIG(status) != SIGABRT)
        harness_bad++;
    if (WIFEXITED(status) && WEXITSTATUS(status) == HARNESS_FOUND ? 1 : harness_is_wanted()) {
        printf("HARNESS: case ");
        for (unsigned i = 0; i < harness_all->now.size; i++)
            printf("%02x", harness_all->now.data[i]);
        putchar('\n');
        harness_found++;
    }
    fflush(stdout);
    return harness_bad < HARNESS_FAILURES && harness_found < HARNESS_ENOUGH;
}

/* Returns 0 in a child process, whose reports are heard, else its number. */
HARNESS_BARE static pid_t harness_child(void)
{
    pid_t child;
    fflush(stdout);
    if (ftruncate(harness_heard, 0) != 0 || (child = fork()) < 0)
        _exit(95);
    if (child == 0) {
        if (dup2(harness_heard, 2) < 0 || freopen("/dev/null", "r", stdin) == NULL ||
            freopen("/dev/null", "w", stdout) == NULL)
            _exit(95);
        alarm(HARNESS_SECONDS);
    }
    return child;
}

HARNESS_BARE static unsigned harness_load(FILE *file, struct harness_entry *entry)
{
    int low = fgetc(file), high = fgetc(file);
    if (high == EOF)
        return 0;
    entry->size = (unsigned)low | (unsigned)high << 8;
    if (entry->size > HARNESS_MOST)
        return 0;
    return fread(entry->data, 1, entry->size, file) == entry->size;
}

HARNESS_BARE static int harness_table(const char *name)
{
    FILE *file = fopen(name, "rb");
    int more = 1;
    if (file == NULL)
        return 95;
    while (more && harness_load(file, &harness_all->now)) {
        pid_t child = harness_child();
        if (child == 0) {
            harness_run(harness_all->now.data, harness_all->now.size);
            _exit(0);
        }
        harness_all->runs++;
        more = harness_ended(child);
    }
    fclose(file);
    return 0;
}

/* Reports what the function has lost. What it is called for once may be lost by a second call. */
HARNESS_BARE static void harness_tell_leaks(void)
{
#ifdef HARNESS_TWICE
    if (jsec_tell_lost != NULL)
        jsec_tell_lost();
    return;
#endif
    if (jsec_tell_leaks != NULL)
        jsec_tell_leaks();
    if (__lsan_do_recoverable_leak_check != NULL)
        __lsan_do_recoverable_leak_check();
}

/* Tells whether what is said of leaks names a wanted line; what is said of calls that failed comes
   before. */
HARNESS_BARE static int harness_is_named(void)
{
    const char *wanted = getenv("HARNESS_WANTED"), *colon = wanted ? strchr(wanted, ':') : NULL;
    const char *opened = strstr(harness_report, "JSEC: leaked ");
    const char *lost = strstr(harness_report, "JSEC: lost ");
    const char *place = opened ? opened : lost ? lost : strstr(harness_report, "leak of ");
    int first, last;
    if (place == NULL || colon == NULL || sscanf(colon, ":%d:%d", &first, &last) != 2)
        return 0;
    for (; *place != 0; place++)
        if (strncmp(place, wanted, (size_t)(colon - wanted) + 1) == 0) {
            int line = atoi(place + (colon - wanted) + 1);
            if (line >= first && line <= last)
                return 1;
        }
    return 0;
}

/* Runs an input in a child in which a call fails, if any; returns 0 when no more need be run. */
HARNESS_BARE static int harness_failing(unsigned failing, int leaks)
{
    int status = 0, wanted;
    pid_t child = harness_child();
    if (child == 0) {
        if (jsec_fail != NULL)
            jsec_fail(failing ? (long)failing : 1000000L);
        harness_run(harness_all->now.data, harness_all->now.size);
        if (failing == 0 && jsec_counted != NULL)
            harness_all->fallible = (unsigned)jsec_counted();
        if (leaks)
            harness_tell_leaks();
        _exit(0);
    }
    harness_all->runs++;
    if (waitpid(child, &status, 0) < 0)
        return 0;
    harness_hear(0);
    wanted = leaks ? WIFEXITED(status) && WEXITSTATUS(status) == 0 && harness_is_named()
                   : harness_is_wanted();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        harness_bad++;
    if (wanted) {
        printf("HARNESS: case ");
        for (unsigned i = 0; i < harness_all->now.size; i++)
            printf("%02x", harness_all->now.data[i]);
        printf(" %u\n", failing);
        harness_found++;
    }
    fflush(stdout);
    return harness_found < HARNESS_ENOUGH;
}

HARNESS_BARE static int harness_calls_fail(const char *name, int leaks)
{
    FILE *file = fopen(name, "rb");
    int more = 1, marked = !leaks && getenv("HARNESS_MARKED") != NULL;
    unsigned most = leaks ? HARNESS_LEAKS : HARNESS_SEEDS, failed = 0;
    if (file == NULL)
        return 95;
    while (more && most-- != 0 && harness_load(file, &harness_all->now)) {
        unsigned reached = harness_all->reached;
        harness_all->fallible = 0;
        more = harness_failing(0, leaks);
        if (failed == HARNESS_FAILING || (marked && harness_all->reached == reached))
            continue;
        failed++;
        for (unsigned i = 1; more && i <= HARNESS_CALLS && i <= harness_all->fallible; i++)
            more = harness_failing(i, leaks);
    }
    fclose(file);
    return 0;
}

static uint64_t harness_state = 88172645463325252u;

HARNESS_BARE static unsigned harness_draw(unsigned below)
{
    harness_state ^= harness_state << 13;
    harness_state ^= harness_state >> 7;
    harness_state ^= harness_state << 17;
    return below ? (unsigned)((harness_state >> 11) % below) : 0;
}

/* Changes an input in one to four places; the bytes of `harness_nulls` never become 1. */
HARNESS_BARE static void harness_change(struct harness_entry *entry)
{
    unsigned times = 1u << harness_draw(3);
    unsigned most = harness_choices + 64 < HARNESS_MOST ? harness_choices + 64 : HARNESS_MOST;
    if (entry->size < most && harness_draw(2)) {
        memset(entry->data + entry->size, 0, most - entry->size);
        entry->size = most;
    }
    while (entry->size != 0 && times-- != 0) {
        unsigned at = harness_draw(entry->size);
        switch (harness_draw(8)) {
        case 0:
            entry->data[at] = (unsigned char)harness_draw(256);
            break;
        case 1:
            entry->data[at] = (unsigned char)harness_draw(12);
            break;
        case 2:
            entry->data[at] ^= (unsigned char)(1u << harness_draw(8));
            break;
        case 3:
            if (harness_all->compared != 0 && harness_numbers != 0) {
                unsigned most_known = harness_all->compared < 256 ? harness_all->compared : 256;
                uint64_t value = harness_all->operands[harness_draw(most_known)];
                value += harness_draw(3);
                value -= 1;
                at = harness_number_at[harness_draw(harness_numbers)];
                value -= (uint64_t)harness_low_of(at);
                if (at + 9 <= entry->size) {
                    entry->data[at] = 255;
                    for (unsigned i = 0; i < 8; i++)
                        entry->data[at + 1 + i] = (unsigned char)(value >> (56 - 8 * i));
                }
            }
            break;
        case 4:
            if (harness_all->compared != 0 && entry->size > harness_choices) {
                unsigned most_known = harness_all->compared < 256 ? harness_all->compared : 256;
                unsigned known = harness_draw(most_known), room = entry->size - harness_choices;
                uint64_t value = harness_all->operands[known];
                unsigned width = harness_all->widths[known];
                at = harness_choices + harness_draw(room > 8 && harness_draw(2) ? 8 : room);
                for (unsigned i = 0; i < width && at + i < entry->size; i++)
                    entry->data[at + i] = (unsigned char)(value >> (8 * i));
            }
            break;
        case 5: /* a number of the function, of one to eight bytes, or one of its words */
        case 6:
            if (entry->size > harness_choices) {
                unsigned room = entry->size - harness_choices, width = 1u << harness_draw(4);
                unsigned known = sizeof harness_known / sizeof *harness_known;
                uint64_t value = (uint64_t)harness_known[harness_draw(known)];
                int upwards = harness_draw(2) != 0;
                at = harness_choices + harness_draw(room > 16 && harness_draw(2) ? 16 : room);
                if (harness_draw(4) == 0) {
                    const char *word = harness_words[harness_draw(harness_told)];
                    for (unsigned i = 0; word[i] != 0 && at + i < entry->size; i++)
                        entry->data[at + i] = (unsigned char)word[i];
                } else
                    for (unsigned i = 0; i < width && at + i < entry->size; i++)
                        entry->data[at + i] =
                            (unsigned char)(value >> 8 * (upwards ? i : width - 1 - i));
            }
            break;
        default:
            if (harness_all->entries != 0) {
                struct harness_entry *other = &harness_all->corpus[harness_draw(harness_all->entries)];
                if (at < other->size) {
                    unsigned length = 1 + harness_draw(16);
                    for (unsigned i = at; i < at + length && i < other->size && i < entry->size; i++)
                        entry->data[i] = other->data[i];
                }
            }
        }
    }
    for (unsigned i = 0; i < harness_pointers; i++)
        if (harness_pointer_at[i] < entry->size && entry->data[harness_pointer_at[i]] == 1)
            entry->data[harness_pointer_at[i]] = 0;
}

HARNESS_BARE static int harness_is_new(void)
{
    int found = 0;
    for (unsigned i = 0; i < sizeof harness_counts; i++) {
        unsigned char count, bit;
        uint64_t eight = 1;
        if (i % 8 == 0)
            memcpy(&eight, harness_counts + i, 8);
        if (eight == 0)
            i += 7;
        if (eight == 0 || (count = harness_counts[i]) == 0)
            continue;
        bit = count < 2 ? 1 : count < 4 ? 2 : count < 16 ? 4 : count < 64 ? 8 : 16;
        found |= (harness_all->seen[i] & bit) == 0;
        harness_all->seen[i] |= bit;
        harness_counts[i] = 0;
    }
    harness_before = 0;
    return found;
}

HARNESS_BARE static double harness_time(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + (double)now.tv_usec / 1e6;
}

/* Runs an input, and ends the process when what is wanted was reported; gives how much was
   reported so far. */
HARNESS_BARE static off_t harness_try(const struct harness_entry *now, off_t heard)
{
    harness_all->runs++;
    harness_run(now->data, now->size);
    if (lseek(harness_heard, 0, SEEK_END) > heard) {
        heard = harness_hear(heard);
        if (harness_is_wanted())
            _exit(HARNESS_FOUND);
    }
    return heard;
}

/* Runs a number of changed inputs in this process, and ends it. */
HARNESS_BARE static void harness_round(unsigned number)
{
    struct harness_entry *now = &harness_all->now;
    off_t heard = 0;
    harness_state = 88172645463325252u + 2654435769u * (uint64_t)(number + 1);
    for (unsigned i = 0; i < 200; i++) {
        if (harness_all->tried < harness_all->seeds)
            *now = harness_all->seed[harness_all->tried++];
        else {
            if (harness_all->entries != 0) { /* half of the time one of the newest */
                unsigned all = harness_all->entries, newest = all < 4 || harness_draw(2) ? all : 4;
                *now = harness_all->corpus[all - 1 - harness_draw(newest)];
            }
            harness_change(now);
        }
        alarm(HARNESS_SECONDS);
        heard = harness_try(now, heard);
        if (harness_is_new() && harness_all->entries < HARNESS_CORPUS)
            harness_all->corpus[harness_all->entries++] = *now;
    }
    _exit(0);
}

#if !defined(HARNESS_FUZZER)
HARNESS_BARE static void harness_lead(double left, unsigned number, unsigned most)
{
    (void)left, (void)most;
    harness_round(number);
}
#else
#define HARNESS_FOLDER "jsec-corpus"

static int *harness_argc;
static char ***harness_argv;

#ifdef __cplusplus
extern "C" {
#endif
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *count, char ***words);
#ifdef __cplusplus
}
#endif

/* Half of the changes are ours, which know what the bytes of an input are. */
HARNESS_BARE size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static struct harness_entry entry;
    if (seed % 2 != 0)
        size = LLVMFuzzerMutate(data, size, most);
    else {
        entry.size = (unsigned)(size < HARNESS_MOST ? size : HARNESS_MOST);
        memcpy(entry.data, data, entry.size);
        harness_state = 88172645463325252u + 2654435769u * (uint64_t)seed;
        harness_change(&entry);
        size = entry.size < most ? entry.size : most;
        memcpy(data, entry.data, size);
    }
    for (unsigned i = 0; i < harness_pointers; i++)
        if (harness_pointer_at[i] < size && data[harness_pointer_at[i]] == 1)
            data[harness_pointer_at[i]] = 0;
    return size;
}

HARNESS_BARE int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static off_t heard;
    struct harness_entry *now = &harness_all->now;
    if (size > HARNESS_MOST)
        return 0;
    now->size = (unsigned)size;
    memcpy(now->data, data, size);
    heard = harness_try(now, heard);
    return 0;
}

/* Writes an input for libFuzzer, or takes away one that ended a process: it would end the next. */
HARNESS_BARE static void harness_give(const struct harness_entry *entry, unsigned number)
{
    char name[64];
    FILE *file;
    snprintf(name, sizeof name, HARNESS_FOLDER "/%u", number);
    if (entry == NULL) {
        unlink(name);
        return;
    }
    file = fopen(name, "wb");
    if (file == NULL || fwrite(entry->data, 1, entry->size, file) != entry->size ||
        fclose(file) != 0)
        _exit(95);
}

/* Hands a process over to libFuzzer: it goes on with these words when `LLVMFuzzerInitialize` has
   returned. */
HARNESS_BARE static void harness_lead(double left, unsigned number, unsigned most)
{
    static char told[4][48], *words[16];
    static char given[10][24] = {HARNESS_FOLDER,     "-verbosity=0",   "-timeout=2",
                                 "-detect_leaks=0",  "-rss_limit_mb=0", "-handle_abrt=0",
                                 "-error_exitcode=76", "-len_control=0", "-use_value_profile=1",
                                 "-reload=0"};
    unsigned at = 0, longest = harness_choices + 256;
    snprintf(told[0], sizeof told[0], "-max_total_time=%d", left < 1 ? 1 : (int)(left + 0.5));
    snprintf(told[1], sizeof told[1], "-runs=%u", most - harness_all->runs);
    snprintf(told[2], sizeof told[2], "-seed=%u", number + 1);
    snprintf(told[3], sizeof told[3], "-max_len=%u", longest < HARNESS_MOST ? longest : HARNESS_MOST);
    words[at++] = **harness_argv; /* it insists on this one */
    for (unsigned i = 0; i < sizeof given / sizeof *given; i++)
        words[at++] = given[i];
    for (unsigned i = 0; i < sizeof told / sizeof *told; i++)
        words[at++] = told[i];
    *harness_argc = (int)at;
    *harness_argv = words;
}
#endif

/* Returns -1 in a process that libFuzzer goes on in. */
HARNESS_BARE static int harness_explore(double seconds, const char *name, unsigned most)
{
    FILE *file = fopen(name, "rb");
    double until = harness_time() + seconds;
    int more = 1;
    if (file == NULL)
        return 95;
    while (harness_all->seeds < HARNESS_SEEDS &&
           harness_load(file, &harness_all->seed[harness_all->seeds]))
        harness_all->seeds++;
    if (harness_all->seeds != 0)
        harness_all->corpus[harness_all->entries++] = harness_all->seed[0];
    fclose(file);
#if defined(HARNESS_FUZZER)
    mkdir(HARNESS_FOLDER, 0700);
    for (unsigned i = 0; i < harness_all->seeds; i++)
        harness_give(&harness_all->seed[i], i);
#endif
    for (unsigned number = 0; more && harness_all->runs < most; number++) {
        pid_t child;
        double now = harness_time();
        if (now > until)
            break;
        child = harness_child();
        if (child == 0) {
            harness_lead(until - now, number, most);
            return -1;
        }
        more = harness_ended(child);
#if defined(HARNESS_FUZZER)
        for (unsigned i = 0; i < harness_all->seeds; i++) {
            const struct harness_entry *seed = &harness_all->seed[i], *last = &harness_all->now;
            if (seed->size == last->size && memcmp(seed->data, last->data, last->size) == 0)
                harness_give(NULL, i);
        }
#endif
    }
    return 0;
}

/* Returns the exit status, or -1 as `harness_explore` does. */
HARNESS_BARE static int harness_main(int count, char **words)
{
    static unsigned char input[HARNESS_MOST];
    FILE *heard = tmpfile();
    int status = 0;
    harness_leave();
    if (heard == NULL || fcntl(fileno(heard), F_SETFL, O_APPEND) != 0)
        return 95;
    harness_heard = fileno(heard);
    harness_all = (struct harness_shared *)mmap(NULL, sizeof *harness_all, PROT_READ | PROT_WRITE,
                                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (harness_all == MAP_FAILED)
        return 95;
    if (count > 2 && strcmp(words[1], "table") == 0)
        status = harness_table(words[2]);
    else if (count > 2 && strcmp(words[1], "leaks") == 0)
        status = harness_calls_fail(words[2], 1);
    else if (count > 2 && strcmp(words[1], "failing") == 0)
        status = harness_calls_fail(words[2], 0);
    else if (count > 4 && strcmp(words[1], "explore") == 0)
        status = harness_explore(atof(words[2]), words[3], (unsigned)atoi(words[4]));
    else {
        size_t size = fread(input, 1, sizeof input, stdin);
        harness_aloud = 1;
        harness_run(input, (unsigned)size);
        harness_tell_leaks();
        return 0;
    }
    if (status >= 0)
        printf("HARNESS: runs %u %u %u\n", harness_all->runs, harness_bad, harness_all->reached);
    return status;
}

#if defined(HARNESS_FUZZER)
HARNESS_BARE int LLVMFuzzerInitialize(int *count, char ***words)
{
    int status;
    harness_argc = count;
    harness_argv = words;
    status = harness_main(*count, *words);
    if (status >= 0)
        exit(status);
    return 0;
}
#else
HARNESS_BARE int main(int count, char **words)
{
    return harness_main(count, words);
}
#endif


#include <stdlib.h>
#include <string.h>
#include <pthread.h>
void show(float n);
typedef struct { int kind; } value;
typedef struct { float r, i; } complex_t;
const value *looked_up(const value *t, int k);
#define is_table(t) ((t)->kind == 5)
#define fast_get(t,k,slot,f) \
  (!is_table(t)  \
   ? (slot = NULL, 0)  /* not a table; 'slot' is NULL and result is 0 */  \
   : (slot = f(t, k),  /* else, do raw access */  \
      slot->kind != 0))  /* result not empty? */
int taken(value *t, int k) {
    const value *slot;
    if (fast_get(t, k, slot, looked_up)) return slot->kind;
    return 0;
}
#define ADD(res, a, b) do { CHECKED((a).r,+,(b).r) (res).r = (a).r + (b).r; } while (0)
void added(complex_t *x) { complex_t room[5]; ADD(room[3], x[0], x[1]); show(room[3].r); }

static const struct name { char text[10]; int number; } names[] = {
    {"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}, {"e", 5}, {"f", 6}, {"g", 7}, {"h", 8}, {"i", 9},
    {"j", 1}, {"k", 2}, {"l", 3}, {"m", 4}, {"n", 5}, {"o", 6}, {"p", 7}, {"q", 8}, {"r", 9},
};
int found(int n) {
    const struct name *one, *end = names + sizeof(names) / sizeof(names[0]);
    for (one = names; one < end; one++) if (one->number == n) return one->text[0];
    return 0;
}
int found_beyond(int n) {
    const struct name *one, *end = names + sizeof(names) / sizeof(names[0]);
    for (one = names; one <= end; one++)
        if (one->number == n) // expect: buffer-read-over
            return 1;
    return 0;
}

void copied(char *to) {
    const static char start[] = "ERROR ";
    const static int length = sizeof(start) - 1;
    memcpy(to, start, length);
}
void copied_too_much(char *to) {
    const static char start[] = "ERROR ";
    const static int length = sizeof(start) + 1;
    memcpy(to, start, length); // expect: buffer-read-over
}

#ifdef LARGE
#define ROOM 10
#endif
#ifndef LARGE
#define ROOM 9
#endif
int in_one_build(void) { int all[ROOM] = {0}; return all[9]; }

#if defined(CHECKED)
__attribute__((noreturn))
void fatal(const char *why);
#define my_assert(cond) {if (!(cond)) {fatal("failed: " #cond);}}
#else
#define my_assert(cond)
#endif
int asserted(int length) {
    static const short table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int k;
    my_assert(length >= 16 && length < 48);
    k = (length >> 2) - 4;
    my_assert(k >= 0);
    return table[k];
}

struct event;
struct ring { int head; };
int in_unseen_records(int n) {
    int one_page = 4096 / sizeof(struct event);
    int first_page = (4096 - sizeof(struct ring)) / sizeof(struct event);
    return n / one_page * one_page + first_page;
}

int exponent(float x) {
    union { float f; unsigned int i; } in;
    in.f = x;
    return (in.i >> 23) - 127;
}
int of_one(void) { return exponent(0.5f); }

struct list { char *items; size_t size, count; };
int append(struct list *l, void *item) {
    memcpy(l->items + l->count * l->size, item, l->size);
    l->count++;
    return 1;
}
void kept_as_bytes(struct list *l, const char *t) {
    char *s = strdup(t);
    if (!s) return;
    if (!append(l, &s)) { free(s); return; }
    l->count += 2;
}

struct guarded { pthread_mutex_t guard; pthread_rwlock_t lock; int ready; };
int make_ready(struct guarded *g);
int locked_for_reading(struct guarded *g) {
    if (!g->ready) {
        int failed = pthread_mutex_lock(&g->guard);
        if (failed) return failed;
        make_ready(g);
        failed = pthread_mutex_unlock(&g->guard);
        if (failed) return failed;
    }
    return pthread_rwlock_rdlock(&g->lock);
}

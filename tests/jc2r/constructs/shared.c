#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <pthread.h>
static volatile int flag; static volatile unsigned char port[4]; struct device { volatile unsigned status : 3, mode : 5; volatile short data; };
static atomic_int hits; static _Atomic long total; static _Atomic(char *) where; static atomic_bool ready; static atomic_flag once = ATOMIC_FLAG_INIT;
static _Thread_local int mine = 5; static int old_style; static long plain;
static void *work(void *given) { static __thread int calls; for (int i = 0; i < 1000; i++) { hits++; atomic_fetch_add(&total, 2);
        __sync_fetch_and_add(&plain, 1); __atomic_add_fetch(&old_style, 3, __ATOMIC_RELAXED); mine++; calls++; }
    *(int *)given = mine + calls; return 0; }
int main(void) {
    flag = 3; flag += 4; flag++; int seen = flag--; port[1] = 200; port[1] += 100; port[2] = port[1] << 1;
    struct device d = {0}; d.status = 9; d.mode = 17; d.data = -4; d.data *= 3; volatile struct device *at = &d; at->mode++; at->data -= 1;
    printf("%d %d %d %d %u %u %d\n", flag, seen, port[1], port[2], d.status, d.mode, at->data);
    pthread_t threads[2]; int got[2]; for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, &got[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    printf("%d %ld %ld %d %d %d %d\n", atomic_load(&hits), total, plain, old_style, got[0], got[1], mine);
    int expected = 5; bool changed = atomic_compare_exchange_strong(&hits, &expected, 9); printf("%d %d\n", changed, expected);
    changed = atomic_compare_exchange_strong(&hits, &expected, 9); printf("%d %d %d\n", changed, hits, atomic_exchange(&hits, -1));
    where = "name"; where++; printf("%s %d\n", where, (int)*where); atomic_store(&ready, true); ready ^= 1; printf("%d\n", ready);
    printf("%d %d\n", atomic_flag_test_and_set(&once), atomic_flag_test_and_set(&once)); hits |= 6; hits <<= 1; printf("%d\n", hits);
    long v = 4; printf("%d %ld\n", __sync_bool_compare_and_swap(&v, 4, 7), __sync_val_compare_and_swap(&v, 7, 8)); __sync_synchronize();
    printf("%ld %ld %ld\n", v, __atomic_fetch_or(&v, 16, 5), __atomic_exchange_n(&v, 2, 5)); atomic_thread_fence(memory_order_seq_cst);
    return 0;
}

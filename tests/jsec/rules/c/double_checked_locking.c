#include <pthread.h>
#include <stdlib.h>

static char *table;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

char *get_table(void) {
    if (!table) { // expect: double-checked-locking
        pthread_mutex_lock(&table_lock);
        table = malloc(100);
        pthread_mutex_unlock(&table_lock);
    }
    return table;
}

char *get_table_locked(void) {
    pthread_mutex_lock(&table_lock);
    if (!table) // ok
        table = malloc(100);
    pthread_mutex_unlock(&table_lock);
    return table;
}

void released_in_a_branch(int full) {
    pthread_mutex_lock(&table_lock);
    if (full) {
        pthread_mutex_unlock(&table_lock);
        return;
    }
    if (!table) // ok
        table = malloc(100);
    pthread_mutex_unlock(&table_lock);
}

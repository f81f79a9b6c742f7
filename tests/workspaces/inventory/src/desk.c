#include "inventory.h"
#include "platform.h"

#include <unistd.h>

#define DESKS 2

static void *serve(void *argument)
{
    struct store *store = argument;
    int round;

    for (round = 0; round < 10; round++) {
        pthread_mutex_lock(&store->lock);
        if (store->count > 0) {
            store->articles[0].quantity--;
            store->changed = 1;
            pthread_cond_signal(&store->news);
        }
        pthread_mutex_unlock(&store->lock);
        usleep(1000);
    }
    return NULL;
}

int desk_start(struct store *store)
{
    pthread_t desks[DESKS];
    size_t i;

    for (i = 0; i < ARRAY_LENGTH(desks); i++)
        pthread_create(&desks[i], NULL, serve, store);
    for (i = 0; i < ARRAY_LENGTH(desks); i++) {
        if (pthread_join(desks[i], NULL) != 0)
            return -1;
    }
    return 0;
}

int desk_wait(struct store *store)
{
    int quantity;

    if (pthread_mutex_lock(&store->lock) != 0)
        return -1;
    if (!store->changed)
        pthread_cond_wait(&store->news, &store->lock);
    quantity = store->count > 0 ? store->articles[0].quantity : 0;
    pthread_mutex_unlock(&store->lock);
    return quantity;
}

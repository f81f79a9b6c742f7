#include "inventory.h"

#include <stdlib.h>
#include <string.h>

static int grow(struct store *store)
{
    size_t capacity = store->capacity ? store->capacity * 2 : 16;

    store->articles = realloc(store->articles, capacity * sizeof(struct article));
    if (store->articles == NULL)
        return -1;
    store->capacity = capacity;
    return 0;
}

static int read_line(struct store *store, char *line)
{
    char *position = NULL;
    char *name = strtok_r(line, ";", &position);
    char *quantity = strtok_r(NULL, ";", &position);
    char *price = strtok_r(NULL, ";", &position);
    char *note = strtok_r(NULL, "\n", &position);

    if (name == NULL || quantity == NULL || price == NULL)
        return -1;
    return store_add(store, name, atoi(quantity), strtol(price, NULL, 10), note ? note : "");
}

struct store *store_open(const char *path)
{
    char line[NAME_LENGTH + NOTE_LENGTH + 64];
    struct store *store = calloc(1, sizeof *store);
    FILE *file;

    if (store == NULL)
        return NULL;
    pthread_mutex_init(&store->lock, NULL);
    pthread_cond_init(&store->news, NULL);
    file = fopen(path, "r");
    if (file == NULL)
        return store;
    while (fgets(line, sizeof line, file) != NULL) {
        if (read_line(store, line) != 0)
            fprintf(stderr, "%s: a line was skipped\n", path);
    }
    fclose(file);
    return store;
}

int store_save(struct store *store, const char *path)
{
    FILE *file = fopen(path, "w");
    size_t i;

    if (file == NULL)
        return -1;
    for (i = 0; i < store->count; i++) {
        const struct article *article = &store->articles[i];

        fprintf(file, "%s;%d;%ld;%s\n", article->name, article->quantity, article->price,
                article->note);
    }
    store->changed = 0;
    return fclose(file);
}

struct article *store_find(struct store *store, const char *name)
{
    size_t i;

    for (i = 0; i < store->count; i++) {
        if (strcmp(store->articles[i].name, name) == 0)
            return &store->articles[i];
    }
    return NULL;
}

int store_add(struct store *store, const char *name, int quantity, long price, const char *note)
{
    struct article *article;

    if (store->count == store->capacity && grow(store) != 0)
        return -1;
    article = &store->articles[store->count];
    strcpy(article->name, name);
    article->quantity = quantity;
    article->price = price;
    article->note = malloc(strlen(note) + 1);
    memcpy(article->note, note, strlen(note) + 1);
    store->count++;
    store->changed = 1;
    return 0;
}

int store_remove(struct store *store, const char *name)
{
    struct article *article = store_find(store, name);

    if (article == NULL)
        return -1;
    free(article->note);
    printf("removed %s (%s)\n", article->name, article->note);
    *article = store->articles[--store->count];
    store->changed = 1;
    return 0;
}

void store_close(struct store *store)
{
    size_t i;

    if (store == NULL)
        return;
    for (i = 0; i < store->count; i++)
        free(store->articles[i].note);
    free(store->articles);
    pthread_cond_destroy(&store->news);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

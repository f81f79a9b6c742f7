#include <stdlib.h>
#include <string.h>

struct list {
    int *items;
    size_t used;
    size_t capacity;
};

int add_all(struct list *list, const int *items, size_t count) {
    if (list->used + count > list->capacity) {
        list->capacity += 128; // expect: capacity-grown-once
        list->items = realloc(list->items, list->capacity * sizeof(int));
    }
    memcpy(list->items + list->used, items, count * sizeof(int));
    return 0;
}

int add_all_with_room(struct list *list, const int *items, size_t count) {
    if (list->used + count > list->capacity) {
        list->capacity = list->used + count + 128; // ok
        list->items = realloc(list->items, list->capacity * sizeof(int));
    }
    memcpy(list->items + list->used, items, count * sizeof(int));
    return 0;
}

int add(struct list *list, int item) {
    if (list->used + 1 > list->capacity) {
        list->capacity += 128; // ok
        list->items = realloc(list->items, list->capacity * sizeof(int));
    }
    list->items[list->used++] = item;
    return 0;
}

int add_through_local(struct list *list, const int *items, size_t count) {
    if (list->used + count >= list->capacity) {
        size_t size;
        size = list->capacity + 128; // expect: capacity-grown-once
        list->items = realloc(list->items, size * sizeof(int));
        list->capacity = size;
    }
    memcpy(list->items + list->used, items, count * sizeof(int));
    return 0;
}

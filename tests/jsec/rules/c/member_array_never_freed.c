#include <stdlib.h>

struct name {
    char *text;
};

struct list {
    size_t count;
    struct name *names;
    struct name fixed[4];
};

void list_free(struct list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i].text);
    free(list); // expect: member-array-never-freed
}

void list_free_all(struct list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i].text);
    free(list->names);
    free(list); // ok
}

void fixed_free(struct list *list) {
    for (size_t i = 0; i < 4; i++)
        free(list->fixed[i].text);
    free(list); // ok
}

void names_free(struct name *names);

void list_free_by_other(struct list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i].text);
    names_free(list->names);
    free(list); // ok
}

#include <stddef.h>

struct node {
    struct node *next;
    int key;
    int value;
};

struct node *find(struct node *list, int key) {
    for (; list; list = list->next)
        if (list->key == key)
            return list;
    return NULL;
}

struct node *last(struct node *list) {
    while (list->next)
        list = list->next;
    return list;
}

int value_of(struct node *list) {
    return find(list, 3)->value; // expect: search-result-dereferenced
}

int value_through_variable(struct node *list) {
    struct node *found = find(list, 3);
    return found->value; // expect: search-result-dereferenced
}

int value_tested(struct node *list) {
    struct node *found = find(list, 3);
    if (found == NULL)
        return -1;
    return found->value; // ok
}

int value_of_last(struct node *list) {
    return last(list)->value; // ok
}

struct node *passed_on(struct node *list) {
    return find(list, 4); // ok
}

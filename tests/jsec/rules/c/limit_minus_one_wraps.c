struct list {
    unsigned int count;
    int used;
    const char **entries;
};

const char *entry(const struct list *list, unsigned int index) {
    if (index > list->count - 1) // expect: limit-minus-one-wraps
        return 0;
    return list->entries[index];
}

const char *entry_below(const struct list *list, unsigned int index) {
    if (index >= list->count) // ok
        return 0;
    return list->entries[index];
}

const char *entry_of_some(const struct list *list, unsigned int index) {
    if (list->count == 0)
        return 0;
    if (index > list->count - 1) // ok
        return 0;
    return list->entries[index];
}

const char *entry_used(const struct list *list, int index) {
    if (index > list->used - 1) // ok
        return 0;
    return list->entries[index];
}

const char *entry_signed(const struct list *list, int index) {
    if (index > (int)(list->count - 1)) // ok
        return 0;
    return list->entries[index];
}

int all(const struct list *list) {
    int found = 0;
    for (unsigned int i = 0; i <= list->count - 1; i++) // expect: limit-minus-one-wraps
        found += list->entries[i] != 0;
    return found;
}

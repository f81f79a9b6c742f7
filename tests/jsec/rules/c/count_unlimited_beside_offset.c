#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct view {
    unsigned char *data;
    size_t size;
};

int is_inside(const struct view *view, uint32_t offset, uint32_t count);
int read_u32(const struct view *view, uint32_t *value);

unsigned char *part(const struct view *view, uint32_t offset, uint32_t count) {
    if (offset >= view->size)
        return NULL;
    unsigned char *copy = malloc((size_t)count + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, view->data + offset, count); // expect: count-unlimited-beside-offset
    copy[count] = 0;
    return copy;
}

unsigned char *part_with_minimum(const struct view *view, uint32_t offset, uint32_t count) {
    unsigned char *copy = NULL;
    if (count > 4) {
        if (offset >= view->size)
            return NULL;
        copy = malloc(count);
        if (copy != NULL)
            memcpy(copy, view->data + offset, count); // expect: count-unlimited-beside-offset
    }
    return copy;
}

unsigned char *part_checked(const struct view *view, uint32_t offset, uint32_t count) {
    if (offset >= view->size || count > view->size - offset)
        return NULL;
    unsigned char *copy = malloc((size_t)count + 1);
    if (copy != NULL)
        memcpy(copy, view->data + offset, count); // ok
    return copy;
}

unsigned char *part_asked(const struct view *view, uint32_t offset, uint32_t count) {
    if (offset >= view->size || !is_inside(view, offset, count))
        return NULL;
    unsigned char *copy = malloc(count);
    if (copy != NULL)
        memcpy(copy, view->data + offset, count); // ok
    return copy;
}

int read_part(const struct view *view, unsigned char *target, uint32_t offset) {
    uint32_t count;
    if (!read_u32(view, &count) || offset > view->size)
        return -1;
    memcpy(target, view->data + offset, count); // expect: count-unlimited-beside-offset
    return 0;
}

int copy_tail(const struct view *view, unsigned char *target, uint32_t offset) {
    if (offset > view->size)
        return -1;
    size_t count = view->size - offset;
    memcpy(target, view->data + offset, count); // ok
    return 0;
}

int copy_block(const struct view *view, unsigned char *target, uint32_t offset, uint32_t count) {
    if (count > 64)
        return -1;
    if (offset > view->size)
        return -1;
    memcpy(target, view->data + offset, count); // ok
    return 0;
}

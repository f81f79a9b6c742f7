#include <stdint.h>
#include <stdlib.h>

struct image {
    int width;
    int height;
    size_t stride;
};

void *pixels(int width, int height) {
    int size = width * height; // expect: int-product-sizes-memory
    return malloc(size);
}

void *pixels_in_sum(const struct image *image) {
    return malloc(image->width * image->height + 16); // expect: int-product-sizes-memory
}

void *pixels_wide(int width, int height) {
    return malloc((size_t)width * height); // ok
}

void *pixels_stride(const struct image *image) {
    return malloc(image->stride * image->height); // ok
}

void *pixels_limited(int width, int height) {
    if (width > 4096 || height > 4096)
        return NULL;
    return malloc(width * height); // ok
}

int area(int width, int height) {
    return width * height; // ok
}

void *one_factor(int width) {
    return malloc(width * 4); // ok
}

#include <limits.h>
#include <stddef.h>

int area(int width, int height) {
    int size = width * height; // expect: overflow-tested-afterwards
    if (size < 0 || (width > 0 && size / width != height))
        return -1;
    return size;
}

int area_checked(int width, int height) {
    if (width != 0 && height > INT_MAX / width)
        return -1;
    int size = width * height; // ok
    return size;
}

size_t area_unsigned(size_t width, size_t height) {
    size_t size = width * height; // ok
    if (width > 0 && size / width != height)
        return 0;
    return size;
}

long area_wide(long width, long height) {
    if (width && width * height / width != height) // expect: overflow-tested-afterwards
        return -1;
    return width * height;
}

int is_multiple(int size, int width, int height) {
    return size / width == height; // ok
}

int rounded(int count, int by, int limit) {
    int size = count * by; // ok
    return size / limit == count;
}

unsigned volume(const unsigned *sides, unsigned count) {
    unsigned total = 1, side;
    for (; count > 0; count--) {
        side = sides[count - 1];
        if (side < 2)
            return 0;
        total *= side; // expect: overflow-tested-afterwards
        if (total > 0xffffffffu / side)
            return 0;
    }
    return total;
}

unsigned volume_tested(const unsigned *sides, unsigned count) {
    unsigned total = 1, side;
    for (; count > 0; count--) {
        side = sides[count - 1];
        if (side < 2)
            return 0;
        if (total > 0xffffffffu / side)
            return 0;
        total *= side; // ok
    }
    return total;
}

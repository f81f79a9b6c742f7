
#include <algorithm>
void past() {
    int source[100] = {0};
    int room[50];
    std::copy(source, source + 100, room); // expect: buffer-write-stack
}

void inside() {
    int source[100] = {0};
    int room[100];
    std::copy(source, source + 100, room);
    std::copy_n(source, 100, room);
    std::fill_n(room, 100, 7);
}

void filled() {
    int room[50];
    std::fill_n(room, 51, 7); // expect: buffer-write-stack
}

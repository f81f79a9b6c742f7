#include <stdio.h>
typedef int (*step)(void);
static int one(void) { return 1; }
static int two(void) { return 2; }
__attribute__((used, section("steps"))) static const step first = one;
static const step second __attribute__((__section__("steps"), __used__)) = two;
extern const step __start_steps[], __stop_steps[];
__attribute__((section(".data.hot"))) int hot = 3;
__attribute__((section(".text.cold"), noinline)) static int cold(int n) { return n * 5; }
__attribute__((section("keeps"))) int kept[4];
extern int __start_keeps[], __stop_keeps[];
int main(void) {
    int sum = 0;
    for (const step *at = __start_steps; at < __stop_steps; at++) sum += (*at)();
    kept[2] = 8;
    printf("%d %d %d\n", sum, hot, cold(2));
    printf("%d %d\n", (int)(__stop_keeps - __start_keeps), __start_keeps[2]);
    return 0;
}

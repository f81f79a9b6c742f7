#include <stdbool.h>

bool check(bool is_admin) {
    /* ‮ } ⁦ if (is_admin) */ // expect: invisible-unicode
    const char *text = "‭"; // expect: invisible-unicode
    int na​me = 1; // expect: invisible-unicode
    const char *plain = "你好"; // ok
    return is_admin && text && plain;
}

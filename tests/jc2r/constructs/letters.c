#include <stdio.h>
#include <uchar.h>
#include <wchar.h>
static const wchar_t *wide = L"w\u00e4rme \x4e2d" L"b"; static wchar_t room[12] = L"room"; static char16_t pair[] = u"a\U0001F600"; static char32_t one[] = U"\U0001F600!";
static char narrow[] = u8"\u00e4\0z"; static const char *many[] = {"a\tb", "\x41\102\"\\?\?=", "\a\b\f\v\033[0m", "split" " and" " joined"};
static unsigned char bytes[6] = "\xff\x80z"; static signed char exact[3] = "abc"; static char rest[300] = "start";
int main(void) {
    for (const wchar_t *w = wide; *w; w++) printf("%x ", (unsigned)*w); printf("%zu %d\n", wcslen(room), room[11]);
    for (unsigned i = 0; i < sizeof pair / sizeof *pair; i++) printf("%x ", pair[i]); printf("%x %x %zu\n", one[0], one[1], sizeof one);
    for (unsigned i = 0; i < sizeof narrow; i++) printf("%02x", narrow[i] & 255); putchar('\n');
    for (int i = 0; i < 4; i++) { for (const char *c = many[i]; *c; c++) printf("%d,", *c); putchar('\n'); }
    printf("%d %d %d %.3s %s %d %s\n", bytes[0], bytes[1], bytes[5], exact, rest, rest[299], __func__);
    wchar_t local[] = L"xyz"; local[1] = L'\u00e9'; char text[] = "text", *literal = &"address"[2]; printf("%x %c %s %d %zu\n", (unsigned)local[1], text[2], literal, L'a' + '\377', sizeof "four");
    puts("compiled by " __VERSION__);
    printf("%d %d %d\n", 'ab', '\'', '\0'); return wcscmp(local, L"xyz") != 0;
}

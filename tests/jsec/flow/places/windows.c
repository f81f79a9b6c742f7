#include <windows.h>

void late(void) {
    LPVOID p = HeapAlloc(GetProcessHeap(), 0, 16);
    if (p == NULL)
        return;
    HeapFree(GetProcessHeap(), 0, p);
    ((BYTE *)p)[0] = 1;  // expect: use-after-free
}

void in_time(void) {
    LPBYTE p = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, 16);
    if (p == NULL)
        return;
    p[15] = 1;
    HeapFree(GetProcessHeap(), 0, p);
}

void beyond(void) {
    LPBYTE p = LocalAlloc(LMEM_FIXED, 16);
    if (!p)
        return;
    p[16] = 1;  // expect: buffer-write-heap
    LocalFree(p);
}

void cleared(void) {
    DWORD b[4];
    ZeroMemory(b, 32);  // expect: buffer-write-stack
    show(b);
}

void cleared_within(void) {
    SYSTEMTIME t;
    ZeroMemory(&t, sizeof(t));
    show(&t);
}

void counted(void) {
    WORD b[4];
    DWORD i;
    for (i = 0; i < ARRAYSIZE(b); i++)
        b[i] = LOWORD(i);
    show(b);
}

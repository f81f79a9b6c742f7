"""What all cases use: small functions for output, flags in another file, random numbers."""

from __future__ import annotations

import re

HEADER = '#include "s.h"\n'

_H = """
#ifndef S_H
#define S_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <inttypes.h>
#include <limits.h>
#include <time.h>
#include <wchar.h>
#define @rand31() (((unsigned)rand() << 30) ^ ((unsigned)rand() << 15) ^ rand())
#define @rand32() ((int)(rand() & 1 ? @rand31() : -@rand31() - 1))
#define @rand63() (((uint64_t)@rand31() << 32) ^ (uint64_t)@rand31())
#define @rand64() ((int64_t)(rand() & 1 ? @rand63() : -@rand63() - 1))
typedef struct @pairtag
{
int @one;
int @two;
} @pair;
#ifdef __cplusplus
extern "C" {
#endif
void @say(const char *s);
void @wide(const wchar_t *s);
void @num(int n);
void @big(int64_t n);
void @size(size_t n);
void @unsigned(unsigned n);
void @char(char c);
void @real(double x);
void @showpair(const @pair *p);
typedef struct @threadtag *@thread;
typedef struct @locktag *@lock;
int @start(void (*f)(void *), void *p, @thread *t);
int @join(@thread t);
int @newlock(@lock *l);
void @acquire(@lock l);
void @release(@lock l);
void @droplock(@lock l);
int @true(void);
int @false(void);
int @either(void);
extern const int @yes;
extern const int @no;
extern const int @five;
extern int @on;
extern int @off;
#ifdef __cplusplus
}
#endif
#endif
"""

_C = """
#include "s.h"
#include <pthread.h>
struct @threadtag
{
pthread_t h;
void (*f)(void *);
void *p;
};
struct @locktag
{
pthread_mutex_t m;
};
static void *@enter(void *p)
{
@thread t = (@thread)p;
t->f(t->p);
return NULL;
}
int @start(void (*f)(void *), void *p, @thread *t)
{
@thread n = (@thread)malloc(sizeof(*n));
*t = NULL;
if (n == NULL)
{
return 0;
}
n->f = f;
n->p = p;
if (pthread_create(&n->h, NULL, @enter, n) != 0)
{
free(n);
return 0;
}
*t = n;
return 1;
}
int @join(@thread t)
{
if (pthread_join(t->h, NULL) != 0)
{
return 0;
}
free(t);
return 1;
}
int @newlock(@lock *l)
{
@lock n = (@lock)malloc(sizeof(*n));
*l = NULL;
if (n == NULL)
{
return 0;
}
if (pthread_mutex_init(&n->m, NULL) != 0)
{
free(n);
return 0;
}
*l = n;
return 1;
}
void @acquire(@lock l)
{
if (pthread_mutex_lock(&l->m) != 0)
{
abort();
}
}
void @release(@lock l)
{
if (pthread_mutex_unlock(&l->m) != 0)
{
abort();
}
}
void @droplock(@lock l)
{
pthread_mutex_destroy(&l->m);
free(l);
}
void @say(const char *s)
{
if (s != NULL)
{
printf("%s\\n", s);
}
}
void @wide(const wchar_t *s)
{
if (s != NULL)
{
wprintf(L"%ls\\n", s);
}
}
void @num(int n)
{
printf("%d\\n", n);
}
void @big(int64_t n)
{
printf("%" PRId64 "\\n", n);
}
void @size(size_t n)
{
printf("%zu\\n", n);
}
void @unsigned(unsigned n)
{
printf("%u\\n", n);
}
void @char(char c)
{
printf("%02x\\n", (unsigned char)c);
}
void @real(double x)
{
printf("%g\\n", x);
}
void @showpair(const @pair *p)
{
printf("%d -- %d\\n", p->@one, p->@two);
}
int @true(void)
{
return 1;
}
int @false(void)
{
return 0;
}
int @either(void)
{
return rand() % 2;
}
const int @yes = 1;
const int @no = 0;
const int @five = 5;
int @on = 1;
int @off = 0;
"""

_HEADERS = (
    (r"\bsocket\(", "sys/types.h sys/socket.h netinet/in.h arpa/inet.h"),
    (
        r"\b(?:close(?:socket)?|access|unlink|read|write|exec\w+|fork|dup|sleep|getentropy|geteuid|setuid|chdir)\(",
        "unistd.h",
    ),
    (r"\b(?:open|creat)\(|O_RD", "fcntl.h sys/stat.h"),
    (r"\b[lf]?stat\(", "sys/types.h sys/stat.h"),
    (r"\bpthread_", "pthread.h"),
    (r"\bsignal\(|SIG[A-Z]+\b", "signal.h"),
    (r"\b(?:pow|sqrt|fabs)\(", "math.h"),
    (r"\balloca\(", "alloca.h"),
    (r"\bva_list\b", "stdarg.h"),
    (r"\bisdigit\(", "ctype.h"),
    (r"\b(?:HANDLE|BYTE|_w[a-z]+\(|_P_WAIT|DWORD|HCRYPTPROV|SOCKET)", "windows.h"),
    (r"\bcrypt\(", "crypt.h"),
)
_CPP_HEADERS = (
    (r"\bvector<", "vector"),
    (r"\blist<", "list"),
    (r"\bmap<", "map"),
    (r"\b(?:string|std::string)\b", "string"),
    (r"\b(?:cin|cout)\b", "iostream"),
    (r"\bsetw\b", "iomanip"),
    (r"\b[io]fstream\b", "fstream"),
    (r"\bbad_alloc\b|\bnothrow\b", "new"),
    (r"\bunique_ptr\b", "memory"),
)


def support_files() -> dict[str, str]:
    """Name and text of each support file; names in it begin with `@`."""
    return {"s.h": _H, "s.c": _C}


def system_headers(text: str, cpp: bool) -> str:
    """The `#include` lines that a text needs beyond those of the support header."""
    found: dict[str, None] = {}
    for pattern, names in (*_HEADERS, *(_CPP_HEADERS if cpp else ())):
        if re.search(pattern, text):
            found.update(dict.fromkeys(names.split()))
    return "".join(f"#include <{name}>\n" for name in found)

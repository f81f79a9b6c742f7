"""What symbolic execution shows of small programs, and above all what it must not show."""

from __future__ import annotations

import asyncio
import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_ls.core.finding import Finding, Message, Related, Span
from jarvis_ls.jsec.proof.budget import Budget
from jarvis_ls.jsec.proof.evidence import Evidence, Strength, Verdict
from jarvis_ls.jsec.proof.rungs.symbolic import Symbolic
from jarvis_ls.jsec.proof.toolchain import Toolchain
from jarvis_ls.jsec.proof.workbench import Workbench
from jarvis_ls.runtime.sandbox.ladder import Ladder

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("z3") is None, reason="z3 is not installed: the extra 'prove'"
)
HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include <unistd.h>
extern int other(char *p);
"""


def refute(folder: Path, text: str, *cwe: int, file: str = "a.c") -> Evidence | None:
    """Ask the rung about the line of a program that has a mark; others mark the steps to it."""
    (folder / file).write_text(HEAD + text)
    lines = (HEAD + text).splitlines()
    at = next(number for number, content in enumerate(lines, 1) if "/*here*/" in content)
    steps = [number for number, content in enumerate(lines, 1) if "/*step*/" in content]
    finding = Finding(
        rule="any",
        language="c/cpp",
        category="",
        pattern="",
        cwe=cwe,
        file=file,
        span=Span(at, 1, at, len(lines[at - 1])),
        evidence="",
        message=Message(""),
        suggestion=Message(""),
        confidence=0.5,
        severity="medium",
        fingerprint="f",
        trace=tuple(
            Related(file, Span(step, 1, step, len(lines[step - 1])), Message("")) for step in steps
        ),
    )
    if 401 in cwe:
        made = Message("Memory is allocated by malloc().")
        finding = replace(finding, trace=tuple(replace(s, message=made) for s in finding.trace))
    bench = Workbench(folder.resolve(), Ladder(folder), Toolchain("gcc", "gcc"))
    return asyncio.run(Symbolic().attempt(finding, bench, Budget(20.0)))


SOUND = [
    (
        369,
        "extern int work(int); static int rd(char *p, int n) { int t = 0;\n"
        "while (n > 0) { int k = work(n); if (k < 0) return t; p[t] = 1; t += k; n -= k;\n"
        "if (other(p)) t = work(t); } return t; }\n"
        "int f(char *p, size_t size, size_t count) { size_t len = count * size;\n"
        "if (size && len / size != count) return 0;\n"
        "return len ? rd(p, (int)len) / size : 0; /*here*/ }",
    ),
    (121, 'void f(int n) { char b[10] = ""; strcat(b, n ? "w" : "r"); strcat(b, "b"); /*here*/ }'),
    (
        121,
        "int g; void f(void) { char b[4]; if (g < 0 || g > 3) return; getpid();\n"
        "b[g] = 1; /*here*/ }",
    ),
    (
        122,
        "struct c { struct c *l; char *n; };\nstruct c *f(struct c *r, char *s) { if (!r) {\n"
        "struct c *t = malloc(sizeof *t); if (!t) exit(1); t->n = malloc(5 + strlen(s));\n"
        "if (!t->n) exit(1); strcpy(t->n, s); /*here*/ return t; }\n"
        "r->l = f(r->l, s); return r; }",
    ),
    (
        121,
        "int main(int n, char **v) { char b[8]; if (n > 1 && strlen(v[1]) < 8)\n"
        "strcpy(b, v[1]); /*here*/ return 0; }",
    ),
    (121, "void f(int i) { int a[10]; if (i >= 0 && i < 10) a[i] = 1; /*here*/ }"),
    (
        121,
        "void f(void) { char b[10]; memset(b, 'A', 9); b[9] = 0; char c[10]; "
        "strcpy(c, b); /*here*/ }",
    ),
    (121, "void f(int n) { char b[16]; for (int i = 0; i < n && i < 16; i++) b[i] = 0; /*here*/ }"),
    (
        121,
        "void f(const char *s) { char b[16]; if (strlen(s) < sizeof b) { "
        "strcpy(b, s); /*here*/ } }",
    ),
    (
        121,
        "void f(const char *s) { char b[16]; strncpy(b, s, 15); b[15] = 0; char c[20];\n"
        'strcpy(c, b); strcat(c, ".gz"); /*here*/ }',
    ),
    (
        122,
        "void f(const char *s) { char *p = malloc(strlen(s) + 1); if (p) strcpy(p, s); /*here*/ }",
    ),
    (121, 'void f(int n) { char b[40]; sprintf(b, "%d items", n); /*here*/ }'),
    (
        121,
        "void f(void) { char b[32]; if (fgets(b, sizeof b, stdin)) { char c[32];\n"
        "strcpy(c, b); /*here*/ } }",
    ),
    (476, "int f(int *p) { if (!p) return 0; return *p; /*here*/ }"),
    (
        476,
        "int f(void) { int *p = malloc(4); if (p == NULL) exit(1); *p = 1; "
        "/*here*/ free(p); return 0; }",
    ),
    (369, "int f(int a, int b) { if (b == 0) return 0; return a / b; /*here*/ }"),
    (190, "int f(int a) { if (a < INT_MAX) return a + 1; /*here*/ return 0; }"),
    (190, "int f(void) { int s = 0; for (int i = 0; i < 100; i++) s = s + i; /*here*/ return s; }"),
    (415, "void f(int n) { char *p = malloc(4); if (n) { free(p); p = NULL; } free(p); /*here*/ }"),
    (416, "void f(int n) { char *p = malloc(4); if (!p) return; p[0] = 1; /*here*/ free(p); }"),
    (
        121,
        "static void g(int *a, int i) { a[i] = 1; /*here*/ }\nvoid f(void) { int "
        "a[4]; g(a, 3); g(a, 0); }",
    ),
    (
        121,
        "static void g(int *a, int n) { for (int i = 0; i < n; i++) a[i] = 1; /*here*/ }\n"
        "int main(void) { int a[4]; void (*h)(int *, int) = g; h(a, 4); return 0; }",
    ),
    (  # what comes behind it, and cannot be followed, does not matter
        121,
        "void f(int i, int c) { int a[4]; if (i < 0 || i > 3) return;\na[i] = 1; /*here*/\n"
        "again: other(0); if (c > 3) goto again;\nswitch (c) { case 1: { case 2: other(0); } } }",
    ),
    (  # what a step to it calls does not matter
        122,
        "char *take(int n) { char *p = malloc(n); if (!p) { other(p); exit(1); } return p; }\n"
        "void f(const char *s) { int *q =\n(int *)take(8); /*step*/\n"
        "char *p = malloc(5 + strlen(s)); if (!p) return; q[0] = 1;\nstrcpy(p, s); /*here*/ }",
    ),
    (  # a table that nothing changes, and a loop that narrows its path in each round
        121,
        'const char *old[5] = { ".bz2", ".bz", ".tbz2", ".tbz", ".b" };\n'
        'const char *new[5] = { "", "", ".tar", ".tar", "" };\nchar to[64];\n'
        "static int ends(char *s, const char *e) { int n = strlen(s), m = strlen(e);\n"
        "return n >= m && strcmp(s + n - m, e) == 0; }\n"
        "static int swap(char *s, const char *e, const char *with) { if (!ends(s, e)) return 0;\n"
        "s[strlen(s) - strlen(e)] = 0;\nstrcat(s, with); /*here*/ return 1; }\n"
        "static void f(char *name) { if (strlen(name) > 50) exit(1);\n"
        "strncpy(to, name, 50); to[50] = 0;\n"
        "for (int i = 0; i < 5; i++) if (swap(to, old[i], new[i])) return; }\n"
        "int main(int n, char **v) { if (n > 1) f(v[1]); return 0; }",
    ),
]
FLAWED = [
    (
        369,
        "int d; static void set(void) { for (int i = 0; i < 9000; i++) if (other(0)) d = 0; }\n"
        "int f(int a) { if (d == 0) return 0; set();\nreturn a / d; /*here*/ }",
    ),
    (
        369,
        "static void set(int *p) { for (int i = 0; i < 9000; i++) if (other(0)) *p = 0; }\n"
        "int f(int a) { int d = 3; set(&d);\nreturn a / d; /*here*/ }",
    ),
    (
        369,
        "struct s { int d; }; static struct s *g; static void set(void) { g->d = 0; }\n"
        "int f(struct s *p, int a) { g = p; if (p->d == 0) return 0; set();\n"
        "return a / p->d; /*here*/ }",
    ),
    (  # what comes behind may come to it by a pointer
        121,
        "static void g(int *a, int i) {\na[i] = 1; /*here*/ }\n"
        "static void (*h)(int *, int) = g;\nstatic void k(int *a) { h(a, 4); }\n"
        "int main(void) { int a[4]; g(a, 0); k(a); return 0; }",
    ),
    (121, "void f(int n) { char b[4]; int i = 0; do { b[i] = 1; /*here*/ i++; } while (n--); }"),
    (
        121,
        "static void g(int *a, int i) {\na[i] = 1; /*here*/ }\nvoid f(void) { int a[4];\n"
        "void (*h)(int *, int) = g; g(a, 0); getpid(); h(a, 4); }",
    ),
    (
        121,
        "static void g(int *a, int i) {\na[i] = 1; /*here*/ }\n"
        "static void k(int *a) { g(a, 4); }\n"
        "void f(int c) { int a[4]; g(a, 0); if (c) return; { { k(a); } } }",
    ),
    (
        121,
        "void f(int c) { char b[4]; int i = 0; if (c) { i = 4; goto out; } getpid();\n"
        "out: b[i] = 1; /*here*/ }",
    ),
    (
        121,
        "void f(int c) { char b[4]; int i = 0; switch (c) { case 1: b[0] = 1; i = 4;\n"
        "case 2: b[i] = 1; /*here*/ } }",
    ),
    (
        121,
        "void f(int n) { char b[4]; int i, k; for (k = 0; k < n; k++) { for (i = 0; i < 4; i++)\n"
        "if (k < 4 || i > 2) b[k] = 1; /*here*/ getpid(); } }",
    ),
    (
        121,
        'char *ends[2] = { ".a", ".b" };\nint main(int n, char **v) { char b[4] = "";\n'
        "if (n > 2) ends[1] = v[1];\nfor (int i = 0; i < 2; i++) { b[0] = 0;\n"
        "strcat(b, ends[i]); /*here*/ } return 0; }",
    ),
    (
        121,
        'const char *ends[2] = { ".a", ".b" };\nvoid set(const char ***p) { *p = ends; }\n'
        'int main(int n, char **v) { char b[4] = ""; const char **q;\nset(&q); q[1] = v[0];\n'
        "strcat(b, ends[1]); /*here*/ return 0; }",
    ),
    (
        416,
        "static void drop(char *p) {\nfree(p); /*step*/ }\nvoid f(void) { char *p = malloc(4);\n"
        "if (!p) return;\ndrop(p); /*step*/\np[0] = 1; /*here*/ }",
    ),
    (
        121,
        "static void fill(char *p, int n) { for (int i = 0; i <= n; i++) p[i] = 1; }\n"
        "void f(void) { char b[4];\nfill(b, 3); /*step*/\nfill(b, 4); /*here*/ }",
    ),
    (
        416,
        "static char *g(int n) { char *p = malloc(4); if (!p) exit(1); p[0] = n; free(p);\n"
        "return p; }\nvoid f(void) { puts(g(3)); /*here*/ }",
    ),
    (416, "char *f(void) { char *p = malloc(4); if (p) p[0] = 1;\nfree(p); return p; /*here*/ }"),
    (121, 'void f(int n) { char b[4] = "", c[3]; if (n) b[2] = 1; memcpy(c, b, 4); /*here*/ }'),
    (
        121,
        "int g = 3; void h(void);\nvoid f(void) { char b[4];\n"
        "if (g < 0 || g > 3) return;\n"
        "h(); b[g] = 1; /*here*/ }",
    ),
    (
        121,
        "int g = 3; void k(void) { g = 9; }\nvoid f(void) { char b[4];\n"
        "if (g < 0 || g > 3) return;\n"
        "atexit(k); b[g] = 1; /*here*/ }",
    ),
    (
        121,
        "#include <setjmp.h>\njmp_buf e;\nvoid f(int n) { char b[4];\n"
        "int i = 0; if (setjmp(e)) i = n;\n"
        "b[i] = 1; /*here*/ }",
    ),
    (
        121,
        "struct c { struct c *l; int n; };\nvoid f(struct c *p, int n) { char b[4];\n"
        "if (n) { f(p->l, 0); b[p->n] = 1; /*here*/ } }",
    ),
    (
        121,
        "int main(int n, char **v) { char b[8]; if (n > 1) strcpy(b, v[1]); /*here*/ return 0; }",
    ),
    (121, "void f(int i) { int a[10]; if (i >= 0 && i <= 10) a[i] = 1; /*here*/ }"),
    (121, "void f(int i) { int a[10]; if (i < 10) a[i] = 1; /*here*/ }"),
    (
        121,
        "void f(int n) { char b[16]; for (int i = 0; i <= n && i <= 16; i++) b[i] = 0; /*here*/ }",
    ),
    (
        121,
        "void f(const char *s) { char b[16]; if (strlen(s) <= sizeof b) { "
        "strcpy(b, s); /*here*/ } }",
    ),
    (
        121,
        "void f(const char *s) { char b[16]; strncpy(b, s, 15); b[15] = 0; char c[18];\n"
        'strcpy(c, b); strcat(c, ".gz"); /*here*/ }',
    ),
    (122, "void f(const char *s) { char *p = malloc(strlen(s)); if (p) strcpy(p, s); /*here*/ }"),
    (121, 'void f(int n) { char b[10]; sprintf(b, "%d items", n); /*here*/ }'),
    (121, "void f(int n) { char b[8]; int i = 0; while (n--) b[i++] = 1; /*here*/ }"),
    (
        121,
        "struct s { char a[4]; int b; }; void f(void) { struct s x; memset(x.a, "
        "0, sizeof x); /*here*/ }",
    ),
    (121, "int n = 3; void f(void) { char b[4]; b[n] = 1; /*here*/ }"),
    (121, "void f(void) { char b[4]; int i = 3; other((char *)&i); b[i] = 1; /*here*/ }"),
    (
        121,
        "static int i = 3; void g(int n) { i = n; }\nvoid f(void) { char b[4]; "
        "b[i] = 1; /*here*/ }",
    ),
    (
        121,
        "void f(char *p) { char b[4]; int i = 3, *q = &i; p[0] = 9; *q = *p; b[i] = 1; /*here*/ }",
    ),
    (
        121,
        "void f(int n) { int i = 0; int *q = 0; char b[4]; for (int k = 0; k < n; k++) {\n"
        "if (q) *q = 9; b[i] = 1; /*here*/ q = &i; } }",
    ),
    (
        121,
        "void f(int n) { int i = 0; char b[4]; struct { int *q; } s = { 0 }; while (n--) {\n"
        "if (s.q) s.q[0] = 9; b[i] = 1; /*here*/ s.q = &i; } }",
    ),
    (
        121,
        "void f(void) { char b[4]; volatile int i = 3; if (i < 4 && i >= 0) b[i] = 1; /*here*/ }",
    ),
    (
        121,
        "void f(int n) { char b[4]; unsigned char k = n; if ((signed char)k < 4) "
        "b[k] = 1; /*here*/ }",
    ),
    (121, "void f(unsigned n) { char b[4]; if (n - 1 < 4) b[n] = 1; /*here*/ }"),
    (
        121,
        "void f(int c) { char b[4]; int i; switch (c) { case 1: i = 3; case 2: i = 4; break;\n"
        "default: i = 0; } b[i] = 1; /*here*/ }",
    ),
    (
        121,
        "void f(int n) { char b[4]; int i = 0; again: b[i] = 1; /*here*/ i++; if "
        "(i < n) goto again; }",
    ),
    (476, 'int f(int *p) { if (p) puts("x"); return *p; /*here*/ }'),
    (476, 'void f(void) { FILE *p = fopen("x", "r"); fclose(p); /*here*/ }'),
    (369, "int f(int a, int b) { return a / (b * 2); /*here*/ }"),
    (190, "int f(int a) { return a + 1; /*here*/ }"),
    (190, "int f(int n) { int s = 1; for (int i = 0; i < n; i++) s = s * 2; /*here*/ return s; }"),
    (190, "char f(char a) { return a + 1; /*here*/ }"),
    (415, "void f(int n) { char *p = malloc(4); if (n) free(p); free(p); /*here*/ }"),
    (415, "void f(char *p) { other(p); free(p); /*here*/ }"),
    (
        416,
        "void f(int n) { char *p = malloc(4); if (!p) return; if (n) free(p); p[0] = 1; /*here*/ }",
    ),
    (416, "void f(void) { char *p = malloc(4), *q = realloc(p, 8); p[0] = 1; /*here*/ (void)q; }"),
    (590, "void f(void) { char b[4]; char *p = b; free(p); /*here*/ }"),
    (761, "void f(void) { char *p = malloc(4); p++; free(p); /*here*/ }"),
    (
        121,
        "static void g(int *a, int i) { a[i] = 1; /*here*/ }\nvoid f(void) { int "
        "a[4]; g(a, 3); g(a, 4); }",
    ),
    (126, "void f(void) { char b[4]; memset(b, 'A', 4); printf(\"%s\", b); /*here*/ }"),
    (126, "char f(const char *s) { return s[strlen(s) + 1]; /*here*/ }"),
    (195, "void f(int n) { char b[8], c[8]; if (n < 8) memcpy(b, c, n); /*here*/ }"),
    (789, "void f(unsigned n) { char *p = malloc(n); /*here*/ free(p); }"),
]


@pytest.mark.parametrize(("cwe", "text"), SOUND)
def test_what_cannot_go_wrong_is_refuted(tmp_path: Path, cwe: int, text: str) -> None:
    found = refute(tmp_path, text, cwe)
    assert found is not None
    assert (found.verdict, found.strength) == (Verdict.REFUTED, Strength.UNSAT)
    assert found.assumptions


@pytest.mark.parametrize(("cwe", "text"), FLAWED)
def test_what_can_go_wrong_is_never_refuted(tmp_path: Path, cwe: int, text: str) -> None:
    assert refute(tmp_path, text, cwe) is None


ALLOCATED = "struct s { int a[4]; };\nvoid f(char *t) { struct s *p; char *q;\n"
USED = "if (p) p->a[3] = 1; if (q) strcpy(q, t); }"


@pytest.mark.parametrize(
    ("cwe", "line"),
    [
        ((131, 122, 467), "q = 0; p = malloc(sizeof p); /*here*/"),
        ((131, 122, 193, 787), "p = 0; q = malloc(strlen(t)); /*here*/"),
    ],
)
def test_a_block_that_is_too_small_is_not_refuted_where_it_is_made(
    tmp_path: Path, cwe: tuple[int, ...], line: str
) -> None:
    assert refute(tmp_path, f"{ALLOCATED}{line}\n{USED}", *cwe) is None


@pytest.mark.parametrize(
    ("cwe", "text"),
    [
        ((121, 122, 120, 787, 676), 'void f(void) { char b[4] = ""; strcat(b, "abc"); /*here*/ }'),
        (
            (190, 680, 131),
            "void *f(short n) { if (n < 0) return 0; return malloc(n * 8); /*here*/ }",
        ),
    ],
)
def test_what_is_said_beside_the_flaw_does_not_keep_it(
    tmp_path: Path, cwe: tuple[int, ...], text: str
) -> None:
    found = refute(tmp_path, text, *cwe)
    assert found is not None and found.verdict is Verdict.REFUTED


@pytest.mark.parametrize("end", ["", "free(head);"])
def test_what_is_kept_in_a_block_that_is_freed_is_lost(tmp_path: Path, end: str) -> None:
    text = (
        "struct chain { struct chain *next; char *text; };\n"
        "int f(struct chain *list) {\nstruct chain *head = malloc(sizeof *head);\n"
        "if (head == NULL) return 0;\nhead->next = NULL; list->next->next = head;\n"
        f"list->next->next->text = malloc(8); /*step*/\n{end}\nreturn 1; /*here*/\n}}\n"
    )
    found = refute(tmp_path, text, 401)
    assert (found is None) == bool(end), found


def test_a_weakness_that_it_knows_nothing_of_is_left_alone(tmp_path: Path) -> None:
    assert refute(tmp_path, SOUND[0][1], 401) is None


@pytest.mark.parametrize(
    "text",
    ["void f(int i) { int a[10]; a[i] = 1; /*here*/", "", "int x; /*here*/", "\xff\xfe /*here*/"],
)
def test_text_that_is_no_program(tmp_path: Path, text: str) -> None:
    assert refute(tmp_path, text + "\n/*here*/", 121) is None


def test_code_that_nests_deeply(tmp_path: Path) -> None:
    text = "int f(int a) { return " + "(a + " * 900 + "1" + ")" * 900 + "; /*here*/ }"
    assert refute(tmp_path, text, 190) is None


def test_a_refutation_dies_with_what_it_speaks_of(tmp_path: Path) -> None:
    text = "enum { N = 10 };\nint g(int i) { return i & 7; }\nvoid k(void) { }\n" + (
        "void f(int i) { int a[N]; a[g(i)] = 1; /*here*/ }"
    )
    found = refute(tmp_path, text, 121)
    assert found is not None
    names = {place.rpartition(":")[2] for place, _ in found.functions}
    assert names == {"f", "g", "#"}


def test_a_line_with_two_functions_is_left_alone(tmp_path: Path) -> None:
    text = "void g(char *p) { p[0] = 1; } void f(int i) { int a[10]; a[i & 7] = 1; /*here*/ }"
    assert refute(tmp_path, text, 121) is None


def test_a_statement_without_the_operation_shows_nothing(tmp_path: Path) -> None:
    text = "void f(int i) { int n;\nn = i; /*here*/\nchar b[4]; b[n] = 1; }"
    assert refute(tmp_path, text, 121) is None


JOINED = """void f(char *a, char *b) { int n = strlen(a) + strlen(b) + 2;
char *p = malloc(n); if (!p) return; strcpy(p, a); strcat(p, "/"); strcat(p, b); /*here*/ }"""


def test_lengths_that_only_the_longest_strings_carry_beyond_a_type(tmp_path: Path) -> None:
    """That they are shorter is assumed and told, but not where the finding is about numbers."""
    found = refute(tmp_path, JOINED, 120)
    assert found is not None
    assert "256 MiB" in " ".join(found.assumptions)
    assert refute(tmp_path, JOINED.replace("+ 2;", "+ 1;"), 120) is None
    summed = JOINED.replace(" /*here*/", "").replace("+ 2;", "+ 2; /*here*/")
    assert refute(tmp_path, summed, 190) is None

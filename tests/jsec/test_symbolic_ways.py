"""Symbolic execution of calls by address, of labels in loops, of what lies behind pointers that
nothing is known of, and of more paths than can be followed one by one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from jarvis_ls.jsec.proof.evidence import Verdict
from tests.jsec.test_symbolic import refute

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("z3") is None, reason="z3 is not installed: the extra 'prove'"
)

MAKE = (
    "struct s { void *(*make)(int, int); int n; struct s *next; };\n"
    "static void *plain(int n, int size) { return malloc(n * size); /*here*/ }\n"
)
FEW = "static void *few(int n, int size) { return n < 9 && size < 9 ? malloc(9) : 0; }\n"
MAIN = "int main(int c, char **v) { struct s s = {0}; return c > 1 && f(&s, atoi(v[1])) == 0; }"
ENTER = (
    "struct s { int state, n, live; char b[4]; };\n"
    "int f(struct s *s, int i, int k) { char b[10]; switch (s->state) {\n"
    "case 0: s->state = 0; while (1) { if (s->live > 8) break; if (k) return 1; s->live++; }\n"
    "i = s->live - 9; if (i < 0 || i > LIMIT) return 2;\n"
    "b[i] = 1; /*here*/\n"
    "case 1: for (k = 0; k < 3; k++) { case 2: if (s->n) return 3; INSIDE; }\n"
    "} return b[0]; }"
)
MANY = "\n".join(f"if (other(0)) {{ n = n < 90 ? n + {k % 2} : n; t += n; }}" for k in range(24))

SOUND = [
    (
        190,
        MAKE + "void *f(struct s *s, int n) { if (!s->make) s->make = plain;\n"
        "return n > 0 && n < 1000 ? s->make(n, 4) : 0; }\n" + MAIN,
    ),
    (
        190,
        MAKE + FEW + "void *f(struct s *s, int n) { if (n == 7) s->make = few; else\n"
        "s->make = plain; return n > 0 && n < 1000 ? s->make(n, 4) : 0; }\n" + MAIN,
    ),
    (121, ENTER.replace("LIMIT", "9").replace("INSIDE", "i = 0")),
    (
        121,
        "struct s { int n; char *p; };\nint f(struct s *s, int k) { char b[8];\n"
        "if (s->n < 0 || s->n > 7) return 1; k = s->p[0]; b[s->n] = k; /*here*/ return b[k & 7]; }",
    ),
    (
        121,
        "struct s { int n, m; };\nint f(struct s *s) { char b[8]; s->n = s->m & 7; s->m = 4;\n"
        "b[s->n] = 1; /*here*/ return b[0]; }",
    ),
    (
        121,
        "int other(char *); int f(int n, int t) { char b[100]; if (n < 0 || n > 50) return 0;\n"
        + MANY
        + "\nb[n] = t; /*here*/ return b[0]; }",
    ),
    (
        121,
        'static char name[20]; static int log_(int n) { return printf("%s %d", name, n); }\n'
        "int main(int c, char **v) { char b[24]; if (c < 2 || strlen(v[1]) > 19) return 1;\n"
        "strcpy(name, v[1]); while (getpid() > 7) { if (log_(c)) c++; if (c == 7) return 1; }\n"
        "strcpy(b, name); /*here*/ return b[0]; }",
    ),
]

FLAWED = [
    # another call of the type, or another function that is not seen
    (
        190,
        MAKE + "void *f(struct s *s, int n) { if (!s->make) s->make = plain;\n"
        "return n > 0 && n < 1000 ? s->make(n, 4) : 0; }\n"
        "void *g(struct s *s, int n) { return s->make(n, 4); }\n"
        + MAIN.replace("c > 1", "c > 1 && g(&s, c)"),
    ),
    # the address goes where it can be called from outside
    (
        190,
        MAKE + "extern void keep(void *(*)(int, int)); void *f(struct s *s, int n) {\n"
        "keep(plain); return n > 0 && n < 1000 ? s->make(n, 4) : 0; }\n" + MAIN,
    ),
    (
        190,
        MAKE + "void *f(struct s *s, int n) { s->make = plain;\n"
        "long (*g)(long, long) = (long (*)(long, long))plain;\n"
        "return (void *)g(n, 400000); }\n" + MAIN,
    ),
    (121, ENTER.replace("LIMIT", "10").replace("INSIDE", "i = 0")),
    # come back to by a label in a loop
    (
        121,
        "int f(int s, int i, int k) { char b[10]; switch (s) {\n"
        "case 0: i = 0; for (k = 0; k < 3; k++) { case 1:\n"
        "b[i] = 1; /*here*/\n i = 2; } } return b[0]; }",
    ),
    (
        121,
        "int f(int s, int i, int k) { char b[10]; i = 0; switch (s) {\n"
        "case 0: do { i += 4; default: if (k == 9) i++;\n"
        "b[i] = 1; /*here*/\n } while (k--); } return b[0]; }",
    ),
    # what may have changed behind a pointer
    (
        121,
        "struct s { int n; int *p; };\nint f(struct s *s) { char b[8];\n"
        "if (s->n < 0 || s->n > 7) return 1; *s->p = 70; b[s->n] = 1; /*here*/ return b[0]; }",
    ),
    (
        121,
        "struct s { int n; };\nint f(struct s *s, struct s *t) { char b[8];\n"
        "if (s->n < 0 || s->n > 7) return 1; t->n++; b[s->n] = 1; /*here*/ return b[0]; }",
    ),
    (
        121,
        "struct s { int n; };\nint f(struct s *s) { char b[8];\n"
        "if (s->n < 0 || s->n > 7) return 1; other((char *)s);\n"
        "b[s->n] = 1; /*here*/ return b[0]; }",
    ),
    (
        121,
        "struct s { int n; };\nint f(struct s *s, int k) { char b[8]; int r = 0;\n"
        "if (s->n < 0 || s->n > 7) return 1;\n"
        "while (k-- > 0) { b[s->n] = 1; /*here*/ s->n++; r++; } return r; }",
    ),
    (
        121,
        "struct s { int n; } g;\nint f(struct s *s) { char b[8];\n"
        "if (s->n < 0 || s->n > 7) return 1; g.n = 9; b[s->n] = 1; /*here*/ return b[0]; }",
    ),
    (
        121,
        "struct s { volatile int n; };\nint f(struct s *s) { char b[8];\n"
        "if (s->n < 0 || s->n > 7) return 1; b[s->n] = 1; /*here*/ return b[0]; }",
    ),
    (
        121,
        "struct s { int n; int a[4]; };\nint f(struct s *s, int i) { char b[8];\n"
        "if (s->n < 0 || s->n > 7) return 1; (&s->n)[i] = 9; b[s->n] = 1; /*here*/ return b[0]; }",
    ),
    # merged paths
    (
        121,
        "int other(char *); int f(int n, int t) { char b[92]; if (n < 0 || n > 91) return 0;\n"
        + MANY
        + "\nif (t == 1234567) n = 92; b[n] = t; /*here*/ return b[0]; }",
    ),
    (
        121,
        "int other(char *); int f(int n, int t) { char b[60]; if (n < 0 || n > 50) return 0;\n"
        + MANY
        + "\nb[n] = t; /*here*/ return b[0]; }",
    ),
    (
        476,
        "int other(char *); int f(int n, int t) { int x = 0, *p = 0;\n"
        + MANY
        + "\nif (n > 3) p = &x; if (t > n) x = 1; return *p; /*here*/ }",
    ),
    # a function on the way changes it
    (
        121,
        "static char name[40]; static int log_(int n) { name[n & 31] = 'x'; return other(0); }\n"
        "int main(int c, char **v) { char b[24]; if (c < 2 || strlen(v[1]) > 19) return 1;\n"
        "strcpy(name, v[1]); while (other(0)) { if (log_(c)) c++; if (c == 7) return 1; }\n"
        "strcpy(b, name); /*here*/ return b[0]; }",
    ),
    (
        121,
        "static char name[40]; static int log_(void) { return !fgets(name, 40, stdin); }\n"
        "int main(int c, char **v) { char b[24]; if (c < 2 || strlen(v[1]) > 19) return 1;\n"
        "strcpy(name, v[1]); if (log_()) return 1; strcpy(b, name); /*here*/ return b[0]; }",
    ),
]


@pytest.mark.parametrize("begun", ["static char *p = name;", "static char *p;"])
def test_what_is_changed_by_a_kept_address_is_not_spared(tmp_path: Path, begun: str) -> None:
    text = (
        f"static char name[40]; {begun}\nvoid set(void) {{ p = name; }}\n"
        "static int log_(void) { p[9] = 'x'; return printf(\"%s\", p); }\n"
        "int f(const char *v) { char b[9]; if (strlen(v) > 8) return 1; strcpy(name, v);\n"
        "if (log_()) return 1; strcpy(b, name); /*here*/ return b[0]; }"
    )
    assert refute(tmp_path, text.replace("p[9]", "p[strlen(p)]"), 121) is None


TABLE = (
    "struct s { char **all; int n; };\nint f(struct s *s, int i, int j) {\n"
    "char **all = malloc(80); if (!all) return 1; s->all = all;\n"
    "if (i < 0 || i > 9 || j < 0 || j > 9) return 2;\n"
    "char *p = malloc(4); /*step*/\nif (!p) return 3;\nall[i] = p; AFTER\n"
    "return 0; /*here*/ }"
)


@pytest.mark.parametrize("after", ["", "p[0] = 1;"])
def test_what_is_put_somewhere_into_what_is_kept_is_kept(tmp_path: Path, after: str) -> None:
    found = refute(tmp_path, TABLE.replace("AFTER", after), 401)
    assert found is not None
    assert found.verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    "after",
    ["all[j] = NULL;", "all[3] = NULL;", "memset(all, 0, 80);", "free(all); s->all = NULL;"],
)
def test_what_is_written_over_there_is_not(tmp_path: Path, after: str) -> None:
    assert refute(tmp_path, TABLE.replace("AFTER", after), 401) is None


@pytest.mark.parametrize(("cwe", "text"), SOUND)
def test_what_cannot_go_wrong_on_any_way_is_refuted(tmp_path: Path, cwe: int, text: str) -> None:
    found = refute(tmp_path, text, cwe)
    assert found is not None
    assert found.verdict is Verdict.REFUTED


@pytest.mark.parametrize(("cwe", "text"), FLAWED)
def test_what_goes_wrong_on_some_way_is_never_refuted(tmp_path: Path, cwe: int, text: str) -> None:
    assert refute(tmp_path, text, cwe) is None


def test_calls_by_address_are_among_what_is_assumed(tmp_path: Path) -> None:
    found = refute(tmp_path, SOUND[0][1], 190)
    assert found is not None
    assert any("'plain'" in assumption for assumption in map(str, found.assumptions))

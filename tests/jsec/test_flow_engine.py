"""The interpreter of flow, on whatever text: it ends, within bounds, and in any order the same."""

from __future__ import annotations

import gc
import random

import pytest
from flow_programs import _facts, faults, kinds, lowered
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import decode
from jarvis_ls.jsec.flow.interp.fixpoint import Interpreter
from jarvis_ls.jsec.flow.lower.c.file import lower
from jarvis_ls.jsec.flow.program.in_memory import Files

PAIRS = {
    "a copy fits or not": (
        "void f(void) { char a[%s]; char b[100]; memset(b, 'x', 99); b[99] = 0; strcpy(a, b); }",
        "50",
        "100",
        "buffer-write-stack",
    ),
    "a loop writes behind the end": (
        "void f(void) { int a[10]; int i; for (i = 0; i < %s; i++) { a[i] = 0; } }",
        "11",
        "10",
        "buffer-write-stack",
    ),
    "the size of an initialised array is that of a variable": (
        "#define ROOM (3 * sizeof(n) + %s)\n"
        'void f(void) { int n = 0; char a[ROOM] = ""; fgets(a, 14, stdin); }',
        "1",
        "2",
        "buffer-write-stack",
    ),
    "what is not seen is given a value": (
        "void show(int n);\nvoid f(void) { int n; %s show(n); }",
        "",
        "n = 1;",
        "uninitialized",
    ),
    "a number that was compared is the same number later": (
        "extern int on;\nvoid f(void) { int a[4] = {0}; int n = 9; if (on == 5) n = 1;"
        " if (on %s 5) a[n] = 1; }",
        "!=",
        "==",
        "buffer-write-stack",
    ),
    "a pointer that may be null leads to one array": (
        "extern int on;\nvoid f(int n) { char a[%s]; char *p = NULL; if (on) p = a;"
        " for (int i = 0; i < n; i++) on = i; if (p) memset(p, 1, 10); }",
        "9",
        "10",
        "buffer-write-stack",
    ),
    "a constant is too large": (
        "void f(void) { int n = 0; n = CHAR_MAX + %s; char c = (char)n; }",
        "1",
        "0",
        "truncation",
    ),
    "a stream that was not opened is used": (
        'void f(void) { FILE *p = fopen("/x", "r"); %s fgetc(p); fclose(p); }',
        "",
        "if (p == NULL) return;",
        "unchecked-allocation",
    ),
    "what a character is, is known": (
        "void f(void) { char a[2] = {'\\n', 0}; char *p = a;"
        " while (isalnum((unsigned char)*p)) p++; p[%s] = 0; }",
        "2",
        "1",
        "buffer-write-stack",
    ),
    "another size where it is 0": (
        "void f(void) { size_t n = %s; char *p = malloc(n ? n : 1); if (p) p[3] = 0; free(p); }",
        "0",
        "4",
        "buffer-write-heap",
    ),
    "a size that is allowed to be 0 is not 0 for that": (
        "void f(size_t n) { char *p = malloc(%s); if (p) p[3] = 0; free(p); }",
        "1",
        "n ? n : 1",
        "buffer-write-heap",
    ),
    "two counters go together in a short loop": (
        "void f(void) { char a[6]; char *p = a; int n; for (n = 0; n < %s; n++) *p++ = 'z'; }",
        "7",
        "6",
        "buffer-write-stack",
    ),
    "rows and columns are counted": (
        "void f(void) { int m[3][4]; int r, c; for (r = 0; r < 3; r++)"
        " for (c = 0; c < %s; c++) m[r][c] = r + c; }",
        "5",
        "4",
        "buffer-write-stack",
    ),
    "part of an array is given values": (
        "void f(void) { int a[8], i, n = 0; for (i = 0; i < %s; i++) a[i] = i;"
        " for (i = 0; i < 8; i++) n += a[i]; }",
        "5",
        "8",
        "uninitialized",
    ),
    "what was freed in a round is used in the next": (
        "void f(void) { char *p = calloc(4, 1); int i; if (!p) return;"
        " for (i = 0; i < 3; i++) { p[i] = 1; if (i == %s) free(p); } }",
        "1",
        "2",
        "use-after-free",
    ),
    "a block that was moved holds its string": (
        'void f(void) { char *q, *p = malloc(4); if (!p) return; strcpy(p, "abc");'
        ' q = realloc(p, %s); if (!q) { free(p); return; } strcat(q, "defg"); free(q); }',
        "7",
        "8",
        "buffer-write-heap",
    ),
    "a parameter decides": (
        "static void put(int *p, int n) { p[n] = 1; }\nvoid f(void) { int a[10]; put(a, %s); }",
        "10",
        "9",
        "buffer-write-stack",
    ),
    "a flag of the file decides": (
        "static int on = %s;\nvoid f(void) { char *p = malloc(10); if (!p) return;"
        " if (on) free(p); free(p); }",
        "1",
        "0",
        "double-free",
    ),
    "an allocation is tested": (
        "void f(void) { int *p = malloc(40); %s *p = 1; free(p); }",
        "",
        "if (p == NULL) return;",
        "unchecked-allocation",
    ),
    "an index from outside is bounded": (
        'void f(void) { int a[10]; int n = 0; scanf("%%d", &n); if (n >= 0 %s) { a[n] = 1; } }',
        "",
        "&& n < 10",
        "buffer-write-stack",
    ),
    "a divisor from outside is tested": (
        "int f(void) { int n = rand(); if (%s) return 0; return 100 / n; }",
        "n == 1",
        "n == 0",
        "divide-by-zero",
    ),
    "a sum is guarded": (
        "int f(void) { int n = rand(); if (n < %s) return n + 1; return 0; }",
        "INT_MIN || 1",
        "INT_MAX",
        "integer-overflow",
    ),
    "a format is text from outside": (
        "void f(void) { char t[80]; if (fgets(t, 80, stdin)) printf(%s); }",
        "t",
        '"%%s", t',
        "format-string",
    ),
    "what is lost": (
        "void f(void) { char *p = malloc(10); if (p) { p[0] = 0; %s } }",
        "",
        "free(p);",
        "leak",
    ),
    "a value is given on all ways": (
        "int f(int c) { int n; if (c) n = 1; %s return n + 1; }",
        "",
        "else n = 2;",
        "uninitialized",
    ),
    "what is freed is used": (
        "void f(void) { int *p = malloc(4); if (!p) return; *p = 1; %s }",
        "free(p); *p = 2;",
        "*p = 2; free(p);",
        "use-after-free",
    ),
    "memory goes back the way it came": (
        "void f(void) { char b[10]; char *p = b; char *q = malloc(9); p[0] = 1; free(%s); }",
        "p",
        "q",
        "free-non-heap",
    ),
    "a callee never returns": (
        "static void stop(void) { %s }\n"
        "void f(void) { int *p = malloc(4); if (p == NULL) stop(); *p = 1; free(p); }",
        'puts("no memory");',
        "exit(1);",
        "null-dereference",
    ),
    "the length was asked": (
        "int main(int c, char **v) { char a[10]; if (strlen(v[1]) >= %s) return 1;"
        " strcpy(a, v[1]); return a[0]; }",
        "11",
        "10",
        "buffer-write-stack",
    ),
    "a macro that nothing defines stands for a function of the library": (
        "void f(void) { char *a = (char *)ALLOCA(%s); char b[100]; memset(b, 'x', 99); b[99] = 0;"
        ' SNPRINTF(a, 100, "%%s", b); }',
        "50",
        "100",
        "buffer-write-stack",
    ),
    "what nothing defines is counted in its own unit": (
        "void f(void) { couple a[%s], b[10], *p = malloc(64); struct one x; char t[4];"
        " memcpy(a, b, 10 * sizeof(couple)); memset(&x, 0, 100); memcpy(t, &x, sizeof(t));"
        " if (p) memset(p, 0, sizeof(couple)); free(p); }",
        "9",
        "10",
        "buffer-write-stack",
    ),
    "what only shows a block does not own it": (
        "void f(void) { char *p = malloc(9); if (!p) return; p[0] = 0; print_text(p); %s }",
        "",
        "free(p);",
        "leak",
    ),
    "what may keep a block owns it": (
        "void f(void) { char *p = malloc(9); if (!p) return; p[0] = 0; %s(p); }",
        "show_text",
        "log_append",
        "leak",
    ),
    "a text has no end": (
        "void print_text(const char *t);\nvoid f(void) { char a[9], b[20]; memset(b, 'x', 19);"
        " b[19] = 0; memcpy(a, b, 8); %s print_text(a); }",
        "",
        "a[8] = 0;",
        "text-without-end",
    ),
    "a text is made of pieces": (
        "void f(void) { char a[9]; memset(a, 'x', 4); %s; puts(a); }",
        "memset(a + 4, 'y', 2)",
        'strcpy(a + 4, "z")',
        "text-without-end",
    ),
    "a pointer stops behind the start": (
        "void f(void) { char a[9]; char *p; if (!fgets(a, 9, stdin)) return; p = a + strlen(a);"
        " while (p %s a && p[-1] == ' ') { p--; *p = 0; } }",
        ">=",
        ">",
        "buffer-read-under",
    ),
    "a pointer to wide characters stops behind the start": (
        "void f(void) { wchar_t a[9]; wchar_t *p; if (!fgetws(a, 9, stdin)) return;"
        " p = a + wcslen(a); while (a %s p && p[-1] == L' ') { --p; *p = 0; } }",
        "<=",
        "<",
        "buffer-read-under",
    ),
    "a program of Windows is named by its path": (
        'void f(STARTUPINFOA *s, PROCESS_INFORMATION *m) { char line[] = "%sa.exe /x";'
        " CreateProcessA(NULL, line, NULL, NULL, 0, 0, NULL, NULL, s, m); }",
        "",
        "C:\\\\b\\\\",
        "search-path",
    ),
    "a program that is started is named by its path": (
        'void f(void) { _spawnlp(0, "%s", "a", NULL); }',
        "a",
        "/bin/a",
        "search-path",
    ),
    "a goto jumps over the release": (
        "void f(void) { char *p = malloc(10); if (!p) return; %s free(p); out: return; }",
        "goto out;",
        ";",
        "leak",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_flaw_is_told_and_its_repaired_twin_is_not(name: str) -> None:
    text, bad, good, kind = PAIRS[name]
    assert kind in {found for _, found in kinds(text % bad)}
    assert kinds(text % good) == []


def test_a_flaw_in_a_callee_belongs_to_the_way_that_leads_there() -> None:
    text = (
        'static void put(char *p) { strcpy(p, "0123456789"); }\n'
        "void good(void) { char a[20]; put(a); }\n"
        "void bad(void) { char a[5]; put(a); }\n"
    )
    (one,) = faults(lowered(text))
    assert (one.function, one.kind, one.certain) == ("put", "buffer-write-stack", True)
    start = text.rindex("put(a)")
    assert start in [step.span[0] for step in one.steps]


def test_classes_run_their_constructors_destructors_and_overrides() -> None:
    text = """
class Base { public: virtual void act(int *p) { } virtual ~Base() { } };
class Twice : public Base { public: void act(int *p) { delete p; } };
class Holder { public: Holder(int *p) : held(p) { } ~Holder() { delete held; } int *held; };
void one() { int *p = new int; Base *b = new Twice(); b->act(p); delete p; delete b; }
void two() { int *p = new int; { Holder h(p); } *p = 1; }
void good() { int *p = new int; Holder h(p); *p = 1; }
"""
    found = kinds(text, "a.cpp")
    assert ("one", "double-free") in found
    assert ("two", "use-after-free") in found
    assert not [kind for function, kind in found if function in ("good", "Holder::~Holder")]


def test_the_order_of_functions_and_files_changes_nothing() -> None:
    parts = [text % bad for text, bad, _, _ in PAIRS.values()]
    texts = [
        part.replace(" f(", f" f{n}(")
        .replace(" g(", f" g{n}(")
        .replace("stop(", f"stop{n}(")
        .replace("put(", f"put{n}(")
        .replace("on;", f"on{n};")
        .replace("on =", f"on{n} =")
        .replace("(on)", f"(on{n})")
        .replace("return f(", f"return f{n}(")
        for n, part in enumerate(parts)
    ]
    files = [lowered(text, f"{n}.c") for n, text in enumerate(texts)]
    first = faults(*files)
    assert first
    chooser = random.Random(1)
    for _ in range(3):
        chooser.shuffle(files)
        assert faults(*files) == first


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=300), st.sampled_from(["a.c", "a.cpp"]))
def test_any_bytes_are_taken(data: bytes, path: str) -> None:
    faults(lowered(data, path))


_WORDS = [
    "int",
    "char",
    "*",
    "p",
    "a",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    "=",
    "+",
    "1",
    "if",
    "while",
    "for",
    "return",
    "free",
    "malloc",
    ",",
    "&",
    "->",
    "switch",
    "case",
    ":",
    "break",
    "goto",
    "sizeof",
    "void",
    "f",
    "struct",
    "s",
    "else",
    "do",
    "<",
    '"%s"',
    "new",
    "delete",
    "class",
    "::",
    "~",
]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(_WORDS), max_size=60), st.sampled_from(["a.c", "a.cpp"]))
def test_any_words_of_the_language_are_taken(words: list[str], path: str) -> None:
    text = "struct s { int a; char p[4]; };\nvoid f(char *p, int a) {" + " ".join(words) + "}\n"
    faults(lowered(text, path))


SHAPES = {
    "nested blocks": lambda n: "void f(int a) {" + "if (a) {" * n + "}" * n + "}",
    "else-if chain": lambda n: (
        "void f(int a) {" + "".join(f"if (a == {i}) a++; else " for i in range(n)) + "a--; }"
    ),
    "cases": lambda n: (
        "void f(int a) { switch (a) {"
        + "".join(f"case {i}: a += {i}; break;" for i in range(n))
        + "} }"
    ),
    "locals": lambda n: "void f(void) {" + "".join(f"int a{i} = {i};" for i in range(n)) + "}",
    "sum": lambda n: "int f(int a) { return " + "a + " * n + "a; }",
    "calls of each other": lambda n: (
        "".join(f"void f{i}(int);" for i in range(n))
        + "".join(
            f"void f{i}(int a) {{ if (a) f{(i * 7 + 1) % n}(a - 1); f{(i + 1) % n}(a); }}"
            for i in range(n)
        )
    ),
    "loops in loops": lambda n: "void f(int a) {" + "while (a--) {" * n + "}" * n + "}",
    "branches": lambda n: "void f(int a, int b) {" + "if (a & b) a++; " * n + "}",
}


def test_functions_have_the_names_of_the_namespaces_around_them() -> None:
    text = (
        "void a() {} namespace x { void b() {} namespace { void c() {} }"
        " namespace y { void d() {} } void e() {} } void f() {} namespace x::y { void g() {} }"
        " namespace z { } void h() {}"
    )
    names = ["a", "x::b", "x::c", "x::y::d", "x::e", "f", "x::y::g", "h"]
    assert list(lowered(text, "a.cpp").functions) == names


def test_namespaces_nest_as_deep_as_they_like() -> None:
    text = "namespace n {" * 20_000 + "void f() {}" + "}" * 20_000 + "void g() {}"
    assert [name.rpartition("::")[2] for name in lowered(text, "a.cpp").functions] == ["f", "g"]


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_text_and_not_faster(shape: str) -> None:
    def work(n: int) -> int:
        file = lowered(SHAPES[shape](n))
        analysis = Interpreter(Files([file]))
        done = 0
        for function in file.functions.values():
            analysis.root(function)
            limits = analysis.limits
            done += limits.fuel + limits.per_instruction * function.size - analysis.fuel
        return done

    small, large = work(40), work(160)
    assert large <= 6 * small + 8_000


def test_a_class_of_a_header_is_one_in_the_files_that_include_it() -> None:
    header = """
class Base { public: virtual void act(char *d) const = 0; };
class Long : public Base { public: void act(char *d) const; };
class Holder { public: Holder(char *d); ~Holder(); private: char *held; };
"""
    users = (
        "void one() { char b[50]; memset(b, 'A', 49); b[49] = 0; const Base &o = Long();"
        " o.act(b); }"
        "void two() { char b[50]; memset(b, 'A', 49); b[49] = 0; Holder *h = new Holder(b);"
        " delete h; }"
        "void good() { char b[9]; memset(b, 'A', 8); b[8] = 0; Holder h(b); Long o; o.act(b); }"
    )
    own = (
        "void Long::act(char *d) const { char x[20]; strcpy(x, d); }"
        "Holder::Holder(char *d) { held = d; }"
        "Holder::~Holder() { char x[20]; strcpy(x, held); }"
    )
    known = _facts(header)
    files = [lowered(header, "h.cpp"), lowered(users, "u.cpp", known), lowered(own, "o.cpp", known)]
    assert [(f.function, f.kind) for f in faults(*files)] == [
        ("Long::act", "buffer-write-stack"),
        ("Holder::~Holder", "buffer-write-stack"),
    ]


def test_a_struct_from_outside_has_values_also_when_it_is_copied() -> None:
    text = """
struct pair { int a; int b; };
void show(int n);
int sum(void *p) { struct pair x = *((struct pair *)p); return x.a + x.b; }
int bad(void) { struct pair x; struct pair y; x.a = 1; y = x; return y.a + y.b; }
"""
    assert kinds(text) == [("bad", "uninitialized")]


def test_a_call_that_is_too_much_to_follow_does_not_hide_what_comes_after_it() -> None:
    branches = "".join(f"if (a > {i} && b != {i}) {{ n += twice(a); }} " for i in range(40))
    text = (
        "static int twice(int a) { int i; int n = 0; for (i = 0; i < a; i++) n += i; return n; }\n"
        f"static int much(int a, int b) {{ int n = 0; {branches} return n; }}\n"
        "void f(int a, int b) { int x[4]; x[0] = much(a, b); x[4] = x[0]; }\n"
    )
    assert ("f", "buffer-write-stack") in kinds(text)


def test_many_calls_that_are_too_much_to_follow_do_not_hide_what_comes_after_them() -> None:
    branches = "".join(f"if (a > {i} && b != {i}) {{ n += twice(a); }} " for i in range(40))
    text = (
        "static int twice(int a) { int i; int n = 0; for (i = 0; i < a; i++) n += i; return n; }\n"
        f"static int much(int a, int b) {{ int n = 0; {branches} return n; }}\n"
        "static void put(char *p, int n) { p[n] = 0; }\n"
        f"void f(int a, int b) {{ char x[4]; {40 * 'a = much(a, b); '} put(x, 4); }}\n"
    )
    assert ("put", "buffer-write-stack") in kinds(text)


@pytest.mark.parametrize(("size", "told"), [(4, True), (5, False)])
def test_numbers_of_large_functions_are_known_for_as_long_as_they_are_used(
    size: int, *, told: bool
) -> None:
    many = "".join(f"int v{i} = a + {i}; use(v{i});\n" for i in range(90))
    text = (
        f"void f(int a) {{ int x[{size}]; int at = 4; int n;\n{many}"
        "for (n = 0; n < at; n++) { use(n); } x[at] = 0; }\n"
    )
    assert (("f", "buffer-write-stack") in kinds(text)) == told


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("std::string s; std::cin >> s; system(s.c_str());", ["command-injection"]),
        ('std::string s; std::cin >> s; s = "/bin/ls"; system(s.c_str());', []),
        ('std::string s = "/bin/ls "; s += "/tmp"; system(s.c_str());', []),
        (
            'int n; std::cin >> n; std::ostringstream s; s << "/bin/ls"; system(s.str().c_str());',
            [],
        ),
        (
            "std::string n, s; std::cin >> n; std::ostringstream c; c << n; s = c.str();"
            " system(s.c_str());",
            ["command-injection"],
        ),
        (
            "int n; std::cin >> n; int a[4] = {0}; a[n] = 1;",
            ["buffer-write-stack", "buffer-underwrite"],
        ),
        ("int n; std::cin >> n; if (n < 0 || n > 3) return; int a[4] = {0}; a[n] = 1;", []),
        ("char b[8]; std::cin.getline(b, 16);", ["buffer-write-stack"]),
        ("char b[8]; std::cin.getline(b, 8);", []),
    ],
)
def test_streams_bring_input_and_strings_carry_it(body: str, found: list[str]) -> None:
    told = kinds(f"void f() {{ {body} }}", "a.cpp")
    assert {kind for _, kind in told} <= set(found)
    assert bool(told) == bool(found)


def test_a_cast_that_reads_like_a_call_is_one() -> None:
    text = """
        typedef unsigned int uint;
        void f(int fd, char *to) {
            unsigned char b[2];
            uint n;
            if (read(fd, b, 2) != 2) return;
            n = b[0] + ((uint)(b[1]) << 8);
            read(fd, to, n);
        }
    """
    assert kinds(text) == []


@pytest.mark.parametrize("table", ["", "const"])
def test_functions_called_through_a_table_are_known(table: str) -> None:
    text = """
        static int first(const int *p) { return p[0]; }
        static int none(const int *p) { return p != 0; }
        static int (*%s table[])(const int *) = {none, first};
        int bad(void) { return table[1](0); }
        int good(void) { return table[0](0); }
    """
    assert kinds(text % table) == [("first", "null-dereference")]


def test_a_table_that_is_written_is_not_known() -> None:
    text = """
        static int first(const int *p) { return p[0]; }
        static int none(const int *p) { return p != 0; }
        static int (*table[])(const int *) = {none, first};
        void set(int (*f)(const int *)) { table[1] = f; }
        int call(void) { return table[1](0); }
    """
    assert kinds(text) == []


def test_the_steps_to_a_flaw_are_told_in_the_order_in_which_they_are_taken() -> None:
    text = """
        static void *room(unsigned size) { void *p = malloc(size); if (!p) exit(1); return p; }
        int f(int n) {
            int i, sum = 0;
            for (i = 0; i < n; i++) { sum += i; }
            char *first = room(9);
            char *second = room(9);
            free(second);
            if (n) { return 1; }
            free(first);
            return second[0];
        }
    """
    one = next(f for f in faults(lowered(text)) if f.kind == "use-after-free")
    told = [(text[: s.span[0]].count("\n"), s.message) for s in one.steps]
    assert told[0] == (4, "loop-end")
    assert [line for line, _ in told] == [4, 5, 1, 6, 1, 1, 7, 8, 10]
    assert [m for line, m in told if line == 1][1] == "{name} allocates {bytes} bytes."


def test_what_only_one_of_the_ways_that_met_took_is_no_step_to_a_flaw() -> None:
    text = """
        int f(int a, int b, int c, const char *name) {
            int sum = 0;
            if (a == 1) { sum += 1; }
            if (b == 2) { sum += 2; }
            if (c == 3) { sum += 4; }
            FILE *file = fopen(name, "r");
            if (sum > 9) { return 0; }
            fclose(file);
            return fgetc(file) + sum;
        }
    """
    one = next(f for f in faults(lowered(text)) if f.kind == "use-after-close")
    told = [text[: s.span[0]].count("\n") for s in one.steps]
    assert told[-2:] == [8, 9]
    assert not {3, 4, 5} & set(told)


LEFT = {
    "c": "int n = 1;\nint a[] = {1, 2};\n"
    "int f(int *p) { for (int i = 0; i < n; i++) { p[i] = a[0]; }"
    " switch (n) { case 1: return f(p); default: return 0; } }",
    "cpp": "struct S { S() : n(1) {} ~S() { n = 0; } int n; };\n"
    "int f(int n) { S s; try {"
    " auto g = [&](int m) { return m + n; }; return g(s.n); } catch (...) { throw; } }",
    "rust": "struct S { n: i32 }\nimpl S { fn f(&self, v: Option<i32>) -> i32 {"
    " let g = |m: i32| m + self.n; match v { Some(m) => g(m), None => 0 } } }",
}


@pytest.mark.parametrize("language", LEFT)
def test_a_function_leaves_nothing_to_the_collector(language: LanguageName) -> None:
    def follow() -> int:
        source = decode("a", LEFT[language].encode())
        file = lower(Unit(source, language, Facts()), parse(source.data, language).root_node)
        faults(file)
        return len(file.functions)

    follow()  # what is kept for all files is kept now
    gc.collect()
    gc.disable()
    try:
        assert follow() > 0
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_what_one_way_freed_is_joined_with_what_another_wrote() -> None:
    """To ask where `v[0]` leads, which one way no longer knows, lets go of what was freed there."""
    text = (
        "struct node { int a; int b; };\nvoid change(struct node **v);\nint more(void);\n"
        "void f(struct node **v, int c) { while (more()) { if (c) { struct node *q = v[0];"
        " free(q); q->a = 1; q->b = 2; change(v); v[1] = 0; }"
        " else { v[1] = 0; v[0]->a = 5; v[0]->b = 6; } } }"
    )
    assert kinds(text) == [("f", "use-after-free")]

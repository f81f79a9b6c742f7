"""What C and C++ code declares and calls, seen through macros, `#if 0` and old styles."""

from __future__ import annotations

import pytest

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.functions import Call, Function, Unit
from jarvis_ls.codeintel.headers import Headers, item_facts, merge_items
from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import parse, parse_edited
from jarvis_ls.codeintel.source import Source
from jarvis_ls.codeintel.top_level_items import items


def facts(code: str, language: LanguageName = "c") -> Facts:
    root = parse(code.encode(), language).root_node
    return merge_items(item_facts(item, language) for item in items(root, language))


def function(code: str, language: LanguageName = "c") -> Function:
    root = parse(code.encode(), language).root_node
    unit = Unit(Source("a.c", code.encode()), language, facts(code, language))
    wanted = ("function_definition", "function_item")
    item = next(i for i in items(root, language) if i.node.type in wanted)
    return Function(unit, item, item.node)


def call(code: str, name: str) -> Call:
    return next(c for c in function(code).calls if c.name == name)


def test_declarations_of_file_scope() -> None:
    found = facts(
        """
        #define SIZE 32
        #define TWICE(x) ((x) \\
            * 2)
        #include "a/b.h"
        #include <stdio.h>
        typedef char name_t[SIZE];
        enum { RED, GREEN = 5, BLUE };
        struct node { char label[16]; struct node *next; int (*compare)(int, int); };
        static char *lines[10];
        extern int run(const char *command);
        static int helper(void) { return 0; }
        """
    )
    assert found.macros["SIZE"] == "32"
    assert found.function_macros["TWICE"].body.split() == ["((x)", "*", "2)"]
    assert found.includes == ("a/b.h", "stdio.h")
    assert found.types["name_t"].arrays == ("SIZE",)
    assert found.enumerators == {"RED": 0, "GREEN": 5, "BLUE": 6}
    assert found.fields["label"][0].arrays == ("16",)
    assert (found.fields["next"][0].type, found.fields["next"][0].pointers) == ("struct node", 1)
    lines = found.variables["lines"]
    assert (lines.pointers, lines.arrays, lines.is_static) == (1, ("10",), True)
    assert set(found.functions) == {"run", "helper"}
    assert found.defined == {"helper"}


def test_a_pointer_to_an_array_is_no_array() -> None:
    fields = facts("struct s { char *a, (*p)[9], *(*q)[3], *v[4]; int (*f)(void); };").fields
    assert [(d.name, d.pointers, d.arrays) for (d,) in fields.values()] == [
        ("a", 1, ()),
        ("p", 1, ()),
        ("q", 1, ()),
        ("v", 1, ("4",)),
        ("f", 1, ()),
    ]


def test_members_behind_directives_are_known_however_deep() -> None:
    nested = "#if A\n" * 3000 + "int deep;\n" + "#endif\n" * 3000
    assert list(facts(f"struct s {{\nint first;\n{nested}}};\n").fields) == ["first", "deep"]


def test_members_of_structs_in_structs_are_known_down_to_a_depth() -> None:
    nested = "struct {\nint m%d;\n" * 3000 % tuple(range(3000)) + "} s;\n" * 3000
    found = facts(f"struct s {{\nint first;\n{nested}int last;\n}};\n")
    assert {"first", "m0", "m500", "last"} <= set(found.fields)


def test_old_style_parameters_are_parameters() -> None:
    old = function("int copy(to, from, n) char *to; char from[]; int n; { int i = 0; return n; }")
    assert {v.name: (v.is_parameter, v.is_pointer) for v in old.parameters} == {
        "to": (True, True),
        "from": (True, True),
        "n": (True, False),
    }
    assert not old.variables["i"][0].is_parameter


def test_a_name_means_the_innermost_declaration() -> None:
    code = "void f(int n) { char *p; { int p[4]; g(p); } h(p); for (int n = 0; n < 3; n++) k(n); }"
    scoped = function(code)
    inner = scoped.variable("p", code.index("g(p)"))
    outer = scoped.variable("p", code.index("h(p)"))
    loop = scoped.variable("n", code.index("k(n)"))
    assert inner is not None and inner.arrays == ("4",)
    assert outer is not None and outer.pointers == 1
    assert loop is not None and not loop.is_parameter


@pytest.mark.parametrize(
    ("code", "name", "arguments"),
    [
        ("#define RUN system\nvoid f(char *c) { RUN(c); }", "system", ["c"]),
        ("#define A B\n#define B strcpy\nvoid f() { A(x, y); }", "strcpy", ["x", "y"]),
        ("#define PUT(v, to) strcpy(to, (v))\nvoid f() { PUT(x, y); }", "strcpy", ["y", "x"]),
        ("#define LOG(...) printf(__VA_ARGS__)\nvoid f() { LOG(m); }", "printf", ["m"]),
        ("#define printf printf\nvoid f() { printf(m); }", "printf", ["m"]),
    ],
)
def test_calls_are_seen_through_macros(code: str, name: str, arguments: list[str]) -> None:
    assert [text(a) for a in call(code, name).arguments] == arguments


def test_a_macro_that_does_more_is_not_an_alias() -> None:
    code = '#define SAFE(d, s) snprintf(d, sizeof d, "%s", s)\nvoid f() { SAFE(x, y); }'
    assert [c.name for c in function(code).calls] == ["SAFE"]


def test_a_comment_in_a_macro_does_not_give_its_text_to_another() -> None:
    code = """
#define LEAVE(value) { result = value; goto out; }
#define NEXT(x) \\
{ \\
    if (n > 20 /* the longest */) \\
        LEAVE(BAD); \\
    if (x <= limit[n]) break; \\
}

int after(void) { return 1; }
"""
    found = facts(code).function_macros
    assert found["LEAVE"].parameters == ("value",)
    assert found["LEAVE"].body == "{ result = value; goto out; }"
    assert found["NEXT"].parameters == ("x",)
    body = "{ if (n > 20 ) LEAVE(BAD); if (x <= limit[n]) break; }"
    assert " ".join(found["NEXT"].body.split()) == body


def test_disabled_code_is_not_there() -> None:
    code = """
    #if 0
    void gone(void) { strcpy(a, b); }
    #else
    void f(void) { x();
    #if 0
        y();
    #else
        z();
    #endif
    }
    #endif
    """
    assert [c.name for c in function(code).calls] == ["x", "z"]


def test_the_target_of_a_call_is_seen_through_casts() -> None:
    assert text(call("void f() { char *p = (char *)malloc(4); }", "malloc").target) == "p"
    assert text(call("void f() { s->p = (malloc(4)); }", "malloc").target) == "s->p"
    assert call("void f() { malloc(4); }", "malloc").statement is not None


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("class A { public: int x; };", "cpp"),
        ('#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n', "c"),
        ("struct a { int class_id; };", "c"),
        ("template <typename T> T twice(T t);", "cpp"),
        ("namespace a {\n}", "cpp"),
    ],
)
def test_headers_are_told_apart(code: str, language: str) -> None:
    assert language_of("x.h", code.encode()) == language


OPEN = """#ifdef __cplusplus
extern "C" {
#endif
"""
CLOSE = """#if defined(__cplusplus)
}  /* extern "C" */
#endif"""


@pytest.mark.parametrize(
    "opening",
    [
        OPEN,
        OPEN.replace("\n", "\r\n"),
        '# ifdef __cplusplus\n\nextern "C"\n{\n# endif /* __cplusplus */\n',
        '#if defined __cplusplus && !defined(LOCAL) /* for C++ */\nextern "C" { // C\n#endif\n',
    ],
)
def test_the_linkage_of_c_for_cpp_tears_nothing(opening: str) -> None:
    """The grammar takes `#ifdef` for a whole; a brace in another leaves all between in pieces."""
    inner = "#if DEEP\nvoid *first(int n)\n  PURE NONNULL;\nint second(void);\n#endif\n"
    template = "#ifdef __cplusplus\ntemplate <typename T> T *own(T *p) { return p; }\n#endif\n"
    header = f"#ifndef A_H\n#define A_H\n{opening}{inner}{CLOSE}\n{template}#endif\n"
    for language in ("c", "cpp"):
        assert {"first", "second"} <= facts(header, language).functions.keys()
    assert not parse(header.replace("PURE NONNULL", "").encode(), "cpp").root_node.has_error


@pytest.mark.parametrize("code", [OPEN + "int f(void);\n", "int f(void);\n" + CLOSE])
def test_a_linkage_that_is_not_closed_stays_an_error(code: str) -> None:
    assert parse(code.encode(), "c").root_node.has_error


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("}  /* extern", "/* extern"),  # what was left out is not any more, far from the edit
        ("int f(void);", "int g(int);"),
        ('extern "C"', 'extern "D"'),
        ("__cplusplus)", "__cplusplu)"),
    ],
)
def test_an_edit_of_a_header_gives_the_tree_of_its_text(before: str, after: str) -> None:
    old = f"{OPEN}int f(void);\nstruct s {{ int a; }};\n{CLOSE}\n"
    text = old
    parsed = parse_edited(old.encode(), "c", None)
    for one, other in ((before, after), (after, before)):
        text = text.replace(one, other)
        parsed = parse_edited(text.encode(), "c", parsed)
        fresh = parse(text.encode(), "c")
        assert str(parsed.tree.root_node) == str(fresh.root_node) or not parsed.sure
    assert parsed.sure and text == old


EXPORTED = """class Base { public: virtual ~Base(); };
class LIB_API Derived : public Base { public: Derived(int *p) : held(p) {} int *held; };
struct LIB_EXPORT Other final
{
    LIB_API
    virtual ~Other() = default;
    LIB_API static int count(int n);
    int other;
};
#define LIB_API EXPORT_API in_one_build
struct POINT origin{1, 2};
"""


def test_a_class_that_a_macro_exports_has_its_own_name() -> None:
    known = facts(EXPORTED, "cpp")
    assert "Derived" in known.types and {"held", "other"} <= known.fields.keys()
    assert not {"LIB_API", "LIB_EXPORT"} & known.types.keys() and "origin" in known.variables
    assert not parse(EXPORTED.encode(), "cpp").root_node.has_error


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LIB_API ", ""),
        ("LIB_API", "LIB_A"),
        ("class LIB_API", "enum LIB_API"),
        ("final\n{", "final;\n{"),
    ],
)
def test_an_edit_of_an_exported_class_gives_the_tree_of_its_text(before: str, after: str) -> None:
    new = EXPORTED.replace(before, after).encode()
    edited = parse_edited(new, "cpp", parse_edited(EXPORTED.encode(), "cpp", None))
    assert str(edited.tree.root_node) == str(parse(new, "cpp").root_node) or not edited.sure


def test_words_that_open_a_header_are_no_types() -> None:
    for word in ("G_BEGIN_DECLS", "_GL_INLINE_HEADER_BEGIN", "PR_BEGIN_EXTERN_C"):
        end = word.replace("BEGIN", "END")
        code = f"#include <a.h>\n{word}\n#ifndef B\n#define B 1\n#endif\nint f(int n);\n{end}\n"
        assert "f" in facts(code).functions, word
        assert not parse(code.encode(), "c").root_node.has_error, word


def test_cpp_functions_and_methods() -> None:
    code = "void A::run(std::string s) { std::system(s.c_str()); this->x->close(1); g<int>(2); }"
    calls = {c.name: c for c in function(code, "cpp").calls}
    assert calls["system"].written == "std::system" and not calls["system"].is_method
    assert calls["c_str"].is_method and text(calls["c_str"].receiver) == "s"
    assert calls["close"].is_method and calls["g"].written == "g<int>"
    assert function(code, "cpp").name == "A::run"


def test_headers_are_found_beside_then_by_their_path() -> None:
    files = {
        "src/a.c": b'#include "util.h"\n#include "lib/deep.h"\n#include <stdio.h>\n',
        "src/util.h": b"#define RUN system\n",
        "other/util.h": b"#define RUN puts\n",
        "vendor/lib/deep.h": b'#include "again.h"\n#define DEEP 1\n',
        "vendor/lib/again.h": b'#include "deep.h"\n#define AGAIN 2\n',
        "compat/stdio.h": b"#define WRONG 1\n",
    }
    headers = Headers(files.get, files)
    own = facts(files["src/a.c"].decode())
    assert headers.closure("src/a.c", own) == [
        "src/util.h",
        "vendor/lib/deep.h",
        "vendor/lib/again.h",
    ]
    digest, parts = headers.facts_for("src/a.c", own)
    merged = own.merge(parts)
    assert merged.alias_of("RUN") == ("system", None)
    assert merged.macros["AGAIN"] == "2" and "WRONG" not in merged.macros
    files["src/util.h"] = b"#define RUN puts\n"
    assert headers.facts_for("src/a.c", own)[0] == digest, "read once"
    headers.forget("src/util.h")
    assert headers.facts_for("src/a.c", own)[0] != digest


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_bytes_that_are_no_text_are_no_errors(language: LanguageName) -> None:
    data = b"int f(void) { return \xe9\x80\x93 + 1; } // \x80".decode("latin-1").encode()
    root = parse(data, language).root_node
    assert not root.has_error
    assert root.end_byte == len(data)

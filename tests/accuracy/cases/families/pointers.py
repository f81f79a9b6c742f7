"""Null pointers, with and without an allocation, values that were never set, and resources."""

from __future__ import annotations

from cases.shape import Shape

SHAPES: list[Shape] = []

_THING = "struct $Thing\n{\nint $m1;\nint $m2;\n};\n"


def _null() -> None:
    for type, value, show in (
        ("char", '(char *)"a text"', "@char($d[0]);\n"),
        ("wchar_t", '(wchar_t *)L"a text"', "@num((int)$d[0]);\n"),
        ("int", "&$b", "@num(*$d);\n"),
        ("int64_t", "&$b", "@big(*$d);\n"),
        ("@pair", "&$b", "@num($d->@one);\n"),
        ("struct $Thing", "&$b", "@num($d->$m1);\n"),
    ):
        setup = f"{type} $b;\nmemset(&$b, 0, sizeof($b));\n" if value == "&$b" else ""
        SHAPES.append(
            Shape(
                cwe=476,
                name=f"pointer to {type}",
                type=f"{type} *",
                shared=_THING if "$Thing" in type else "",
                setup=setup,
                bad="$d = NULL;\n",
                good=f"$d = {value};\n",
                sink=show,
                checked=f"if ($d != NULL)\n{{\n{show}}}\nelse\n{{\n@say(<text>);\n}}\n",
            )
        )
    both = "{\n@pair *$p = NULL;\nif (($p != NULL) <and> ($p->@one == 5))\n{\n@say(<text>);\n}\n}\n"
    late = "{\nint *$p = (int *)malloc(sizeof(int));\n<first>*$p = 5;\n@num(*$p);\n"
    late += "<then>free($p);\n}\n"
    test = "if ($p == NULL)\n{\nexit(-1);\n}\n"
    again = "if ($p != NULL)\n{\n*$p = 10;\n}\n"
    after = "{\nint *$p = NULL;\nif ($p == NULL)\n{\n@say(<text>);\n<use>}\n}\n"
    SHAPES.extend(
        [
            Shape(
                cwe=476,
                name="both sides of one ampersand",
                point=True,
                sink=both.replace("<and>", "&"),
                good=both.replace("<and>", "&&"),
            ),
            Shape(
                cwe=476,
                name="test after use",
                point=True,
                sink=late.replace("<first>", "").replace("<then>", again),
                good=late.replace("<first>", test).replace("<then>", "*$p = 10;\n"),
            ),
            Shape(
                cwe=476,
                name="use where it is null",
                point=True,
                sink=after.replace("<use>", "@num(*$p);\n"),
                good=after.replace("<use>", ""),
            ),
        ]
    )


def _unchecked() -> None:
    for type in ("char", "int", "int64_t", "wchar_t", "@pair"):
        uses = {
            "char": 'strcpy($d, "<word>");\n@say($d);\n',
            "wchar_t": 'wcscpy($d, L"<word>");\n@wide($d);\n',
            "int": "$d[0] = 5;\n@num($d[0]);\n",
            "int64_t": "$d[0] = 5;\n@big($d[0]);\n",
            "@pair": "$d[0].@one = 1;\n$d[0].@two = 1;\n@showpair(&$d[0]);\n",
        }
        calls = {
            "malloc": f"malloc(20 * sizeof({type}))",
            "calloc": f"calloc(20, sizeof({type}))",
            "realloc": f"realloc($d, 20 * sizeof({type}))",
        }
        for how, call in calls.items():
            use = uses[type]
            SHAPES.append(
                Shape(
                    cwe=690,
                    name=f"{how} of {type}",
                    type=f"{type} *",
                    bad=f"$d = ({type} *){call};\n",
                    good=f"$d = ({type} *){call};\nif ($d == NULL)\n{{\nexit(-1);\n}}\n",
                    sink=f"{use}free($d);\n",
                    checked=f"if ($d != NULL)\n{{\n{use}free($d);\n}}\n",
                )
            )
        SHAPES.append(
            Shape(
                cwe=690,
                name=f"new without throwing of {type}",
                type=f"{type} *",
                cpp=True,
                bad=f"$d = new(nothrow) {type}[20];\n",
                good=f"$d = new {type}[20];\n",
                sink=f"{uses[type]}delete [] $d;\n",
                checked=f"if ($d != NULL)\n{{\n{uses[type]}delete [] $d;\n}}\n",
            )
        )
    SHAPES.append(
        Shape(
            cwe=690,
            name="strdup",
            bad='$d = strdup("a text");\n',
            good='$d = strdup("a text");\nif ($d == NULL)\n{\nexit(-1);\n}\n',
            sink="$d[0] = 'b';\n@say($d);\nfree($d);\n",
            checked="if ($d != NULL)\n{\n$d[0] = 'b';\n@say($d);\nfree($d);\n}\n",
        )
    )
    for how, call in (
        ("fopen", 'fopen("<word>.txt", "w+")'),
        ("freopen", 'freopen("<word>.txt", "w+", stdin)'),
        ("fdopen", 'fdopen(3, "w")'),
    ):
        SHAPES.append(
            Shape(
                cwe=690,
                name=how,
                type="FILE *",
                bad=f"$d = {call};\n",
                good=f"$d = {call};\nif ($d == NULL)\n{{\nexit(-1);\n}}\n",
                sink="fclose($d);\n",
                checked="if ($d != NULL)\n{\nfclose($d);\n}\n",
            )
        )


def _unset() -> None:
    scalars = (
        ("int", "$d = 5;\n", "@num($d);\n"),
        ("double", "$d = 5.0;\n", "@real($d);\n"),
        ("int64_t", "$d = 5LL;\n", "@big($d);\n"),
        ("char *", '$d = (char *)"a text";\n', "@say($d);\n"),
        ("wchar_t *", '$d = (wchar_t *)L"a text";\n', "@wide($d);\n"),
        ("@pair", "$d.@one = 1;\n$d.@two = 2;\n", "@num($d.@one);\n@num($d.@two);\n"),
    )
    for type, set, use in scalars:
        SHAPES.append(
            Shape(
                cwe=457,
                name=f"{type} never set",
                type=type,
                start="",
                bad=";\n",
                good=set,
                sink=use,
                checked=set + use,
            )
        )
    for type, show, store in (
        ("int", "@num($d[$i]);", "$d[$i] = $i;"),
        ("double", "@real($d[$i]);", "$d[$i] = $i;"),
        ("@pair", "@num($d[$i].@one);", "$d[$i].@one = $i;\n$d[$i].@two = $i;"),
    ):

        def fill(count: str, store: str = store) -> str:
            return f"{{\nint $i;\nfor ($i = 0; $i < {count}; $i++)\n{{\n{store}\n}}\n}}\n"

        use = f"{{\nint $i;\nfor ($i = 0; $i < 10; $i++)\n{{\n{show}\n}}\n}}\n"
        heap = f"$d = ({type} *)malloc(10 * sizeof({type}));\nif ($d == NULL)\n{{\nexit(-1);\n}}\n"
        places = {
            "array": (f"{type} $b[10];\n$d = $b;\n", "", ""),
            "alloca": (f"$d = ({type} *)alloca(10 * sizeof({type}));\n", "", ""),
            "malloc": ("", heap, "free($d);\n"),
        }
        for where, (setup, taken, release) in places.items():
            for part, count in (("nothing", ""), ("half", "(10 / 2)")):
                SHAPES.append(
                    Shape(
                        cwe=457,
                        name=f"{part} of {where} of {type} set",
                        type=f"{type} *",
                        start="",
                        setup=setup,
                        bad=taken + (fill(count) if count else ";\n"),
                        good=taken + fill("10"),
                        sink=use + release,
                        checked=fill("10") + use + release,
                    )
                )
    for type, value, show in (("int", "5", "@num(*$p);\n"), ("double", "5.0", "@real(*$p);\n")):
        form = f"{{\n{type} *$p = ({type} *)malloc(sizeof({type}));\n"
        form += "if ($p == NULL)\n{\nexit(-1);\n}\n"
        SHAPES.append(
            Shape(
                cwe=457,
                name=f"one {type} from malloc",
                point=True,
                sink=f"{form}{show}free($p);\n}}\n",
                good=f"{form}*$p = {value};\n{show}free($p);\n}}\n",
            )
        )


def _resources() -> None:
    """Closed by the wrong function, or not at all (404)."""
    stream = 'fopen("<word>.txt", "w+")'
    again = 'freopen("<word>.txt", "w+", stdout)'
    number = 'open("<word>.txt", O_RDWR | O_CREAT, S_IREAD | S_IWRITE)'
    handle = (
        'CreateFile("<word>.txt", (GENERIC_WRITE | GENERIC_READ), 0, NULL, OPEN_ALWAYS, '
        "FILE_ATTRIBUTE_NORMAL, NULL)"
    )
    for name, call in (("fopen", stream), ("freopen", again)):
        for wrong, release in (
            ("close", "close((int)(intptr_t)$d);\n"),
            ("CloseHandle", "CloseHandle((HANDLE)$d);\n"),
        ):
            SHAPES.append(
                Shape(
                    cwe=404,
                    name=f"{name} and {wrong}",
                    type="FILE *",
                    bad=f"$d = {call};\n",
                    good="$d = NULL;\n",
                    sink=f"if ($d != NULL)\n{{\n{release}}}\n",
                    checked="if ($d != NULL)\n{\nfclose($d);\n}\n",
                    only_checked=True,
                )
            )
    for wrong, release in (
        ("fclose", "fclose((FILE *)(intptr_t)$d);\n"),
        ("CloseHandle", "CloseHandle((HANDLE)(intptr_t)$d);\n"),
    ):
        SHAPES.append(
            Shape(
                cwe=404,
                name=f"open and {wrong}",
                type="int",
                start="-1",
                bad=f"$d = {number};\n",
                good="",
                sink=f"if ($d != -1)\n{{\n{release}}}\n",
                checked="if ($d != -1)\n{\nclose($d);\n}\n",
                only_checked=True,
            )
        )
    for wrong, release in (
        ("fclose", "fclose((FILE *)$d);\n"),
        ("close", "close((int)(intptr_t)$d);\n"),
    ):
        SHAPES.append(
            Shape(
                cwe=404,
                name=f"CreateFile and {wrong}",
                type="HANDLE",
                start="INVALID_HANDLE_VALUE",
                bad=f"$d = {handle};\n",
                good="",
                sink=f"if ($d != INVALID_HANDLE_VALUE)\n{{\n{release}}}\n",
                checked="if ($d != INVALID_HANDLE_VALUE)\n{\nCloseHandle($d);\n}\n",
                only_checked=True,
            )
        )
    text = (
        '{\nchar $t[100];\nFILE *$p = fopen("/tmp/<word>", "r");\nif ($p == NULL)\n{\nexit(1);\n}\n'
    )
    text += "if (fgets($t, 100, $p) != NULL)\n{\n@say($t);\n}\n<close>}\n"
    bytes = (
        '{\nchar $t[100];\nint $p = open("/tmp/<word>", O_RDONLY);\nif ($p == -1)\n{\nexit(1);\n}\n'
    )
    bytes += "if (read($p, $t, 100) > 0)\n{\n@char($t[0]);\n}\n<close>}\n"
    for name, form, close in (("fopen", text, "fclose($p);\n"), ("open", bytes, "close($p);\n")):
        SHAPES.append(
            Shape(
                cwe=404,
                name=f"{name} never closed",
                point=True,
                sink=form.replace("<close>", ""),
                good=form.replace("<close>", close),
            )
        )


_null()
_unchecked()
_unset()
_resources()

"""Memory that is lost, released twice or wrongly, used too late, too early, or without a check."""

from __future__ import annotations

from cases.inputs import text
from cases.shape import Shape

SHAPES: list[Shape] = []

_TYPES = ("char", "int", "int64_t", "wchar_t", "@pair", "struct $Thing")
_THING = "struct $Thing\n{\nint $m1;\nint $m2;\n};\n"
_CLASS = "class $Thing\n{\npublic:\nint $m1;\nint $m2;\n};\n"
_NULL = "if ($d == NULL)\n{\nexit(-1);\n}\n"


def _shared(type: str) -> str:
    return _THING if "$Thing" in type else ""


def _use(type: str) -> str:
    """Statements that fill and show what `$d` points to."""
    if type == "char":
        return 'strcpy($d, "<word>");\n@say($d);\n'
    if type == "wchar_t":
        return 'wcscpy($d, L"<word>");\n@wide($d);\n'
    if type == "int":
        return "$d[0] = 5;\n@num($d[0]);\n"
    if type == "int64_t":
        return "$d[0] = 5LL;\n@big($d[0]);\n"
    if type == "@pair":
        return "$d[0].@one = 0;\n$d[0].@two = 0;\n@showpair(&$d[0]);\n"
    return "$d[0].$m1 = 0;\n$d[0].$m2 = 1;\n@num($d[0].$m2);\n"


def _show(type: str) -> str:
    return _use(type).splitlines()[-1] + "\n"


def _taken(type: str, how: str) -> str:
    """Statements that allocate 100 elements (one for plain `new`)."""
    cast = f"({type} *)"
    test = _NULL if how in ("malloc", "calloc", "realloc") else ""
    call = {
        "malloc": f"{cast}malloc(100 * sizeof({type}))",
        "calloc": f"{cast}calloc(100, sizeof({type}))",
        "realloc": f"{cast}realloc($d, 100 * sizeof({type}))",
        "new": f"new {type}",
        "new array": f"new {type}[100]",
    }[how]
    return f"$d = {call};\n{test}"


_RELEASE = {
    "malloc": "free($d);\n",
    "calloc": "free($d);\n",
    "realloc": "free($d);\n",
    "new": "delete $d;\n",
    "new array": "delete [] $d;\n",
}


def _ways(type: str) -> list[str]:
    ways = ["malloc", "calloc", "realloc", "new array"]
    return ways if type in ("char", "wchar_t") else [*ways, "new"]


def _leaks() -> None:
    for type in _TYPES:
        for how in _ways(type):
            use = _use(type)
            SHAPES.append(
                Shape(
                    cwe=401,
                    name=f"{type} from {how}",
                    type=f"{type} *",
                    shared=_shared(type),
                    setup=f"{type} $b[100];\n",
                    bad=_taken(type, how) + use,
                    good="$d = $b;\n" + use,
                    sink="@say(<text>);\n",
                    checked=_RELEASE[how],
                    cpp=how.startswith("new"),
                )
            )
    for copy, type, show in (
        ("strdup", "char", "@say($d);\n"),
        ("wcsdup", "wchar_t", "@wide($d);\n"),
    ):
        letter = "L" if type == "wchar_t" else ""
        SHAPES.append(
            Shape(
                cwe=401,
                name=copy,
                type=f"{type} *",
                setup=f"{type} $b[100];\n",
                bad=f'{{\n{type} $t[] = {letter}"a text";\n$d = {copy}($t);\nif ($d == NULL)\n'
                f"{{\nexit(-1);\n}}\n{show}}}\n",
                good=f"$d = $b;\n{_use(type)}",
                sink="@say(<text>);\n",
                checked="free($d);\n",
            )
        )
    for type in ("char", "int", "@pair"):
        start = f"{type} *$p = ({type} *)malloc(100 * sizeof({type}));\n"
        start += "if ($p == NULL)\n{\nexit(-1);\n}\n"
        use = _use(type).replace("$d", "$p")
        bad = f"{{\n{start}{use}$p = ({type} *)realloc($p, (130000) * sizeof({type}));\n"
        bad += f"if ($p != NULL)\n{{\n{use}free($p);\n}}\n}}\n"
        good = f"{{\n{start}{use}{type} *$q = ({type} *)realloc($p, (130000) * sizeof({type}));\n"
        good += f"if ($q != NULL)\n{{\n$p = $q;\n{use}}}\nfree($p);\n}}\n"
        SHAPES.append(Shape(cwe=401, name=f"realloc of {type}", point=True, sink=bad, good=good))


def _double_and_late() -> None:
    for type in _TYPES:
        for how in ("malloc", "new", "new array"):
            if how == "new" and type in ("char", "wchar_t"):
                continue
            cpp = how.startswith("new")
            release, taken = _RELEASE[how], _taken(type, how)
            SHAPES.append(
                Shape(
                    cwe=415,
                    name=f"{type} from {how}",
                    type=f"{type} *",
                    shared=_shared(type),
                    bad=taken + release,
                    good=taken,
                    sink=release,
                    checked="@say(<text>);\n",
                    cpp=cpp,
                )
            )
            SHAPES.append(
                Shape(
                    cwe=416,
                    name=f"{type} from {how}",
                    type=f"{type} *",
                    shared=_shared(type),
                    bad=taken + _use(type) + release,
                    good=taken + _use(type),
                    sink=_show(type),
                    checked="@say(<text>);\n",
                    cpp=cpp,
                )
            )
    reverse = (
        "{\nsize_t $n = strlen($t);\nsize_t $i;\nchar *$r = (char *)malloc($n + 1);\n"
        "if ($r == NULL)\n{\nexit(-1);\n}\nfor ($i = 0; $i < $n; $i++)\n{\n"
        "$r[$i] = $t[$n - $i - 1];\n}\n$r[$n] = '\\0';\n<free>return $r;\n}\n"
    )
    use = "{\nchar *$r = $_turn((char *)<text>);\n@say($r);\n}\n"
    SHAPES.append(
        Shape(
            cwe=416,
            name="freed memory returned",
            point=True,
            head="static char *$_turn(char *$t)",
            sink=reverse.replace("<free>", "free($r);\n"),
            good=reverse.replace("<free>", ""),
            tail="return NULL;\n",
            after="void $_main(void)\n" + use,
        )
    )


def _mismatched() -> None:
    """What was taken one way is given back another."""
    for type in ("char", "int", "int64_t", "@pair", "struct $Thing"):
        for how in _ways(type):
            wrong = (
                ("delete $d;\n", "delete [] $d;\n")
                if not how.startswith("new")
                else (
                    ("free($d);\n", "delete $d;\n")
                    if how == "new array"
                    else ("free($d);\n", "delete [] $d;\n")
                )
            )
            for release in wrong:
                other = {"free($d);\n": "malloc", "delete $d;\n": "new"}.get(release, "new array")
                SHAPES.append(
                    Shape(
                        cwe=762,
                        name=f"{type} from {how}, {release.split('$')[0].strip(' (')}",
                        type=f"{type} *",
                        shared=_shared(type),
                        cpp=True,
                        bad=_taken(type, how),
                        good=_taken(type, other),
                        sink=release,
                        checked=_RELEASE[how],
                    )
                )
    SHAPES.append(
        Shape(
            cwe=762,
            name="strdup and delete",
            cpp=True,
            bad='{\nchar $t[] = "a text";\n$d = strdup($t);\n}\n',
            good="$d = new char[100];\n",
            sink="delete [] $d;\n",
            checked="free($d);\n",
        )
    )


def _not_heap() -> None:
    for type in _TYPES:
        for where in ("array", "static", "alloca"):
            for how in ("malloc", "new", "new array"):
                if how == "new" and type in ("char", "wchar_t"):
                    continue
                declared = {
                    "array": f"{type} $b[100];\n",
                    "static": f"static {type} $b[100];\n",
                    "alloca": f"{type} *$b = ({type} *)alloca(100 * sizeof({type}));\n",
                }[where]
                use = _use(type)
                SHAPES.append(
                    Shape(
                        cwe=590,
                        name=f"{how} and {where} of {type}",
                        type=f"{type} *",
                        shared=_shared(type),
                        setup=declared,
                        bad="$d = $b;\n" + use,
                        good=_taken(type, how) + use,
                        sink=_show(type) + _RELEASE[how],
                        cpp=how.startswith("new"),
                    )
                )


def _not_start() -> None:
    for source in ("console", "file", "environment", "connect", "listen", "fixed"):
        filled = 'strcpy($d, "Fixed String");\n' if source == "fixed" else text(source, 100)
        for how, taken, release in (
            ("malloc", _taken("char", "malloc"), "free($d);\n"),
            ("new", _taken("char", "new array"), "delete [] $d;\n"),
        ):
            start = taken + "$d[0] = '\\0';\n"
            step = "{\n<move>\n" + release + "}\n"
            moved = "for (; *$d != '\\0'; $d++)\n{\nif (*$d == 'S')\n{\n@say(<text>);\nbreak;\n}\n}"
            index = "size_t $j;\nfor ($j = 0; $j < strlen($d); $j++)\n{\nif ($d[$j] == 'S')\n"
            index += "{\n@say(<text>);\nbreak;\n}\n}"
            body = start + filled
            SHAPES.append(
                Shape(
                    cwe=761,
                    name=f"search of text from {source}, {how}",
                    setup="",
                    bad=body,
                    good=body,
                    sink=step.replace("<move>", moved),
                    checked=step.replace("<move>", index),
                    only_checked=True,
                    cpp=how == "new",
                )
            )
    for how, taken, release in (
        ("malloc", "(char *)malloc(100)", "free($p);"),
        ("new", "new char[100]", "delete [] $p;"),
    ):
        test = "if ($p == NULL)\n{\nexit(-1);\n}\n" if how == "malloc" else ""
        form = f'{{\nchar *$p = {taken};\n{test}strcpy($p, "abcdef");\n<body>\n}}\n'
        SHAPES.append(
            Shape(
                cwe=761,
                name=f"start moved over, {how}",
                point=True,
                cpp=how == "new",
                sink=form.replace("<body>", f"$p += 2;\n@say($p);\n{release}"),
                good=form.replace("<body>", f"@say($p + 2);\n{release}"),
            )
        )


def _sizes() -> None:
    for type, value in (("char", "'A'"), ("int", "5"), ("double", "1.7E300"), ("@pair", "")):
        store = f"*$p = {value};\n" if value else "$p->@one = 1;\n$p->@two = 2;\n"
        form = f"{{\n{type} *$p = NULL;\n$p = ({type} *)malloc(sizeof(<what>));\n"
        form += f"if ($p == NULL)\n{{\nexit(-1);\n}}\n{store}free($p);\n}}\n"
        SHAPES.append(
            Shape(
                cwe=467,
                name=f"malloc of {type}",
                point=True,
                sink=form.replace("<what>", "$p"),
                good=form.replace("<what>", "*$p"),
            )
        )
    clear = "memset(<v>, 0, sizeof(<s>));\n"
    for type in ("char", "int"):
        head = f"static void $_clear({type} *$p, size_t $n)"
        tail = "@size($n);\n"
        call = f"void $_main(void)\n{{\n{type} $b[64];\n$_clear($b, 64);\n@num((int)$b[0]);\n}}\n"
        SHAPES.append(
            Shape(
                cwe=467,
                name=f"memset of a parameter of {type}",
                point=True,
                head=head,
                tail=tail,
                after=call,
                sink=clear.replace("<v>", "$p").replace("<s>", "$p"),
                good=clear.replace("<v>", "$p").replace("<s>", "*$p").replace("))", ") * $n)"),
            )
        )
    copy = "{\nchar *$p = (char *)malloc(100);\nif ($p == NULL)\n{\nexit(-1);\n}\n"
    copy += "strncpy($p, \"abcdefghijklmnopqrstuvwxyz\", <n>);\n$p[<n> - 1] = '\\0';\n"
    copy += "@say($p);\nfree($p);\n}\n"
    SHAPES.append(
        Shape(
            cwe=467,
            name="strncpy",
            point=True,
            sink=copy.replace("<n>", "sizeof($p)"),
            good=copy.replace("<n>", "100"),
        )
    )


_leaks()
_double_and_late()
_mismatched()
_not_heap()
_not_start()
_sizes()

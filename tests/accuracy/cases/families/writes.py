"""Writes beyond, and before, the memory they are meant for: 121, 122, 124."""

from __future__ import annotations

from cases.inputs import number
from cases.shape import Shape

SHAPES: list[Shape] = []

_INDEX = """
{
int $i;
<declare>
<test>
{
<buffer>[$d] = 1;
for ($i = 0; $i < 10; $i++)
{
@num(<buffer>[$i]);
}
}
else
{
@say(<text>);
}
<release>
}
"""


def _index(cwe: int, name: str, declare: str, release: str, cpp: bool = False) -> None:
    """An index that is tested against only one of its two ends."""
    body = _INDEX.replace("<declare>", declare).replace("<release>", release)
    body = body.replace("<buffer>", "$b")
    half, good = ("if ($d < 10)", "$d = 7;") if cwe == 124 else ("if ($d >= 0)", "$d = 7;")
    for source in ("fgets", "fscanf", "rand", "connect", "listen", "fixed"):
        fixed = "$d = -5;" if cwe == 124 else "$d = 10;"
        SHAPES.append(
            Shape(
                cwe=cwe,
                name=f"index from {source} into {name}",
                type="int",
                start="-1" if cwe != 124 else "7",
                bad=fixed if source == "fixed" else number(source),
                good=good,
                sink=body.replace("<test>", half),
                checked=body.replace("<test>", "if ($d >= 0 && $d < (10))"),
                cpp=cpp,
            )
        )


_HEAP_INTS = """int *$b = (int *)malloc(10 * sizeof(int));
if ($b == NULL)
{
exit(-1);
}
for ($i = 0; $i < 10; $i++)
{
$b[$i] = 0;
}"""
_NEW_INTS = """int *$b = new int[10];
for ($i = 0; $i < 10; $i++)
{
$b[$i] = 0;
}"""
_index(121, "array", "int $b[10] = { 0 };", "")
_index(122, "malloc", _HEAP_INTS, "free($b);")
_index(122, "new", _NEW_INTS, "delete [] $b;", cpp=True)
_index(124, "array", "int $b[10] = { 0 };", "")
_index(124, "malloc", _HEAP_INTS, "free($b);")
_index(124, "new", _NEW_INTS, "delete [] $b;", cpp=True)

_FILL = {
    "char": "char $s[100];\nmemset($s, 'C', 99);\n$s[99] = '\\0';",
    "wchar_t": "wchar_t $s[100];\nwmemset($s, L'C', 99);\n$s[99] = L'\\0';",
    "int": "int $s[100] = { 0 };",
    "int64_t": "int64_t $s[100] = { 0 };",
    "@pair": """@pair $s[100];
{
size_t $j;
for ($j = 0; $j < 100; $j++)
{
$s[$j].@one = 0;
$s[$j].@two = 0;
}
}""",
}
_SHOW = {
    "char": "@say($d);",
    "wchar_t": "@wide($d);",
    "int": "@num($d[0]);",
    "int64_t": "@big($d[0]);",
    "@pair": "@showpair(&$d[0]);",
}
_END = {"char": "$d[100 - 1] = '\\0';\n", "wchar_t": "$d[100 - 1] = L'\\0';\n"}
_COPIES = {
    "memcpy": "memcpy($d, $s, 100 * sizeof(<T>));\n<end>",
    "memmove": "memmove($d, $s, 100 * sizeof(<T>));\n<end>",
    "loop": "{\nsize_t $i;\nfor ($i = 0; $i < 100; $i++)\n{\n$d[$i] = $s[$i];\n}\n}\n<end>",
}
_TEXT_COPIES = {
    "char": {
        "cpy": "strcpy($d, $s);\n",
        "cat": "strcat($d, $s);\n",
        "ncpy": "strncpy($d, $s, 100 - 1);\n<end>",
        "ncat": "strncat($d, $s, 100);\n",
        "snprintf": 'snprintf($d, 100, "%s", $s);\n',
    },
    "wchar_t": {
        "cpy": "wcscpy($d, $s);\n",
        "ncpy": "wcsncpy($d, $s, 100 - 1);\n<end>",
        "ncat": "wcsncat($d, $s, 100);\n",
        "swprintf": 'swprintf($d, 100, L"%ls", $s);\n',
    },
}


def _copies(type: str) -> dict[str, str]:
    found = {**_COPIES, **_TEXT_COPIES.get(type, {})}
    end = _END.get(type, "")
    return {name: text.replace("<T>", type).replace("<end>", end) for name, text in found.items()}


def _copy_shapes() -> None:
    """Copies of 100 elements into memory for 50."""
    for type in ("char", "wchar_t", "int", "int64_t", "@pair"):
        zero = "$d[0] = " + {"char": "'\\0'", "wchar_t": "L'\\0'"}.get(type, "0") + ";\n"
        zero = zero if type in _END else ""
        for name, copy in _copies(type).items():
            sink = f"{{\n{_FILL[type]}\n{copy}{_SHOW[type]}\n<release>\n}}\n"
            word = type.strip("@_t")
            stack = sink.replace("<release>", "")
            arrays = f"{type} $bad[50];\n{type} $good[100];\n"
            SHAPES.append(
                Shape(
                    cwe=121,
                    name=f"{name} of {word} into array",
                    type=f"{type} *",
                    start="",
                    setup=arrays,
                    bad=f"$d = $bad;\n{zero}",
                    good=f"$d = $good;\n{zero}",
                    sink=stack,
                )
            )
            stacked = "{t} *${n} = ({t} *)alloca({c} * sizeof({t}));\n"
            SHAPES.append(
                Shape(
                    cwe=121,
                    name=f"{name} of {word} into alloca",
                    type=f"{type} *",
                    start="",
                    setup=stacked.format(t=type, n="bad", c=50)
                    + stacked.format(t=type, n="good", c=100),
                    bad=f"$d = $bad;\n{zero}",
                    good=f"$d = $good;\n{zero}",
                    sink=stack,
                )
            )
            heap = f"$d = ({type} *)malloc(<c> * sizeof({type}));\n"
            heap += f"if ($d == NULL)\n{{\nexit(-1);\n}}\n{zero}"
            SHAPES.append(
                Shape(
                    cwe=122,
                    name=f"{name} of {word} into malloc",
                    type=f"{type} *",
                    bad=heap.replace("<c>", "50"),
                    good=heap.replace("<c>", "100"),
                    sink=sink.replace("<release>", "free($d);"),
                )
            )
            new = f"$d = new {type}[<c>];\n{zero}"
            SHAPES.append(
                Shape(
                    cwe=122,
                    name=f"{name} of {word} into new",
                    type=f"{type} *",
                    cpp=True,
                    bad=new.replace("<c>", "50"),
                    good=new.replace("<c>", "100"),
                    sink=sink.replace("<release>", "delete [] $d;"),
                )
            )
            if name in ("cat", "ncat", "snprintf", "swprintf"):
                continue
            under = sink.replace("<release>", "")
            SHAPES.append(
                Shape(
                    cwe=124,
                    name=f"{name} of {word} before array",
                    type=f"{type} *",
                    start="",
                    setup=f"{type} $b[100];\n" + _zeroed(type),
                    bad="$d = $b - 8;\n",
                    good="$d = $b;\n",
                    sink=under,
                )
            )
            if type in _END:
                _before_heap(type, name, under)


def _zeroed(type: str) -> str:
    if type in _END:
        letter = "L'A'" if type == "wchar_t" else "'A'"
        set = "wmemset" if type == "wchar_t" else "memset"
        return f"{set}($b, {letter}, 99);\n$b[99] = 0;\n"
    return "memset($b, 0, sizeof($b));\n"


def _before_heap(type: str, name: str, sink: str) -> None:
    """Writes before the first byte of allocated memory."""
    set = "wmemset" if type == "wchar_t" else "memset"
    taken = {
        "malloc": f"{type} *$b = ({type} *)malloc(100 * sizeof({type}));\n"
        "if ($b == NULL)\n{\nexit(-1);\n}\n",
        "new": f"{type} *$b = new {type}[100];\n",
        "alloca": f"{type} *$b = ({type} *)alloca(100 * sizeof({type}));\n",
    }
    for how, text in taken.items():
        filled = f"{set}($b, 'A', 100 - 1);\n$b[100 - 1] = '\\0';\n"
        if how == "alloca":
            SHAPES.append(
                Shape(
                    cwe=124,
                    name=f"{name} of {type} before alloca",
                    type=f"{type} *",
                    start="",
                    setup=text + filled,
                    bad="$d = $b - 8;\n",
                    good="$d = $b;\n",
                    sink=sink,
                )
            )
        else:
            source = f"{{\n{text}{filled}$d = $b<off>;\n}}\n"
            SHAPES.append(
                Shape(
                    cwe=124,
                    name=f"{name} of {type} before {how}",
                    type=f"{type} *",
                    bad=source.replace("<off>", " - 8"),
                    good=source.replace("<off>", ""),
                    sink=sink,
                    cpp=how == "new",
                )
            )


def _terminator_shapes() -> None:
    """Room for a text but not for its terminator (193)."""
    for type, text, length, copy in (
        ("char", '"AAAAAAAAAA"', "strlen", "strcpy"),
        ("wchar_t", 'L"AAAAAAAAAA"', "wcslen", "wcscpy"),
    ):
        sinks = {
            "cpy": f"{copy}($d, $s);\n",
            "memcpy": f"memcpy($d, $s, ({length}($s) + 1) * sizeof({type}));\n",
            "memmove": f"memmove($d, $s, ({length}($s) + 1) * sizeof({type}));\n",
            "ncpy": f"{copy.replace('cpy', 'ncpy')}($d, $s, {length}($s) + 1);\n",
            "loop": f"{{\nsize_t $i, $n;\n$n = {length}($s);\nfor ($i = 0; $i < $n + 1; $i++)\n"
            "{\n$d[$i] = $s[$i];\n}\n}\n",
        }
        for name, body in sinks.items():
            start = f"{{\n{type} $s[10 + 1] = {text};\n{body}{_SHOW[type]}\n"
            SHAPES.append(
                Shape(
                    cwe=121,
                    name=f"terminator, {name} of {type} into array",
                    type=f"{type} *",
                    start="",
                    setup=f"{type} $bad[10];\n{type} $good[10 + 1];\n",
                    bad="$d = $bad;\n$d[0] = 0;\n",
                    good="$d = $good;\n$d[0] = 0;\n",
                    sink=start + "}\n",
                )
            )
            heap = f"$d = ({type} *)malloc(<c> * sizeof({type}));\n"
            heap += "if ($d == NULL)\n{\nexit(-1);\n}\n"
            SHAPES.append(
                Shape(
                    cwe=122,
                    name=f"terminator, {name} of {type} into malloc",
                    type=f"{type} *",
                    bad=heap.replace("<c>", "10"),
                    good=heap.replace("<c>", "(10 + 1)"),
                    sink=start + "free($d);\n}\n",
                )
            )
            new = f"$d = new {type}[<c>];\n"
            SHAPES.append(
                Shape(
                    cwe=122,
                    name=f"terminator, {name} of {type} into new",
                    type=f"{type} *",
                    cpp=True,
                    bad=new.replace("<c>", "10"),
                    good=new.replace("<c>", "10 + 1"),
                    sink=start + "delete [] $d;\n}\n",
                )
            )


def _source_length_shapes() -> None:
    """Copies as long as their source, into memory for 50 (806)."""
    for type, length in (("char", "strlen"), ("wchar_t", "wcslen")):
        set = "wmemset" if type == "wchar_t" else "memset"
        prefix = "wcs" if type == "wchar_t" else "str"
        end = "$b[50 - 1] = '\\0';\n"
        sinks = {
            "memcpy": f"memcpy($b, $d, {length}($d) * sizeof({type}));\n{end}",
            "memmove": f"memmove($b, $d, {length}($d) * sizeof({type}));\n{end}",
            "ncpy": f"{prefix}ncpy($b, $d, {length}($d));\n{end}",
            "ncat": f"{prefix}ncat($b, $d, {length}($d));\n{end}",
            "loop": f"{{\nsize_t $i, $n;\n$n = {length}($d);\nfor ($i = 0; $i < $n; $i++)\n"
            f"{{\n$b[$i] = $d[$i];\n}}\n}}\n{end}",
            "cpy": f"{prefix}cpy($b, $d);\n",
        }
        if type == "char":
            sinks["snprintf"] = 'snprintf($b, strlen($d), "%s", $d);\n'
        filled = f"{set}($d, 'A', <c> - 1);\n$d[<c> - 1] = '\\0';\n"
        for name, body in sinks.items():
            sink = f'{{\n{type} $b[50] = {"L" if type == "wchar_t" else ""}"";\n{body}'
            sink += f"{_SHOW[type]}\n<release>\n}}\n"
            good = filled.replace("<c>", "50")
            bad = filled.replace("<c>", "100")
            SHAPES.append(
                Shape(
                    cwe=121,
                    name=f"source's length, {name} of {type}",
                    type=f"{type} *",
                    start="",
                    setup=f"{type} $a[100];\n$d = $a;\n",
                    bad=bad,
                    good=good,
                    sink=sink.replace("<release>", ""),
                )
            )
            target = f"{type} *$b = ({type} *)malloc(50 * sizeof({type}));\n"
            target += "if ($b == NULL)\n{\nexit(-1);\n}\n$b[0] = '\\0';\n"
            heap = sink.replace(sink.split("\n")[1] + "\n", target)
            SHAPES.append(
                Shape(
                    cwe=122,
                    name=f"source's length, {name} of {type}",
                    type=f"{type} *",
                    start="",
                    setup=f"{type} $a[100];\n$d = $a;\n",
                    bad=bad,
                    good=good,
                    sink=heap.replace("<release>", "free($b);"),
                )
            )


def _size_shapes() -> None:
    """Memory for fewer bytes than the type has, and wide text measured as narrow."""
    for type, value in (("int", "5"), ("double", "1.7E300"), ("int64_t", "2147483643LL")):
        show = {"int": "@num(*$d)", "double": "@real(*$d)", "int64_t": "@big(*$d)"}[type]
        checked = "if ($d == NULL)\n{\nexit(-1);\n}\n"
        SHAPES.append(
            Shape(
                cwe=122,
                name=f"too few bytes for {type}",
                type=f"{type} *",
                bad=f"$d = ({type} *)malloc(sizeof({type}) / 2);\n{checked}",
                good=f"$d = ({type} *)malloc(sizeof({type}));\n{checked}",
                sink=f"*$d = {value};\n{show};\nfree($d);\n",
            )
        )
        copy = f"{{\n{type} $s[10] = {{ 0 }};\nsize_t $i;\nfor ($i = 0; $i < 10; $i++)\n"
        copy += f"{{\n$d[$i] = $s[$i];\n}}\n{_SHOW.get(type, '@real($d[0]);')}\n<release>\n}}\n"
        SHAPES.append(
            Shape(
                cwe=122,
                name=f"bytes for elements of {type}",
                type=f"{type} *",
                bad=f"$d = ({type} *)malloc(10);\n{checked}",
                good=f"$d = ({type} *)malloc(10 * sizeof({type}));\n{checked}",
                sink=copy.replace("<release>", "free($d);"),
            )
        )
        SHAPES.append(
            Shape(
                cwe=121,
                name=f"bytes for elements of {type}",
                type=f"{type} *",
                setup=f"{type} *$bad = ({type} *)alloca(10);\n"
                f"{type} *$good = ({type} *)alloca(10 * sizeof({type}));\n",
                bad="$d = $bad;\n",
                good="$d = $good;\n",
                sink=copy.replace("<release>", ""),
            )
        )
    for cwe, room, release in ((121, "alloca", ""), (122, "malloc", "free($b);\n")):
        test = "" if cwe == 121 else "if ($b == NULL)\n{\nexit(-1);\n}\n"
        wide = "{\nsize_t $n = <len>;\n"
        wide += f"wchar_t *$b = (wchar_t *){room}((<size>) * sizeof(wchar_t));\n"
        wide += f"{test}wcscpy($b, $d);\n@wide($b);\n{release}}}\n"
        SHAPES.append(
            Shape(
                cwe=cwe,
                name=f"wide text without terminator in {room}",
                type="wchar_t *",
                bad='$d = (wchar_t *)L"ABCDEFGHIJKLMNOPQRSTUVWXYZ";\n',
                good='$d = (wchar_t *)L"";\n',
                sink=wide.replace("<len>", "wcslen($d)").replace("<size>", "$n / 2 + 1"),
                checked=wide.replace("<len>", "wcslen($d)").replace("<size>", "$n + 1"),
            )
        )


def _overrun_shapes() -> None:
    """A copy as large as the whole struct into its first member."""
    for copy in ("memcpy", "memmove"):
        for type in ("char", "wchar_t"):
            letter = "L" if type == "wchar_t" else ""
            show = "@wide" if letter else "@say"
            text = f'{letter}"0123456789abcde0123456789abcde0123456789abcde"'
            record = (
                f"typedef struct $Tag\n{{\n{type} $m1[16];\nvoid *$m2;\nvoid *$m3;\n}} $Record;\n"
            )
            end = f"$b<.>$m1[(sizeof($b<.>$m1) / sizeof({type})) - 1] = '\\0';\n"
            for cwe in (121, 122):
                dot = "." if cwe == 121 else "->"
                whole = "sizeof($b)" if cwe == 121 else "sizeof(*$b)"
                start = (
                    "{\n$Record $b;\n"
                    if cwe == 121
                    else (
                        "{\n$Record *$b = ($Record *)malloc(sizeof($Record));\n"
                        "if ($b == NULL)\n{\nexit(-1);\n}\n"
                    )
                )
                finish = "}\n" if cwe == 121 else "free($b);\n}\n"
                body = start + f"$b<.>$m2 = (void *){text};\n{show}(({type} *)$b<.>$m2);\n"
                body += f"{copy}($b<.>$m1, {text}, <size>);\n{end}{show}($b<.>$m1);\n{finish}"
                body = body.replace("<.>", dot)
                SHAPES.append(
                    Shape(
                        cwe=cwe,
                        name=f"struct overrun by {copy} of {type}",
                        point=True,
                        shared=record,
                        sink=body.replace("<size>", whole),
                        good=body.replace("<size>", f"sizeof($b{dot}$m1)"),
                    )
                )


_copy_shapes()
_terminator_shapes()
_source_length_shapes()
_size_shapes()
_overrun_shapes()

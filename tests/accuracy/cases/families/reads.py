"""Reads beyond, and before, the memory they are meant for: 126, 127."""

from __future__ import annotations

from cases.inputs import number
from cases.shape import Shape

SHAPES: list[Shape] = []

_READ = """
{
<declare>
<test>
{
@num($b[$d]);
}
else
{
@say(<text>);
}
<release>
}
"""
_HEAP = """int *$b = (int *)malloc(10 * sizeof(int));
if ($b == NULL)
{
exit(-1);
}
memset($b, 0, 10 * sizeof(int));"""
_STORES = (
    ("array", "int $b[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };", "", False),
    ("malloc", _HEAP, "free($b);", False),
    ("new", "int *$b = new int[10];\nmemset($b, 0, 10 * sizeof(int));", "delete [] $b;", True),
)


def _index(cwe: int) -> None:
    for name, declare, release, cpp in _STORES:
        body = _READ.replace("<declare>", declare).replace("<release>", release)
        for source in ("fgets", "fscanf", "rand", "connect", "listen", "fixed"):
            fixed = "$d = 10;" if cwe == 126 else "$d = -5;"
            SHAPES.append(
                Shape(
                    cwe=cwe,
                    name=f"index from {source} into {name}",
                    type="int",
                    start="-1",
                    bad=fixed if source == "fixed" else number(source),
                    good="$d = 7;",
                    sink=body.replace("<test>", "if ($d >= 0)" if cwe == 126 else "if ($d < 10)"),
                    checked=body.replace("<test>", "if ($d >= 0 && $d < 10)"),
                    cpp=cpp,
                )
            )


def _stores(type: str, count: str) -> dict[str, tuple[str, str]]:
    """Where memory lies: (declarations that outlive the source, statements of the source)."""
    set = "wmemset" if type == "wchar_t" else "memset"
    fill = f"{set}(<v>, 'A', {count} - 1);\n<v>[{count} - 1] = '\\0';\n"
    return {
        "array": (f"{type} <v>[{count}];\n{fill}", ""),
        "alloca": (f"{type} *<v> = ({type} *)alloca({count} * sizeof({type}));\n{fill}", ""),
        "malloc": (
            "",
            f"{type} *<v> = ({type} *)malloc({count} * sizeof({type}));\n"
            f"if (<v> == NULL)\n{{\nexit(-1);\n}}\n{fill}",
        ),
        "new": ("", f"{type} *<v> = new {type}[{count}];\n{fill}"),
    }


def _copies(type: str) -> dict[str, str]:
    length = "wcslen" if type == "wchar_t" else "strlen"
    prefix = "wcs" if type == "wchar_t" else "str"
    end = "$t[100 - 1] = '\\0';\n"
    return {
        "memcpy": f"memcpy($t, $d, <n> * sizeof({type}));\n{end}",
        "memmove": f"memmove($t, $d, <n> * sizeof({type}));\n{end}",
        "loop": "{\nsize_t $i;\nsize_t $n = <n>;\nfor ($i = 0; $i < $n; $i++)\n"
        f"{{\n$t[$i] = $d[$i];\n}}\n}}\n{end}",
        "ncpy": f"{prefix}ncpy($t, $d, <n>);\n{end}",
        "cpy": f"{prefix}cpy($t, $d);\n",
    } | {"": length}


def _copy_shapes() -> None:
    for type in ("char", "wchar_t"):
        set = "wmemset" if type == "wchar_t" else "memset"
        show = "@wide" if type == "wchar_t" else "@say"
        copies = _copies(type)
        length = copies.pop("")
        for name, copy in copies.items():
            target = f"{{\n{type} $t[100];\n{set}($t, 'C', 100 - 1);\n$t[100 - 1] = '\\0';\n"
            over = f"{target}{copy.replace('<n>', f'{length}($t)')}{show}($t);\n}}\n"
            under = f"{target}{copy.replace('<n>', '100')}{show}($t);\n}}\n"
            for where in ("array", "alloca", "malloc", "new"):
                if name in ("memcpy", "memmove", "loop"):
                    _over(type, name, where, over)
                _under(type, name, where, under)


def _over(type: str, name: str, where: str, sink: str) -> None:
    """As many elements as the target has are read from a source with half of them."""
    setup_bad, bad = (part.replace("<v>", "$bad") for part in _stores(type, "50")[where])
    setup_good, good = (part.replace("<v>", "$good") for part in _stores(type, "100")[where])
    SHAPES.append(
        Shape(
            cwe=126,
            name=f"{name} of {type} from {where}",
            type=f"{type} *",
            setup=setup_bad + setup_good,
            cpp=where == "new",
            bad=f"{{\n{bad}$d = $bad;\n}}\n" if bad else "$d = $bad;\n",
            good=f"{{\n{good}$d = $good;\n}}\n" if good else "$d = $good;\n",
            sink=sink,
        )
    )


def _under(type: str, name: str, where: str, sink: str) -> None:
    """Reads that begin eight elements before the memory."""
    setup, source = (part.replace("<v>", "$b") for part in _stores(type, "100")[where])
    form = f"{{\n{source}$d = $b<off>;\n}}\n" if source else "$d = $b<off>;\n"
    SHAPES.append(
        Shape(
            cwe=127,
            name=f"{name} of {type} from {where}",
            type=f"{type} *",
            setup=setup,
            bad=form.replace("<off>", " - 8"),
            good=form.replace("<off>", ""),
            sink=sink,
            cpp=where == "new",
        )
    )


def _unterminated() -> None:
    """A text whose end was never written is printed."""
    for name, copy in (
        ("strncpy", "strncpy($b, $s, 99);\n"),
        ("memcpy", "memcpy($b, $s, 99);\n"),
        ("loop", "{\nint $i;\nfor ($i = 0; $i < 99; $i++)\n{\n$b[$i] = $s[$i];\n}\n}\n"),
    ):
        text = "{\nchar $b[150], $s[100];\nmemset($s, 'A', 99);\n$s[99] = '\\0';\n" + copy
        SHAPES.append(
            Shape(
                cwe=126,
                name=f"unterminated after {name}",
                point=True,
                sink=f"{text}@say($b);\n}}\n",
                good=f"{text}$b[99] = '\\0';\n@say($b);\n}}\n",
            )
        )


_index(126)
_index(127)
_copy_shapes()
_unterminated()

"""Arithmetic that leaves its type, and numbers that change their meaning or their size."""

from __future__ import annotations

from cases.inputs import number
from cases.shape import Shape

SHAPES: list[Shape] = []

_TYPES = {
    "int": ("INT_MAX", "INT_MIN", "@num"),
    "char": ("CHAR_MAX", "CHAR_MIN", "@char"),
    "short": ("SHRT_MAX", "SHRT_MIN", "@num"),
    "int64_t": ("LLONG_MAX", "LLONG_MIN", "@big"),
    "unsigned int": ("UINT_MAX", "0", "@unsigned"),
}


def _arithmetic() -> None:
    for type, (most, least, show) in _TYPES.items():

        def body(text: str, show: str = show) -> str:
            return f"{{\n{text}\n{show}($r);\n}}\n"

        up = {
            "add": (body(f"{type} $r = $d + 1;"), f"$d < {most}"),
            "postinc": (body(f"$d++;\n{type} $r = $d;"), f"$d < {most}"),
            "preinc": (body(f"++$d;\n{type} $r = $d;"), f"$d < {most}"),
            "multiply": (
                f"if ($d > 0)\n{{\n{type} $r = $d * 2;\n{show}($r);\n}}\n",
                f"$d < ({most} / 2)",
            ),
        }
        if type != "int64_t":
            root = f"labs((long)$d) < (long)sqrt((double){most})"
            if type == "int":
                root = f"$d > INT_MIN && {root}"
            if type == "unsigned int":
                root = f"$d < (unsigned int)sqrt((double){most})"
            up["square"] = body(f"{type} $r = $d * $d;"), root
        down = {
            "sub": (body(f"{type} $r = $d - 1;"), f"$d > {least}"),
            "postdec": (body(f"$d--;\n{type} $r = $d;"), f"$d > {least}"),
            "predec": (body(f"--$d;\n{type} $r = $d;"), f"$d > {least}"),
        }
        if type != "unsigned int":
            down["multiply"] = (
                f"if ($d < 0)\n{{\n{type} $r = $d * 2;\n{show}($r);\n}}\n",
                f"$d > ({least} / 2)",
            )
        for cwe, sinks, end in ((190, up, most), (191, down, least)):
            sources = ["limit", "fscanf", "rand"]
            if type == "int":
                sources += ["fgets", "connect", "listen"]
            for source in sources:
                for name, (sink, test) in sinks.items():
                    good = "$d = 2;\n" if cwe == 190 or type == "unsigned int" else "$d = -2;\n"
                    if cwe == 191 and type == "char":
                        good = "$d = 5;\n" if name != "multiply" else "$d = -2;\n"
                    SHAPES.append(
                        Shape(
                            cwe=cwe,
                            name=f"{name} of {type} from {source}",
                            type=type,
                            start="' '" if type == "char" else "0",
                            bad=f"$d = {end};\n" if source == "limit" else number(source, type),
                            good=good,
                            sink=sink,
                            checked=f"if ({test})\n{{\n{sink}}}\nelse\n{{\n@say(<text>);\n}}\n",
                        )
                    )


_COPY_SINKS = {
    "memcpy": "if ($d < 100)\n{\nmemcpy($t, $s, $d);\n$t[$d] = '\\0';\n}\n@say($t);\n",
    "memmove": "if ($d < 100)\n{\nmemmove($t, $s, $d);\n$t[$d] = '\\0';\n}\n@say($t);\n",
    "strncpy": "if ($d < 100)\n{\nstrncpy($t, $s, $d);\n$t[$d] = '\\0';\n}\n@say($t);\n",
}
_COPY = "{\nchar $s[100];\nchar $t[100] = \"\";\nmemset($s, 'A', 100 - 1);\n$s[100 - 1] = '\\0';\n"
_ALLOCATE = """if ($d < 100)
{
char *$p = (char *)malloc($d);
if ($p == NULL)
{
exit(-1);
}
memset($p, 'A', $d - 1);
$p[$d - 1] = '\\0';
@say($p);
free($p);
}
"""


def _conversions() -> None:
    """Negative numbers as sizes: 194 from short, 195 from int."""
    for cwe, type in ((194, "short"), (195, "int")):
        for source in ("fgets", "fscanf", "rand", "connect", "listen", "negative"):
            bad = "$d = -1;\n" if source == "negative" else number(source, type)
            for name, sink in _COPY_SINKS.items():
                SHAPES.append(
                    Shape(
                        cwe=cwe,
                        name=f"{name} of {type} from {source}",
                        type=type,
                        start="0",
                        bad=bad,
                        good="$d = 100 - 1;\n",
                        sink=f"{_COPY}{sink}}}\n",
                    )
                )
            SHAPES.append(
                Shape(
                    cwe=cwe,
                    name=f"malloc of {type} from {source}",
                    type=type,
                    start="0",
                    bad=bad,
                    good="$d = 100 - 1;\n",
                    sink=_ALLOCATE,
                )
            )


def _truncations() -> None:
    for wide, narrow, most, show in (
        ("int", "char", "CHAR_MAX", "@char"),
        ("int", "short", "SHRT_MAX", "@num"),
        ("short", "char", "CHAR_MAX", "@char"),
    ):
        for source in ("fgets", "fscanf", "rand", "connect", "listen", "large"):
            large = f"$d = {'SHRT_MAX' if wide == 'short' else 'INT_MAX'};\n"
            large = "$d = CHAR_MAX + 1;\n" if narrow == "char" and wide == "int" else large
            SHAPES.append(
                Shape(
                    cwe=197,
                    name=f"{wide} to {narrow} from {source}",
                    type=wide,
                    start="-1",
                    bad=large if source == "large" else number(source, wide),
                    good=f"$d = {most} - 5;\n",
                    sink=f"{{\n{narrow} $r = ({narrow})$d;\n{show}($r);\n}}\n",
                )
            )


def _divisions() -> None:
    for source in ("fgets", "fscanf", "rand", "connect", "listen", "zero"):
        for name, sign in (("divide", "/"), ("modulo", "%")):
            sink = f"@num(100 {sign} $d);\n"
            SHAPES.append(
                Shape(
                    cwe=369,
                    name=f"{name} of int by {source}",
                    type="int",
                    start="-1",
                    bad="$d = 0;\n" if source == "zero" else number(source),
                    good="$d = 7;\n",
                    sink=sink,
                    checked=f"if ($d != 0)\n{{\n{sink}}}\nelse\n{{\n@say(<text>);\n}}\n",
                )
            )
        read = "" if source == "zero" else number(source, "float").replace("atoi", "(float)atof")
        bad = {"zero": "$d = 0.0F;\n", "rand": "$d = (float)@rand32();\n"}.get(source, "")
        sink = "{\nint $r = (int)(100.0 / $d);\n@num($r);\n}\n"
        SHAPES.append(
            Shape(
                cwe=369,
                name=f"divide of float by {source}",
                type="float",
                start="0.0F",
                bad=bad or read,
                good="$d = 2.0F;\n",
                sink=sink,
                checked=f"if (fabs($d) > 0.000001)\n{{\n{sink}}}\nelse\n{{\n@say(<text>);\n}}\n",
            )
        )


_SIZED = """{
size_t $i;
int *$p = <new>;
<test>for ($i = 0; $i < (size_t)$d; $i++)
{
$p[$i] = 0;
}
@num($p[0]);
<release>
}
"""
_NULL = "if ($p == NULL)\n{\nexit(-1);\n}\n"


def _allocations() -> None:
    """Sizes that wrap on the way to an allocation, and sizes without a limit."""
    for source in ("fgets", "fscanf", "rand", "connect", "listen", "fixed"):
        bad = "$d = INT_MAX / 2 + 2;\n" if source == "fixed" else number(source)
        malloc = _SIZED.replace("<new>", "(int *)malloc($d * sizeof(int))")
        sized = malloc.replace("<test>", _NULL).replace("<release>", "free($p);")
        SHAPES.append(
            Shape(
                cwe=680,
                name=f"malloc from {source}",
                type="int",
                start="-1",
                bad=bad,
                good="$d = 20;\n",
                sink=sized,
            )
        )
        new = _SIZED.replace("<new>", "(int *)new char[$d * sizeof(int)]")
        new = new.replace("<test>", "").replace("<release>", "delete [] (char *)$p;")
        SHAPES.append(
            Shape(
                cwe=680,
                name=f"new from {source}",
                type="int",
                start="-1",
                bad=bad,
                good="$d = 20;\n",
                sink=new,
                cpp=True,
            )
        )
        if source == "fixed":
            continue
        for type, letter in (("char", ""), ("wchar_t", "L")):
            length, copy = ("wcslen", "wcscpy") if letter else ("strlen", "strcpy")
            show = "@wide" if letter else "@say"
            for room, taken, release in (
                ("malloc", f"({type} *)malloc($d * sizeof({type}))", "free($p);"),
                ("new", f"new {type}[$d]", "delete [] $p;"),
            ):
                test = "" if room == "new" else _NULL
                body = f"{{\n{type} *$p;\nif (<test>)\n{{\n$p = {taken};\n{test}"
                body += f'{copy}($p, {letter}"kalo");\n{show}($p);\n{release}\n}}\n'
                body += "else\n{\n@say(<text>);\n}\n}\n"
                over = f'$d > {length}({letter}"kalo")'
                SHAPES.append(
                    Shape(
                        cwe=789,
                        name=f"{room} of {type} from {source}",
                        type="size_t",
                        start="0",
                        bad=number(source, "size_t"),
                        good="$d = 20;\n",
                        sink=body.replace("<test>", over),
                        checked=body.replace("<test>", f"{over} && $d < 100"),
                        cpp=room == "new",
                    )
                )


_arithmetic()
_conversions()
_truncations()
_divisions()
_allocations()

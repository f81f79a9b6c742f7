"""Wide characters, commands through macros, and what exists on Windows only."""

from __future__ import annotations

from cases.inputs import TEXT, text, wide
from cases.shape import Shape

SHAPES: list[Shape] = []

_BUFFER = 'wchar_t $b[100] = L"";\n$d = $b;\n'
_FORMATS = {
    "wprintf": ("wprintf($d);\n", 'wprintf(L"%ls\\n", $d);\n'),
    "fwprintf": ("fwprintf(stdout, $d);\n", 'fwprintf(stdout, L"%ls\\n", $d);\n'),
    "swprintf": (
        '{\nwchar_t $t[100] = L"";\nswprintf($t, 100 - 1, $d);\n@wide($t);\n}\n',
        '{\nwchar_t $t[100] = L"";\nswprintf($t, 100 - 1, L"%ls", $d);\n@wide($t);\n}\n',
    ),
}
_VARIADIC = {
    "wprintf": "vwprintf(<format>, $v);",
    "fwprintf": "vfwprintf(stdout, <format>, $v);",
}


def _add(
    cwe: int, name: str, setup: str, bad: str, good: str, sink: str, checked: str = ""
) -> None:
    SHAPES.append(
        Shape(
            cwe=cwe,
            name=name,
            type="wchar_t *",
            start="",
            setup=setup,
            bad=bad,
            good=good,
            sink=sink,
            checked=checked,
        )
    )


def _formats() -> None:
    for source in TEXT:
        bad, good = wide(source, 100), 'wcscpy($d, L"fixedtest");\n'
        for name, (sink, checked) in _FORMATS.items():
            _add(134, f"{name} from {source}", _BUFFER, bad, good, sink, checked)
        for name, form in _VARIADIC.items():
            body = f"{{\nva_list $v;\nva_start($v, $d);\n{form}\nva_end($v);\n}}\n"
            SHAPES.append(
                Shape(
                    cwe=134,
                    name=f"{name} of variable arguments from {source}",
                    start="",
                    type="wchar_t *",
                    setup=_BUFFER,
                    bad=bad,
                    good=good,
                    inner="static void $_show(wchar_t *$d, ...)",
                    call="$_show($d, $d);\n",
                    sink=body.replace("<format>", "$d"),
                    checked=body.replace("<format>", 'L"%ls"'),
                )
            )


_SYSTEM = "if (_wsystem($d) != 0)\n{\n@say(<text>);\nexit(1);\n}\n"
_POPEN = '{\nFILE *$p = _wpopen($d, L"wb");\nif ($p != NULL)\n{\nfclose($p);\n}\n}\n'
_OPENS = {
    "_wfopen": '{\nFILE *$p = _wfopen($d, L"wb+");\nif ($p != NULL)\n{\nfclose($p);\n}\n}\n',
    "_wopen": "{\nint $p = _wopen($d, O_RDWR | O_CREAT, S_IREAD | S_IWRITE);\n"
    "if ($p != -1)\n{\nclose($p);\n}\n}\n",
}
_CREATE = """{
HANDLE $h;
$h = CreateFileA($d, GENERIC_READ, 0, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
if ($h != INVALID_HANDLE_VALUE)
{
CloseHandle($h);
}
}
"""


def _commands() -> None:
    command = 'wchar_t $b[100] = L"dir ";\n$d = $b;\n'
    for source in TEXT:
        bad = wide(source, 100)
        for name, sink in (
            ("_wsystem", _SYSTEM),
            ("_wpopen", _POPEN),
            ("_wexecl", '_wexecl(L"cmd.exe", L"cmd.exe", L"/c", $d, NULL);\n'),
        ):
            _add(78, f"{name} from {source}", command, bad, 'wcscat($d, L"*.*");\n', sink)
        for cwe, base, good in (
            (23, "c:\\\\temp\\\\", "file.txt"),
            (36, "", "c:\\\\temp\\\\file.txt"),
        ):
            setup = f'wchar_t $b[4096] = L"{base}";\n$d = $b;\n'
            for name, sink in _OPENS.items():
                _add(
                    cwe,
                    f"{name} from {source}",
                    setup,
                    wide(source, 4096),
                    f'wcscat($d, L"{good}");\n',
                    sink,
                )
            SHAPES.append(
                Shape(
                    cwe=cwe,
                    name=f"CreateFileA from {source}",
                    start="",
                    setup=f'char $b[260] = "{base}";\n$d = $b;\n',
                    bad=text(source, 260),
                    good=f'strcat($d, "{good}");\n',
                    sink=_CREATE,
                )
            )
        _add(
            427,
            f"_wputenv from {source}",
            'wchar_t $b[250] = L"PATH=";\n$d = $b;\n',
            wide(source, 250),
            'wcscat($d, L"C:\\\\Windows");\n',
            "_wputenv($d);\n",
        )
        macros = (
            '#ifdef _WIN32\n#define $SHELL "cmd.exe"\n#define $FLAG "/c"\n#define $FIRST "dir "\n'
            '#else\n#define $SHELL "/bin/sh"\n#define $FLAG "-c"\n#define $FIRST "ls "\n#endif\n'
            "#define $REST $d\n"
        )
        for name, sink in (
            ("execl", "execl($SHELL, $SHELL, $FLAG, $REST, NULL);\n"),
            ("_spawnl", "_spawnl(_P_WAIT, $SHELL, $SHELL, $FLAG, $REST, NULL);\n"),
            (
                "execv",
                "{\nchar *$g[] = { (char *)$SHELL, (char *)$FLAG, $REST, NULL };\n"
                "execv($SHELL, $g);\n}\n",
            ),
        ):
            SHAPES.append(
                Shape(
                    cwe=78,
                    name=f"{name} through macros from {source}",
                    start="",
                    shared=macros,
                    setup="char $b[100] = $FIRST;\n$d = $b;\n",
                    bad=text(source, 100),
                    good='strcat($d, "*.*");\n',
                    sink=sink,
                )
            )
    for name, sink in (("_wsystem", _SYSTEM), ("_wpopen", _POPEN)):
        _add(
            426,
            name,
            _BUFFER,
            'wcscpy($d, L"dir");\n',
            'wcscpy($d, L"C:\\\\Windows\\\\System32\\\\cmd.exe /c dir");\n',
            sink,
        )


_CONSOLE = "\nif (fgetws($d, 100, stdin) == NULL)\n{\n@say(<text>);\n$d[0] = L'\\0';\n}\n"
_CONSOLE += "{\nsize_t $n = wcslen($d);\nif ($n > 0)\n{\n$d[$n - 1] = L'\\0';\n}\n}\n"
_LOGON = """{
HANDLE $h;
wchar_t *$u = (wchar_t *)L"<word>";
wchar_t *$w = (wchar_t *)L"<word>";
if (LogonUserW($u, $w, $d, LOGON32_LOGON_NETWORK, LOGON32_PROVIDER_DEFAULT, &$h) != 0)
{
@say(<text>);
CloseHandle($h);
}
}
"""


def _secrets() -> None:
    shared = '#define $SECRET L"ABCD1234!"\n'
    SHAPES.append(
        Shape(
            cwe=259,
            name="LogonUserW with a macro",
            type="wchar_t *",
            start="",
            setup=_BUFFER,
            shared=shared,
            bad="wcscpy($d, $SECRET);\n",
            good=_CONSOLE,
            sink=_LOGON,
        )
    )


def _results() -> None:
    failed = '{\n@say("<word> failed");\n}\n'
    for name, before, call, good, wrong in (
        ("putwc", "", "putwc(L'A', stdout)", "== WEOF", "== 0"),
        ("fputwc", "", "fputwc(L'A', stdout)", "== WEOF", "== 0"),
        ("putwchar", "", "putwchar(L'A')", "== WEOF", "== 0"),
        ("wscanf", 'wchar_t $b[100] = L"";\n', 'wscanf(L"%99ls", $b)', "== EOF", "== 0"),
        ("fwscanf", 'wchar_t $b[100] = L"";\n', 'fwscanf(stdin, L"%99ls", $b)', "== EOF", "== 0"),
        (
            "swprintf",
            'wchar_t $b[100] = L"";\n',
            'swprintf($b, 100, L"%ls\\n", L"a text")',
            "< 0",
            "== 0",
        ),
    ):
        shapes = [(252, name, f"{call};\n")] if name != "wprintf" else []
        shapes.append((253, name, f"if ({call} {wrong})\n{failed}"))
        for cwe, shown, sink in shapes:
            SHAPES.append(
                Shape(
                    cwe=cwe,
                    name=shown,
                    point=True,
                    sink=f"{{\n{before}{sink}}}\n",
                    good=f"{{\n{before}if ({call} {good})\n{failed}}}\n",
                )
            )


def _assignments() -> None:
    own = (
        "class $_thing\n{\npublic:\n$_thing(const char *$n)\n{\n$m = new char[strlen($n) + 1];\n"
        "strcpy($m, $n);\n}\n~$_thing()\n{\ndelete [] $m;\n}\n"
        "$_thing &operator=(const $_thing &$o);\nvoid $_show()\n{\n@say($m);\n}\n"
        "private:\nchar *$m;\n};\n"
    )
    copy = "delete [] $m;\n$m = new char[strlen($o.$m) + 1];\nstrcpy($m, $o.$m);\n"
    use = "void $_main(void)\n{\n$_thing $a(<text>);\n$a = $a;\n$a.$_show();\n}\n"
    SHAPES.append(
        Shape(
            cwe=416,
            name="assignment to itself",
            point=True,
            cpp=True,
            own=own,
            head="$_thing &$_thing::operator=(const $_thing &$o)",
            sink=copy,
            good=f"if (&$o != this)\n{{\n{copy}}}\n",
            tail="return *this;\n",
            after=use,
        )
    )


_formats()
_commands()
_secrets()
_results()
_assignments()

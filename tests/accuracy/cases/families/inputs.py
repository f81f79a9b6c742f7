"""Text from outside as a format, a command, a path, or the place where programs are found."""

from __future__ import annotations

from cases.inputs import TEXT, text
from cases.shape import Shape

SHAPES: list[Shape] = []

_FORMATS = {
    "printf": ("printf($d);\n", 'printf("%s\\n", $d);\n'),
    "fprintf": ("fprintf(stdout, $d);\n", 'fprintf(stdout, "%s\\n", $d);\n'),
    "snprintf": (
        '{\nchar $t[100] = "";\nsnprintf($t, 100 - 1, $d);\n@say($t);\n}\n',
        '{\nchar $t[100] = "";\nsnprintf($t, 100 - 1, "%s", $d);\n@say($t);\n}\n',
    ),
}
_VARIADIC = {"printf": "vprintf(<format>, $v);", "fprintf": "vfprintf(stdout, <format>, $v);"}
_BUFFER = 'char $b[100] = "";\n$d = $b;\n'


def _formats() -> None:
    for source in TEXT:
        for name, (sink, checked) in _FORMATS.items():
            SHAPES.append(
                Shape(
                    cwe=134,
                    name=f"{name} from {source}",
                    setup=_BUFFER,
                    start="",
                    bad=text(source, 100),
                    good='strcpy($d, "fixedtest");\n',
                    sink=sink,
                    checked=checked,
                )
            )
        for name, form in _VARIADIC.items():
            body = f"{{\nva_list $v;\nva_start($v, $d);\n{form}\nva_end($v);\n}}\n"
            SHAPES.append(
                Shape(
                    cwe=134,
                    name=f"{name} of variable arguments from {source}",
                    setup=_BUFFER,
                    start="",
                    bad=text(source, 100),
                    good='strcpy($d, "fixedtest");\n',
                    inner="static void $_show(char *$d, ...)",
                    call="$_show($d, $d);\n",
                    sink=body.replace("<format>", "$d"),
                    checked=body.replace("<format>", '"%s"'),
                )
            )


_COMMAND = 'char $b[100] = "ls ";\n$d = $b;\n'
_COMMANDS = {
    "system": "if (system($d) != 0)\n{\n@say(<text>);\nexit(1);\n}\n",
    "popen": '{\nFILE *$p;\n$p = popen($d, "w");\nif ($p != NULL)\n{\npclose($p);\n}\n}\n',
    "execl": 'execl("/bin/sh", "/bin/sh", "-c", $d, NULL);\n',
    "execlp": 'execlp("sh", "sh", "-c", $d, NULL);\n',
    "execv": '{\nchar *$g[] = { (char *)"/bin/sh", (char *)"-c", $d, NULL };\n'
    'execv("/bin/sh", $g);\n}\n',
    "execvp": '{\nchar *$g[] = { (char *)"sh", (char *)"-c", $d, NULL };\nexecvp("sh", $g);\n}\n',
}


def _commands() -> None:
    for source in TEXT:
        for name, sink in _COMMANDS.items():
            SHAPES.append(
                Shape(
                    cwe=78,
                    name=f"{name} from {source}",
                    setup=_COMMAND,
                    start="",
                    bad=text(source, 100),
                    good='strcat($d, "*.*");\n',
                    sink=sink,
                )
            )


_OPENS = {
    "fopen": '{\nFILE *$p = NULL;\n$p = fopen($d, "wb+");\nif ($p != NULL)\n{\nfclose($p);\n}\n}\n',
    "open": "{\nint $p;\n$p = open($d, O_RDWR | O_CREAT, S_IRUSR | S_IWUSR);\nif ($p != -1)\n"
    "{\nclose($p);\n}\n}\n",
    "ifstream": "{\nifstream $p;\n$p.open((char *)$d);\n$p.close();\n}\n",
    "ofstream": "{\nofstream $p;\n$p.open((char *)$d);\n$p.close();\n}\n",
}


def _paths() -> None:
    for cwe, base, good in ((23, "/tmp/", "file.txt"), (36, "", "/tmp/file.txt")):
        for source in TEXT:
            for name, sink in _OPENS.items():
                SHAPES.append(
                    Shape(
                        cwe=cwe,
                        name=f"{name} from {source}",
                        start="",
                        setup=f'char $b[4096] = "{base}";\n$d = $b;\n',
                        bad=text(source, 4096),
                        good=f'strcat($d, "{good}");\n',
                        sink=sink,
                        cpp="stream" in name,
                    )
                )


def _searches() -> None:
    for source in TEXT:
        SHAPES.append(
            Shape(
                cwe=427,
                name=f"PATH from {source}",
                start="",
                setup='char $b[250] = "PATH=";\n$d = $b;\n',
                bad=text(source, 250),
                good='strcat($d, "/usr/bin:/usr/local/bin");\n',
                sink="putenv($d);\n",
            )
        )
        SHAPES.append(
            Shape(
                cwe=427,
                name=f"setenv of PATH from {source}",
                start="",
                setup='char $b[250] = "";\n$d = $b;\n',
                bad=text(source, 250),
                good='strcat($d, "/usr/bin:/usr/local/bin");\n',
                sink='setenv("PATH", $d, 1);\n',
            )
        )
    for name, sink in _COMMANDS.items():
        if name.startswith("exec"):
            continue
        SHAPES.append(
            Shape(
                cwe=426,
                name=name,
                start="",
                setup='char $b[100] = "";\n$d = $b;\n',
                bad='strcpy($d, "ls -la");\n',
                good='strcpy($d, "/bin/ls -la");\n',
                sink=sink,
            )
        )
        SHAPES.append(
            Shape(
                cwe=426,
                name=f"{name} of a literal",
                start="NULL",
                bad='$d = (char *)"date";\n',
                good='$d = (char *)"/bin/date";\n',
                sink=sink,
            )
        )
    for name, call in (("execlp", "execlp($d, $d, NULL)"), ("execvp", "execvp($d, $g)")):
        array = "char *$g[] = { $d, NULL };\n" if name == "execvp" else ""
        SHAPES.append(
            Shape(
                cwe=426,
                name=name,
                start="NULL",
                bad='$d = (char *)"ls";\n',
                good='$d = (char *)"/bin/ls";\n',
                sink=f"{{\n{array}{call};\n}}\n",
            )
        )


_formats()
_commands()
_paths()
_searches()

"""Functions that must not be called, whose results must be looked at, or that race."""

from __future__ import annotations

from cases.shape import Shape

SHAPES: list[Shape] = []


def _point(cwe: int, name: str, sink: str, good: str, *more: str, cpp: bool = False) -> None:
    SHAPES.append(
        Shape(cwe=cwe, name=name, point=True, sink=sink, good=good, more_good=more, cpp=cpp)
    )


def _dangerous() -> None:
    for size in ("10", "100"):
        line = f"{{\nchar $b[{size}];\nchar *$r;\n<read>\nif ($r == NULL)\n{{\nexit(1);\n}}\n"
        line += f"$b[{size} - 1] = '\\0';\n@say($b);\n}}\n"
        _point(
            242,
            f"gets into {size}",
            line.replace("<read>", "$r = gets($b);"),
            line.replace("<read>", f"$r = fgets($b, {size}, stdin);"),
        )
    tested = "{\nchar $b[50];\nif (<call> == NULL)\n{\n@say(<text>);\n}\nelse\n{\n@say($b);\n}\n}\n"
    _point(
        242,
        "gets in a condition",
        tested.replace("<call>", "gets($b)"),
        tested.replace("<call>", "fgets($b, sizeof($b), stdin)"),
    )
    plain = "{\nchar $b[10];\n<read>\n$b[10 - 1] = '\\0';\n@say($b);\n}\n"
    for name, read in (
        ("width", "cin.width(10);\ncin >> $b;"),
        ("setw", "cin >> setw(10) >> $b;"),
        ("getline", "cin.getline($b, 10);"),
        ("get", "cin.get($b, sizeof($b));"),
    ):
        _point(
            676,
            f"cin, {name}",
            plain.replace("<read>", "cin >> $b;"),
            plain.replace("<read>", read),
            cpp=True,
        )
    word = "{\n<kind>\ncin >> $b;\n@say(<text>);\n@char($b[0]);\n}\n"
    _point(
        676,
        "cin and string",
        word.replace("<kind>", "char $b[32];"),
        word.replace("<kind>", "string $b;"),
        cpp=True,
    )


_FAILED = '{\n@say("<word> failed");\n}\n'
_STREAM = '{{\nFILE *$p = fopen("<word>.txt", "{mode}");\nif ($p == NULL)\n{{\nexit(1);\n}}\n'


def _results() -> None:
    """Calls whose result is not looked at (252), or held against the wrong value (253)."""
    buffer = 'char $b[100] = "";\n'
    text = 'char $b[100] = "a text";\n'
    for name, before, call, good, wrong, after in (
        ("fgets", buffer, "fgets($b, 100, stdin)", "== NULL", "< (char *)0", "@say($b);\n"),
        ("fread", buffer, "fread($b, sizeof(char), 99, stdin)", "!= 99", "< 0", "@say($b);\n"),
        ("fwrite", text, "fwrite($b, 1, strlen($b), stdout)", "!= strlen($b)", "< 0", ""),
        ("fputs", "", 'fputs("a text", stdout)', "== EOF", "== 0", ""),
        ("puts", "", 'puts("a text")', "== EOF", "== 0", ""),
        ("putc", "", "putc('A', stdout)", "== EOF", "== 0", ""),
        ("fputc", "", "fputc('A', stdout)", "== EOF", "== 0", ""),
        ("putchar", "", "putchar('A')", "== EOF", "== 0", ""),
        ("scanf", buffer, 'scanf("%99s", $b)', "== EOF", "== 0", "@say($b);\n"),
        ("fscanf", buffer, 'fscanf(stdin, "%99s", $b)', "== EOF", "== 0", "@say($b);\n"),
        (
            "sscanf",
            text + 'char $c[100] = "";\n',
            'sscanf($b, "%99s", $c)',
            "== EOF",
            "== 0",
            "@say($c);\n",
        ),
        ("snprintf", buffer, 'snprintf($b, 100, "%s\\n", "a text")', "< 0", "== 0", "@say($b);\n"),
        ("printf", "", 'printf("%s\\n", "a text")', "< 0", "== 0", ""),
        ("fprintf", "", 'fprintf(stdout, "%s\\n", "a text")', "< 0", "== 0", ""),
        ("remove", "", 'remove("<word>.txt")', "!= 0", "== 0", ""),
        ("rename", "", 'rename("<word>.txt", "new<word>.txt")', "!= 0", "== 0", ""),
        (
            "fgetws",
            'wchar_t $b[100] = L"";\n',
            "fgetws($b, 100, stdin)",
            "== NULL",
            "< (wchar_t *)0",
            "@wide($b);\n",
        ),
        ("fputws", "", 'fputws(L"a text", stdout)', "== WEOF", "== 0", ""),
        ("setuid", "", "setuid(1000)", "!= 0", "> 0", ""),
        ("chdir", "", 'chdir("/tmp")', "!= 0", "> 0", ""),
    ):
        checked = f"{{\n{before}if ({call} {good})\n{_FAILED}{after}}}\n"
        stored = f"{{\n{before}<kind> $r = {call};\nif ($r {good})\n{_FAILED}{after}}}\n"
        kind = {
            "fread": "size_t",
            "fwrite": "size_t",
            "fgets": "char *",
            "fgetws": "wchar_t *",
            "fputws": "int",
        }.get(name, "int")
        stored = stored.replace("<kind>", kind)
        if name not in ("printf", "fprintf"):
            _point(252, name, f"{{\n{before}{call};\n{after}}}\n", checked, stored)
        if name in ("setuid", "chdir"):
            continue
        _point(253, name, f"{{\n{before}if ({call} {wrong})\n{_FAILED}{after}}}\n", checked)
        if name not in ("fgets", "fgetws"):
            held = f"{{\n{before}{kind} $r = {call};\nif ($r {wrong})\n{_FAILED}{after}}}\n"
            _point(253, f"{name}, kept", held, stored)
    for name, mode, call, good, wrong in (
        ("fread of a file", "rb", "fread($b, 1, sizeof($b), $p)", "!= sizeof($b)", "< 0"),
        ("fwrite to a file", "wb", "fwrite($b, 1, sizeof($b), $p)", "!= sizeof($b)", "< 0"),
        ("fgets of a file", "r", "fgets($b, sizeof($b), $p)", "== NULL", "< (char *)0"),
    ):
        start = _STREAM.format(mode=mode) + 'char $b[64] = "";\n'
        end = "fclose($p);\n@say(<text>);\n}\n"
        good_end = end  # what was written may be lost when the stream is closed
        if mode == "wb":
            good_end = end.replace("fclose($p);\n", f"if (fclose($p) != 0)\n{_FAILED}")
        good_form = f"{start}if ({call} {good})\n{_FAILED}{good_end}"
        _point(252, name, f"{start}{call};\n{end}", good_form)
        _point(253, name, f"{start}if ({call} {wrong})\n{_FAILED}{end}", good_form)


_SAVE = "typedef struct $Tag\n{\nsig_atomic_t $m1;\n} $Record;\n$Record *$_g = NULL;\n"
_HANDLER = "void $_handler(int $n)\n{\nif ($_g != NULL)\n{\n$_g->$m1 = 2;\n}\n}\n"


def _races() -> None:
    fresh = "$_g = ($Record *)malloc(sizeof($Record));\nif ($_g == NULL)\n{\nexit(-1);\n}\n"
    fresh += "$_g->$m1 = 1;\n"
    drop = "if ($_g != NULL)\n{\nfree($_g);\n$_g = NULL;\n}\n"
    own = _SAVE.replace("$Tag", "$_tag").replace("$Record", "$_record") + _HANDLER
    fresh = fresh.replace("$Record", "$_record")
    for signal in ("SIGINT", "SIGTERM", "SIGHUP"):
        SHAPES.append(
            Shape(
                cwe=364,
                name=f"shared memory behind {signal}",
                point=True,
                own=own,
                sink=f"{{\nsignal({signal}, $_handler);\n{drop}{fresh}}}\n",
                good=f"{{\nsignal({signal}, SIG_DFL);\n{drop}{fresh}"
                f"signal({signal}, $_handler);\n}}\n",
            )
        )
        SHAPES.append(
            Shape(
                cwe=364,
                name=f"freed behind {signal}",
                point=True,
                own=own,
                sink=f"{{\n{fresh}signal({signal}, $_handler);\n@num((int)$_g->$m1);\n{drop}}}\n",
                good=f"{{\n{fresh}signal({signal}, $_handler);\n@num((int)$_g->$m1);\n"
                f"signal({signal}, SIG_DFL);\n{drop}}}\n",
            )
        )
    loop = "{\nint $i;\n<lock>for ($i = 0; $i < 100000; $i++)\n{\n<v> = <v> + 1;\n}\n<unlock>}\n"
    for api in ("pthread", "support"):
        pthread = api == "pthread"
        lock = "pthread_mutex_lock(&$_l);\n" if pthread else "@acquire($_l);\n"
        unlock = "pthread_mutex_unlock(&$_l);\n" if pthread else "@release($_l);\n"
        declared = (
            "static pthread_mutex_t $_l = PTHREAD_MUTEX_INITIALIZER;\n"
            if pthread
            else ("static @lock $_l = NULL;\n")
        )
        head = "static void *$_work(void *$p)" if pthread else "static void $_work(void *$p)"
        tail = "return NULL;\n" if pthread else ""
        for name, value, argument in (("global", "$_n", "NULL"), ("reference", "*$v", "&$n")):
            body = ("" if name == "global" else "int *$v = (int *)$p;\n") + loop.replace(
                "<v>", value
            )
            SHAPES.append(
                Shape(
                    cwe=366,
                    name=f"{name} without a lock, {api}",
                    point=True,
                    head=head,
                    tail=tail,
                    own=declared + ("static int $_n = 0;\n" if name == "global" else ""),
                    sink=body.replace("<lock>", "").replace("<unlock>", ""),
                    good=body.replace("<lock>", lock).replace("<unlock>", unlock),
                    after=_threads(pthread, argument, name == "global"),
                )
            )
        once = "{\nint $i;\n<lock>for ($i = 0; $i < 1000; $i++)\n{\n$_n = $_n + 1;\n}\n<unlock>}\n"
        once = once.replace("<lock>", lock)
        SHAPES.append(
            Shape(
                cwe=667,
                name=f"never unlocked, {api}",
                point=True,
                head=head,
                tail=tail,
                own=declared + "static int $_n = 0;\n",
                sink=once.replace("<unlock>", ""),
                good=once.replace("<unlock>", unlock),
                after=_threads(pthread, "NULL", True),
            )
        )
        early = "{\n<lock>if ($_n > 1000)\n{\n<first>return<value>;\n}\n$_n = $_n + 1;\n<unlock>}\n"
        early = early.replace("<lock>", lock).replace("<unlock>", unlock)
        early = early.replace("<value>", " NULL" if pthread else "")
        SHAPES.append(
            Shape(
                cwe=667,
                name=f"locked on an early way out, {api}",
                point=True,
                head=head,
                tail=tail,
                own=declared + "static int $_n = 0;\n",
                sink=early.replace("<first>", ""),
                good=early.replace("<first>", unlock),
                after=_threads(pthread, "NULL", True),
            )
        )


def _threads(pthread: bool, argument: str, is_global: bool) -> str:
    """The function that starts two threads and waits for them."""
    shown = "$_n" if is_global else "$n"
    local = "" if is_global else "int $n = 0;\n"
    if pthread:
        create = (
            f"if (pthread_create(&<t>, NULL, $_work, (void *){argument}) != 0)\n{{\nexit(1);\n}}\n"
        )
        kind, join = "pthread_t", "pthread_join(<t>, NULL);\n"
        begin = end = ""
    else:
        create = f"if (!@start($_work, (void *){argument}, &<t>))\n{{\nexit(1);\n}}\n"
        kind, join = "@thread", "@join(<t>);\n"
        begin, end = "if (!@newlock(&$_l))\n{\nexit(1);\n}\n", "@droplock($_l);\n"
    both = "".join(create.replace("<t>", name) for name in ("$t1", "$t2"))
    joined = "".join(join.replace("<t>", name) for name in ("$t1", "$t2"))
    return (
        f"void $_main(void)\n{{\n{kind} $t1, $t2;\n{local}{begin}{both}{joined}{end}"
        f"@num({shown});\n}}\n"
    )


def _files() -> None:
    """A path is looked at, then used; a temporary file has a name that others can guess."""
    modes = "O_RDWR | O_CREAT, S_IREAD | S_IWRITE"
    name = '{\nchar $b[100] = "/tmp/<word>.txt";\n'
    write = 'if (write($k, "a text", 6) == -1)\n{\n@say(<text>);\n}\n'
    write += "if ($k != -1)\n{\nclose($k);\n}\n}\n"
    for test, look in (
        ("access", "if (access($b, W_OK) == -1)\n{\nexit(1);\n}\n"),
        ("stat", "struct stat $st;\nif (stat($b, &$st) == -1)\n{\nexit(1);\n}\n"),
        ("lstat", "struct stat $st;\nif (lstat($b, &$st) == -1)\n{\nexit(1);\n}\n"),
    ):
        opened = f"int $k = open($b, {modes});\nif ($k == -1)\n{{\nexit(1);\n}}\n"
        fstat = "struct stat $st;\nif (fstat($k, &$st) == -1)\n{\nexit(1);\n}\n"
        good = f"{name}{opened}{'' if test == 'access' else fstat}{write}"
        _point(367, f"{test} and open", f"{name}{look}{opened}{write}", good)
        stream = 'FILE *$p = fopen($b, "w+");\nif ($p == NULL)\n{\nexit(1);\n}\n'
        end = 'fputs("a text", $p);\nfclose($p);\n}\n'
        _point(367, f"{test} and fopen", f"{name}{look}{stream}{end}", f"{name}{stream}{end}")
        removed = "if (unlink($b) != 0)\n{\n@say(<text>);\n}\n}\n"
        _point(367, f"{test} and unlink", f"{name}{look}{removed}", f"{name}{removed}")
    close = "if ($k != -1)\n{\n@say(<text>);\nclose($k);\n}\n"
    for maker, made, free in (
        (
            "tempnam",
            "char *$b = tempnam(NULL, NULL);\nif ($b == NULL)\n{\nexit(1);\n}\n",
            "free($b);\n",
        ),
        ("tmpnam", "char *$b = tmpnam(NULL);\nif ($b == NULL)\n{\nexit(1);\n}\n", ""),
        (
            "tmpnam into an array",
            "char $b[L_tmpnam];\nif (tmpnam($b) == NULL)\n{\nexit(1);\n}\n",
            "",
        ),
        (
            "mktemp",
            'char $c[] = "/tmp/fnXXXXXX";\nchar *$b = mktemp($c);\n'
            "if ($b == NULL)\n{\nexit(1);\n}\n",
            "",
        ),
    ):
        start = f"{{\n{made}@say($b);\n"
        bad = f"{start}int $k = open($b, {modes});\n{close}{free}}}\n"
        sole = f"{start}int $k = open($b, {modes.replace('O_CREAT', 'O_CREAT | O_EXCL')});\n"
        temp = '{\nchar $b[] = "/tmp/fnXXXXXX";\nint $k = mkstemp($b);\n' + close + "}\n"
        _point(377, f"{maker} and open", bad, f"{sole}{close}{free}}}\n", temp)
        stream = (
            f'{start}FILE *$p = fopen($b, "w+");\nif ($p != NULL)\n{{\nfclose($p);\n}}\n{free}}}\n'
        )
        _point(
            377,
            f"{maker} and fopen",
            stream,
            "{\nFILE *$p = tmpfile();\nif ($p != NULL)\n{\nfclose($p);\n}\n}\n",
            temp,
        )


_dangerous()
_results()
_races()
_files()

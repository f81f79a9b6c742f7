"""Where values come from: console, files, environment, sockets, random numbers."""

from __future__ import annotations

CONSOLE_TEXT = """
{
size_t $n = strlen($d);
if ($s - $n > 1)
{
if (fgets($d + $n, (int)($s - $n), stdin) != NULL)
{
$n = strlen($d);
if ($n > 0 && $d[$n - 1] == '\\n')
{
$d[$n - 1] = '\\0';
}
}
else
{
@say(<text>);
$d[$n] = '\\0';
}
}
}
"""

FILE_TEXT = """
{
size_t $n = strlen($d);
FILE *$f;
if ($s - $n > 1)
{
$f = fopen("/tmp/<word>.txt", "r");
if ($f != NULL)
{
if (fgets($d + $n, (int)($s - $n), $f) == NULL)
{
@say(<text>);
$d[$n] = '\\0';
}
fclose($f);
}
}
}
"""

ENVIRONMENT_TEXT = """
{
size_t $n = strlen($d);
char *$e = getenv("<WORD>");
if ($e != NULL)
{
strncat($d + $n, $e, $s - $n - 1);
}
}
"""

_SOCKET = """
{
int $r;
struct sockaddr_in $a;
<handles>
<declare>
#ifdef _WIN32
WSADATA $ws;
int $wi = 0;
#endif
do
{
#ifdef _WIN32
if (WSAStartup(MAKEWORD(2, 2), &$ws) != NO_ERROR)
{
break;
}
$wi = 1;
#endif
<peer>
<receive>
} while (0);
<close>
#ifdef _WIN32
if ($wi)
{
WSACleanup();
}
#endif
}
"""


def _peer(handles: str, peer: str, *open_: str) -> str:
    """The text around what a socket receives; `open_` are the sockets to be closed."""
    close = "\n".join(f"if ({one} != -1)\n{{\nclosesocket({one});\n}}" for one in open_)
    return _SOCKET.replace("<handles>", handles).replace("<peer>", peer).replace("<close>", close)


_CONNECT = _peer(
    "int $k = -1;",
    """$k = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
if ($k == -1)
{
break;
}
memset(&$a, 0, sizeof($a));
$a.sin_family = AF_INET;
$a.sin_addr.s_addr = inet_addr("127.0.0.1");
$a.sin_port = htons(27015);
if (connect($k, (struct sockaddr *)&$a, sizeof($a)) == -1)
{
break;
}""",
    "$k",
)

_LISTEN = _peer(
    "int $h = -1;\nint $k = -1;",
    """$h = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
if ($h == -1)
{
break;
}
memset(&$a, 0, sizeof($a));
$a.sin_family = AF_INET;
$a.sin_addr.s_addr = INADDR_ANY;
$a.sin_port = htons(27015);
if (bind($h, (struct sockaddr *)&$a, sizeof($a)) == -1)
{
break;
}
if (listen($h, 5) == -1)
{
break;
}
$k = accept($h, NULL, NULL);
if ($k == -1)
{
break;
}""",
    "$h",
    "$k",
)

_TEXT = (
    "char *$q;\nsize_t $n = strlen($d);",
    """
$r = recv($k, (char *)($d + $n), sizeof(char) * ($s - $n - 1), 0);
if ($r == -1 || $r == 0)
{
break;
}
$d[$n + $r / sizeof(char)] = '\\0';
$q = strchr($d, '\\r');
if ($q)
{
*$q = '\\0';
}
$q = strchr($d, '\\n');
if ($q)
{
*$q = '\\0';
}
""",
)
_NUMBER = (
    "char $b[3 * sizeof($d) + 2];",
    """
$r = recv($k, $b, 3 * sizeof($d) + 1, 0);
if ($r == -1 || $r == 0)
{
break;
}
$b[$r] = '\\0';
$d = <convert>;
""",
)


def _socket(form: str, parts: tuple[str, str]) -> str:
    return form.replace("<declare>", parts[0]).replace("<receive>", parts[1].strip())


TEXT = {
    "console": CONSOLE_TEXT,
    "file": FILE_TEXT,
    "environment": ENVIRONMENT_TEXT,
    "connect": _socket(_CONNECT, _TEXT),
    "listen": _socket(_LISTEN, _TEXT),
}
"""Sources of text, appended to the string at `$d` in a buffer of `$s` characters."""


def text(source: str, size: int) -> str:
    """A source that appends to the text in `$d`, whose buffer holds `size` characters."""
    return TEXT[source].replace("$s", str(size))


def number(source: str, type: str = "int") -> str:
    """A source that gives a number: fgets, fscanf, connect, listen or rand."""
    convert = {
        "int64_t": "strtoll($b, NULL, 10)",
        "unsigned int": "(unsigned int)strtoul($b, NULL, 10)",
        "size_t": "strtoul($b, NULL, 10)",
        "short": "(short)atoi($b)",
        "char": "(char)atoi($b)",
    }.get(type, "atoi($b)")
    if source == "fgets":
        return f"""
{{
char $b[3 * sizeof($d) + 2] = "";
if (fgets($b, sizeof($b), stdin) != NULL)
{{
$d = {convert};
}}
else
{{
@say(<text>);
}}
}}
"""
    if source == "fscanf":
        code = {
            "int64_t": '"%" SCNd64',
            "unsigned int": '"%u"',
            "size_t": '"%zu"',
            "short": '"%hd"',
            "char": '"%c"',
            "float": '"%f"',
        }.get(type, '"%d"')
        return f"fscanf(stdin, {code}, &$d);\n"
    if source == "rand":
        return {
            "int64_t": "$d = (int64_t)@rand64();\n",
            "unsigned int": "$d = (unsigned int)@rand32();\n",
            "size_t": "$d = (size_t)@rand32();\n",
            "short": "$d = (short)@rand32();\n",
            "char": "$d = (char)@rand32();\n",
        }.get(type, "$d = @rand32();\n")
    form = {"connect": _CONNECT, "listen": _LISTEN}[source]
    return _socket(form, _NUMBER).replace("<convert>", convert)


def wide(source: str, size: int) -> str:
    """As `text`, for wide characters."""
    narrow = TEXT[source].replace("$s", str(size))
    for old, new in (
        ("strlen(", "wcslen("),
        ("fgets(", "fgetws("),
        ("'\\", "L'\\"),
        ("char *", "wchar_t *"),
        ("sizeof(char)", "sizeof(wchar_t)"),
        ("strchr(", "wcschr("),
        ("strncat(", "wcsncat("),
        ('getenv("', '_wgetenv(L"'),
        ("(wchar_t *)($d", "(char *)($d"),
    ):
        narrow = narrow.replace(old, new)
    return narrow

"""Functions that hand out and take back memory, files and descriptors."""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_ls.codeintel.functions import Call


@dataclass(frozen=True, slots=True)
class Family:
    """What belongs together: who hands out a resource and who takes it back."""

    name: str
    """Name of the family."""
    resource: str
    """What is handed out: `memory`, `file`, `descriptor`, `directory`, `process`."""
    acquire: frozenset[str]
    """Functions that hand it out and may fail."""
    certain: frozenset[str]
    """Functions that hand it out and end the program when they cannot."""
    release: frozenset[str]
    """Functions that take it back, as first argument."""


def _family(name: str, resource: str, acquire: str, release: str, certain: str = "") -> Family:
    return Family(
        name,
        resource,
        frozenset(acquire.split()),
        frozenset(certain.split()),
        frozenset(release.split()),
    )


FAMILIES = (
    _family(
        "malloc",
        "memory",
        "malloc calloc realloc reallocarray strdup strndup wcsdup _strdup _wcsdup aligned_alloc"
        " memalign valloc pvalloc realpath getline",
        "free cfree xfree",
        "xmalloc xcalloc xrealloc xstrdup xstrndup xzalloc emalloc ecalloc estrdup",
    ),
    _family(
        "glib",
        "memory",
        "g_try_malloc g_try_malloc0 g_try_new",
        "g_free g_strfreev",
        "g_malloc g_malloc0 g_strdup g_strndup g_new g_new0 g_strdup_printf g_realloc",
    ),
    _family(
        "openssl",
        "memory",
        "OPENSSL_malloc OPENSSL_zalloc OPENSSL_strdup CRYPTO_malloc",
        "OPENSSL_free CRYPTO_free OPENSSL_clear_free",
    ),
    _family(
        "sqlite",
        "memory",
        "sqlite3_malloc sqlite3_malloc64 sqlite3_realloc sqlite3_mprintf",
        "sqlite3_free",
    ),
    _family(
        "kernel",
        "memory",
        "kmalloc kzalloc kcalloc kstrdup vmalloc vzalloc kvmalloc",
        "kfree vfree kvfree kfree_sensitive",
    ),
    _family("HeapAlloc", "memory", "HeapAlloc", ""),
    _family("LocalAlloc", "memory", "LocalAlloc", "LocalFree"),
    _family("GlobalAlloc", "memory", "GlobalAlloc", "GlobalFree"),
    _family("new", "memory", "", "delete", "new"),
    _family("new[]", "memory", "", "delete[]", "new[]"),
    _family(
        "stdio", "file", "fopen fdopen tmpfile fopen64 _wfopen fmemopen open_memstream", "fclose"
    ),
    _family("popen", "process", "popen _popen", "pclose _pclose"),
    _family("opendir", "directory", "opendir fdopendir", "closedir"),
    _family(
        "descriptor",
        "descriptor",
        "open open64 openat creat socket accept accept4 dup eventfd epoll_create"
        " epoll_create1 inotify_init inotify_init1 timerfd_create memfd_create _open",
        "close _close closesocket",
    ),
    _family("addrinfo", "memory", "", "freeaddrinfo"),
)

ACQUIRES = {name: family for family in FAMILIES for name in family.acquire | family.certain}
RELEASES = {name: family for family in FAMILIES for name in family.release}
ALLOCATING = frozenset().union(*(f.acquire for f in FAMILIES if f.resource == "memory"))
OPENING = frozenset().union(*(f.acquire for f in FAMILIES if f.resource != "memory"))
FREEING = frozenset(name for name, f in RELEASES.items() if f.resource == "memory")
CLOSING = frozenset(name for name, f in RELEASES.items() if f.resource != "memory")

MAY_BE_NULL = frozenset(
    "getenv secure_getenv strchr strrchr strstr strpbrk memchr strcasestr strtok strtok_r "
    "localtime gmtime getpwnam getpwuid getgrnam getgrgid gethostbyname gethostbyaddr "
    "getservbyname bsearch dlsym dlopen readdir tmpnam ttyname getlogin wcschr wcsstr "
    "freopen setlocale inet_ntop fgets".split()
)
"""Other functions whose result is null when they fail or find nothing."""

DEREFERENCES = {
    "strlen": (0,),
    "strcpy": (0, 1),
    "strncpy": (0, 1),
    "strcat": (0, 1),
    "strncat": (0, 1),
    "strcmp": (0, 1),
    "strncmp": (0, 1),
    "strcasecmp": (0, 1),
    "strncasecmp": (0, 1),
    "strchr": (0,),
    "strrchr": (0,),
    "strstr": (0, 1),
    "strdup": (0,),
    "strndup": (0,),
    "strspn": (0, 1),
    "strcspn": (0, 1),
    "strpbrk": (0, 1),
    "stpcpy": (0, 1),
    "wcslen": (0,),
    "wcscpy": (0, 1),
    "wcsncpy": (0, 1),
    "wcscat": (0, 1),
    "wcscmp": (0, 1),
    "wmemset": (0,),
    "memcpy": (0, 1),
    "memmove": (0, 1),
    "memset": (0,),
    "memcmp": (0, 1),
    "bcopy": (0, 1),
    "bzero": (0,),
    "sprintf": (0, 1),
    "snprintf": (0,),
    "vsprintf": (0, 1),
    "sscanf": (0, 1),
    "atoi": (0,),
    "atol": (0,),
    "atof": (0,),
    "strtol": (0,),
    "strtoul": (0,),
    "strtod": (0,),
    "puts": (0,),
    "fputs": (0, 1),
    "fputc": (1,),
    "putc": (1,),
    "fgets": (0, 2),
    "fgetc": (0,),
    "getc": (0,),
    "fread": (0, 3),
    "fwrite": (0, 3),
    "fprintf": (0, 1),
    "vfprintf": (0, 1),
    "fscanf": (0, 1),
    "fseek": (0,),
    "ftell": (0,),
    "rewind": (0,),
    "feof": (0,),
    "ferror": (0,),
    "fileno": (0,),
    "fclose": (0,),
    "pclose": (0,),
    "readdir": (0,),
    "closedir": (0,),
    "setvbuf": (0,),
    "ungetc": (1,),
    "getline": (2,),
    "wmemcpy": (0, 1),
    "wcsncat": (0, 1),
}
"""Arguments through which well-known functions read or write, so that they must not be null."""


def called_name(call: Call) -> str:
    """Return the name of a library function a call makes; empty for the file's own function."""
    return "" if call.name in call.unit.facts.defined else call.name

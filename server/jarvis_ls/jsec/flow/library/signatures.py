"""Result types of library functions, for files that do not declare them."""

from __future__ import annotations

from typing import Final

from jarvis_ls.jsec.flow.ir.c_types import CHARS, DOUBLE, INT, LONG, UINT, ULONG, VOID
from jarvis_ls.jsec.flow.ir.types import Type, float_of, integer, pointer_to, record_type
from jarvis_ls.jsec.flow.library.c_tables import LIBRARY

_POINTER: Type = pointer_to(VOID)
_WIDE: Type = pointer_to(INT)
_SHORT: Type = integer(2, False)
_STREAM: Type = pointer_to(record_type("FILE"))


def _all(type_: Type, names: str) -> dict[str, Type]:
    return dict.fromkeys(names.split(), type_)


RESULTS: dict[str, Type] = {
    **LIBRARY.results,
    **_all(
        _POINTER,
        "malloc calloc realloc reallocarray aligned_alloc memalign valloc alloca "
        "__builtin_alloca _alloca memcpy memmove memset memchr mempcpy mmap bsearch dlopen "
        "dlsym xmalloc xcalloc xrealloc memmem LoadLibrary LoadLibraryA LoadLibraryW",
    ),
    **_all(
        CHARS,
        "strcpy strncpy strcat strncat strchr strrchr strstr strpbrk strtok strtok_r "
        "strdup strndup getenv secure_getenv fgets gets getcwd realpath strerror ctime asctime "
        "inet_ntoa basename dirname tmpnam tempnam mktemp mkdtemp stpcpy stpncpy strsep "
        "getlogin crypt getpass setlocale",
    ),
    **_all(
        _WIDE,
        "wcscpy wcsncpy wcscat wcsncat wcschr wcsrchr wcsstr wcsdup fgetws wmemcpy "
        "wmemmove wmemset wmemchr wcstok _wgetenv _wcsdup",
    ),
    **_all(_STREAM, "fopen fdopen freopen popen tmpfile _popen _wpopen _wfopen fopen64"),
    **_all(
        ULONG,
        "strlen strnlen wcslen wcsnlen strspn strcspn fread fwrite strtoul strtoull "
        "urand63 urand64 strlcpy strlcat confstr strftime mbstowcs wcstombs",
    ),
    **_all(
        LONG,
        "strtol strtoll atol atoll labs llabs ftell read write recv send readlink "
        "sysconf recvfrom sendto pread pwrite time lseek getline getdelim random lrand48 "
        "mrand48 rand64 wcstol wcstoll ssize recvmsg sendmsg",
    ),
    **_all(UINT, "urand31 urand32 ntohl htonl __builtin_bswap32 inet_addr umask sleep alarm"),
    **_all(_SHORT, "ntohs htons __builtin_bswap16"),
    **_all(ULONG, "be64toh htobe64 le64toh htole64 __builtin_bswap64"),
    **_all(UINT, "be32toh htobe32 le32toh htole32"),
    **_all(_SHORT, "be16toh htobe16 le16toh htole16"),
    **_all(DOUBLE, "atof strtod sqrt pow fabs floor ceil drand48 fmod sin cos log exp log10"),
    **_all(float_of(4), "strtof sqrtf fabsf"),
    **_all(
        VOID,
        "free exit _exit abort perror srand srandom qsort bzero bcopy rewind setbuf "
        "closelog syslog openlog clearerr cfree",
    ),
}

FEWEST: Final[dict[str, int]] = {
    **dict.fromkeys(("close", "fclose", "free", "closedir", "pclose", "dup", "strlen"), 1),
    **dict.fromkeys(("open", "open64", "creat", "fopen", "fdopen", "dup2", "strcpy", "strcat"), 2),
    **dict.fromkeys(("socket", "accept", "connect", "bind", "read", "write"), 3),
    **dict.fromkeys(("memcpy", "memmove", "memset", "strncpy", "strncat", "memcmp"), 3),
    **dict.fromkeys(("send", "recv", "fread", "fwrite"), 4),
}
"""Fewest arguments of library functions whose names methods of programs have, too."""

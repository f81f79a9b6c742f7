"""What each library function does, as data.

A function is a tuple of effects, run in order. Numbers are positions of arguments, `unit`
is the size of a character. `model` carries them out:

`alloc family sizes fill fails` (of no sizes: as much as is needed), `free family pointer`,
`realloc pointer size family fails`,
`copy to from count unit`, `fill to value count unit`, `strcpy to from unit`,
`strncpy to from count unit`, `strcat to from unit`, `strncat to from count unit`,
`length from unit`, `print to count format first unit` (count -1: without bound),
`format position first`, `command first last`, `path position`, `input to count unit source`
(a string of fewer than count characters), `bytes to count unit source`, `scan format first source`,
`text source` (returns a string), `number source low high`, `parse from`, `within from fails unit`
(a pointer into an argument, or null), `same position`, `open family fails`, `abs position`,
`range low high [source]`, `kind` (of a character), `count position` (as many at most, or -1),
`items position` (as many at most),
`duplicate from unit count family fails`, `reads position count unit`, `stop`, `quiet`,
`stored to` (a value that the system keeps for the user), `destroy position` (a lock),
`escape first`, `variable position`, `uses positions`,
`string position` (it is read to its end), `written position`, `ends position` (a stream),
`between to first last` (of a range),
`lock position`, `try lock position`, `wait position`, `unlock position`, `mutex`,
`copy within to room from count unit`, `fill within to room value count unit` (nothing when `count`
is more than `room`), `deny position` (what goes on holds when the argument is 0),
`derived position` (the same pointer when its object is of the class of the result),
`elements to from count` (of the type that is pointed to; from -1: one value).
"""

from __future__ import annotations

from jarvis_ls.jsec.flow.library.c_tables import LIBRARY, Effect

UNINIT, ZERO = 0, 1


def _both(narrow: str, wide: str, *effects: Effect) -> dict[str, tuple[Effect, ...]]:
    """Return the same effects for functions of characters and of wide characters; `"u"` is the
    unit.
    """

    def of(unit: int) -> tuple[Effect, ...]:
        return tuple(tuple(unit if part == "u" else part for part in e) for e in effects)

    found = dict.fromkeys(narrow.split(), of(1))
    found.update(dict.fromkeys(wide.split(), of(4)))
    return found


def _each(names: str, *effects: Effect) -> dict[str, tuple[Effect, ...]]:
    return dict.fromkeys(names.split(), effects)


TABLE: dict[str, tuple[Effect, ...]] = {
    # memory
    **_each("malloc valloc", ("alloc", "malloc", (0,), UNINIT, True)),
    **_each("calloc", ("alloc", "malloc", (0, 1), ZERO, True)),
    **_each("aligned_alloc memalign", ("alloc", "malloc", (1,), UNINIT, True)),
    **_each("alloca __builtin_alloca _alloca", ("alloc", "alloca", (0,), UNINIT, False)),
    **_each("realloc", ("realloc", 0, 1, "malloc", True)),
    **_each("free cfree", ("free", "malloc", 0)),
    **_both("strdup _strdup", "wcsdup _wcsdup", ("duplicate", 0, "u", -1, "malloc", True)),
    **_both("strndup", "", ("duplicate", 0, "u", 1, "malloc", True)),
    # blocks of memory
    **_each("memcpy memmove mempcpy __builtin_memcpy", ("copy", 0, 1, 2, 1), ("same", 0)),
    **_each("wmemcpy wmemmove", ("copy", 0, 1, 2, 4), ("same", 0)),
    **_each("bcopy", ("copy", 1, 0, 2, 1)),
    **_each("memset __builtin_memset", ("fill", 0, 1, 2, 1), ("same", 0)),
    **_each("wmemset", ("fill", 0, 1, 2, 4), ("same", 0)),
    **_each("bzero", ("zero", 0, 1)),
    **_each("memcmp bcmp", ("reads", 0, 2, 1), ("reads", 1, 2, 1)),
    **_each("memchr", ("reads", 0, 2, 1), ("within", 0, True, 1)),
    **_each("copy", ("between", 2, 0, 1)),
    **_each("copy_n", ("elements", 2, 0, 1)),
    **_each("fill_n", ("elements", 0, -1, 1)),
    **_each("dynamic_cast", ("derived", 0)),
    # strings
    **_both("strcpy stpcpy _mbscpy", "wcscpy", ("strcpy", 0, 1, "u"), ("same", 0)),
    **_both("strncpy", "wcsncpy", ("strncpy", 0, 1, 2, "u"), ("same", 0)),
    **_both("strcat", "wcscat", ("strcat", 0, 1, "u"), ("same", 0)),
    **_both("strncat", "wcsncat", ("strncat", 0, 1, 2, "u"), ("same", 0)),
    **_both("strlcpy", "", ("bounded", 0, 1, 2)),
    **_both("strlcat", "", ("bounded", 0, 1, 2)),
    **_both("strlen", "wcslen", ("length", 0, "u", -1)),
    **_both("strnlen", "wcsnlen", ("length", 0, "u", 1)),
    **_both(
        "strchr strrchr strstr strpbrk index rindex strcasestr",
        "wcschr wcsrchr wcsstr wcspbrk",
        ("uses", (0,)),
        ("within", 0, True, "u"),
    ),
    **_both(
        "strcmp strncmp strcasecmp strncasecmp strcoll strspn strcspn",
        "wcscmp wcsncmp wcscoll wcsspn wcscspn",
        ("uses", (0, 1)),
    ),
    **_both("strtok", "wcstok", ("within", 0, True, "u")),
    **_each("strtok_r strsep", ("within", 0, True, 1)),
    **_both("sprintf", "", ("print", 0, -1, 1, 2, "u")),
    **_both("snprintf _snprintf", "swprintf _snwprintf", ("print", 0, 1, 2, 3, "u")),
    **_both("vsnprintf _vsnprintf", "vswprintf _vsnwprintf", ("print", 0, 1, 2, -1, "u")),
    **_both("vsprintf", "", ("print", 0, -1, 1, -1, "u")),
    # output
    **_both("printf", "wprintf", ("format", 0, 1)),
    **_both("vprintf", "vwprintf", ("format", 0, -1)),
    **_both("fprintf", "fwprintf", ("uses", (0,)), ("written", 0), ("format", 1, 2)),
    **_both("vfprintf", "vfwprintf", ("uses", (0,)), ("format", 1, -1)),
    **_each("dprintf", ("format", 1, 2)),
    **_each("vdprintf", ("format", 1, -1)),
    **_each("syslog", ("format", 1, 2)),
    **_each("vsyslog", ("format", 1, -1)),
    **_each("puts perror putenv_ printf_", ("uses", (0,)), ("string", 0)),
    **_each("fputs fputws", ("uses", (0, 1)), ("written", 1), ("string", 0)),
    **_each("fwrite", ("uses", (3,)), ("written", 3), ("reads", 0, (1, 2), 1)),
    **_each("write send sendto pwrite", ("reads", 1, 2, 1)),
    **_each("fputc putc fputwc putwc", ("uses", (1,)), ("written", 1)),
    **_each("ungetc ungetwc", ("uses", (1,))),
    **_each("fseek fseeko ftell ftello rewind feof ferror fileno clearerr", ("uses", (0,))),
    **_each("putchar putwchar fflush setvbuf isatty lseek fsync", ("quiet",)),
    # input
    **_both(
        "fgets", "fgetws", ("uses", (2,)), ("input", 0, 1, "u", "fgets()"), ("same or null", 0)
    ),
    **_both("gets", "_getws", ("input", 0, -1, "u", "gets()"), ("same or null", 0)),
    **_each("fread", ("uses", (3,)), ("bytes", 0, (1, 2), 1, "fread()"), ("items", 2)),
    **_each("read pread", ("bytes", 1, 2, 1, "read()"), ("count", 2)),
    **_each("recv", ("bytes", 1, 2, 1, "recv()"), ("count", 2)),
    **_each("recvfrom", ("bytes", 1, 2, 1, "recv()"), ("wrote", 4), ("wrote", 5), ("count", 2)),
    **_each("readlink", ("bytes", 1, 2, 1, "readlink()"), ("count", 2)),
    **_both("scanf", "wscanf", ("scan", 0, 1, "scanf()")),
    **_both("fscanf", "fwscanf", ("uses", (0,)), ("scan", 1, 2, "fscanf()")),
    **_both("sscanf", "swscanf", ("scan", 1, 2, "sscanf()")),
    **_each("getenv secure_getenv _wgetenv", ("text", "getenv()")),
    **_each("getc fgetc", ("uses", (0,)), ("range", -1, 255, "fgetc()")),
    **_each("getchar", ("range", -1, 255, "getchar()")),
    **_each("getwc fgetwc", ("uses", (0,)), ("range", 0, 2**32 - 1)),
    **_each("getwchar", ("range", 0, 2**32 - 1)),
    # numbers
    **_each("rand", ("number", "rand()", 0, 2**31 - 1)),
    **_each("random lrand48", ("number", "random()", 0, 2**31 - 1)),
    **_each("rand32", ("number", "rand()", -(2**31), 2**31 - 1)),
    **_each("rand64", ("number", "rand()", -(2**63), 2**63 - 1)),
    **_each("urand31", ("number", "rand()", 0, 2**31 - 1)),
    **_each("urand32", ("number", "rand()", 0, 2**32 - 1)),
    **_each("urand63", ("number", "rand()", 0, 2**63 - 1)),
    **_each("urand64", ("number", "rand()", 0, 2**64 - 1)),
    **_each("atoi _wtoi", ("parse", 0, "atoi()")),
    **_each(
        "strtol strtoll strtoul strtoull wcstol wcstoul wcstoll",
        ("parse", 0, "strtol()"),
        ("wrote", 1),
    ),
    **_each("atol atoll", ("parse", 0, "atol()")),
    **_each("atof", ("parse", 0, "atof()")),
    **_each("strtod strtof wcstod", ("parse", 0, "strtod()"), ("wrote", 1)),
    **_each("abs labs llabs fabs fabsf imaxabs", ("abs", 0)),
    **_each("sqrt sqrtf sqrtl", ("sqrt", 0)),
    **_each(
        "isdigit isalpha isalnum isspace isxdigit isupper islower ispunct isprint iscntrl "
        "iswdigit iswalpha iswspace iswxdigit",
        ("kind",),
    ),
    **_each("tolower toupper", ("same", 0)),
    **_each(
        "ntohl htonl ntohs htons be64toh htobe64 le64toh htole64 be32toh htobe32 le32toh htole32 "
        "be16toh htobe16 le16toh htole16 __builtin_bswap16 __builtin_bswap32 __builtin_bswap64",
        ("swapped", 0),
    ),
    **_each("time", ("wrote", 0)),
    **_each(
        "srand srandom sleep usleep getpid close_ umask signal clock isatty exit_ getuid "
        "geteuid setuid setgid seteuid chmod_ pthread_self",
        ("quiet",),
    ),
    # commands and paths
    **_both("system", "_wsystem", ("command", 0, 0)),
    **_each("WinExec", ("command", 0, 0)),
    **_each("CreateProcessA CreateProcessW CreateProcess", ("command", 0, 1), ("wrote", 9)),
    **_both("popen _popen", "_wpopen", ("command", 0, 0), ("open", "popen", True)),
    **_both("execl execlp execle _execl _execlp", "_wexecl _wexeclp", ("command", 0, 99)),
    **_both("_spawnl _spawnlp", "_wspawnl _wspawnlp", ("command", 1, 99)),
    **_both(
        "execv execvp execve execvpe _execv _execvp",
        "_wexecv _wexecvp",
        ("command", 0, 0),
        ("vector", 1),
    ),
    **_both(
        "_spawnv _spawnvp _spawnve",
        "_wspawnv _wspawnvp _wspawnve",
        ("command", 1, 1),
        ("vector", 2),
    ),
    **_both("fopen fopen64", "_wfopen", ("path", 0), ("open", "fopen", True)),
    **_each("freopen", ("path", 0), ("escape", 2), ("open", "fopen", True)),
    **_each("fdopen _fdopen", ("escape", 0), ("open", "fopen", True)),
    **_each("tmpfile", ("open", "fopen", True)),
    **_both("open _open open64 creat openat_", "_wopen", ("path", 0), ("descriptor",)),
    **_each("socket", ("descriptor",)),
    **_each("accept accept4", ("wrote", 1), ("wrote", 2), ("descriptor",)),
    **_each("connect bind sendmsg", ("uses", (1,))),
    **_each("listen shutdown", ("quiet",)),
    **_each("setsockopt", ("quiet",)),
    **_each("opendir", ("path", 0), ("open", "opendir", True)),
    **_each(
        "remove unlink rmdir mkdir chdir access stat lstat rename chmod chown truncate",
        ("path", 0),
        ("wrote", 1),
    ),
    **_each("fclose", ("ends", 0), ("free", "fopen", 0)),
    **_each("pclose _pclose", ("ends", 0), ("free", "popen", 0)),
    **_each("readdir rewinddir", ("uses", (0,))),
    **_each("closedir", ("ends", 0), ("free", "opendir", 0)),
    **_each("close _close closesocket", ("free", "open", 0)),
    **_each("CloseHandle", ("free", "CreateFile", 0)),
    **_each("CreateFileA CreateFileW CreateFile", ("path", 0), ("open", "CreateFile", False)),
    **_each("ReadFile", ("bytes", 1, 2, 1, "ReadFile()"), ("wrote", 3)),
    **_each("LogonUserA LogonUserW LogonUser", ("secret", 2), ("wrote", 5)),
    **_each("crypt crypt_r", ("secret", 0)),
    **_each(
        "RegQueryValueExA RegQueryValueExW RegQueryValueEx",
        ("stored", 4),
        ("wrote", 5),
        ("range", 0, 2**31 - 1),
    ),
    **_each(
        "RegGetValueA RegGetValueW RegGetValue",
        ("stored", 5),
        ("wrote", 6),
        ("range", 0, 2**31 - 1),
    ),
    **_each("CryptUnprotectData", ("wrote", 6)),
    **_each("CryptHashData", ("secret", 1)),
    **_each("CryptDecrypt", ("clean", 4), ("wrote", 5)),
    **_each("putenv _putenv _wputenv", ("search", 0), ("escape", 0)),
    **_each("pthread_setspecific tss_set TlsSetValue FlsSetValue", ("escape", 1)),
    **_each("setenv", ("setenv", 0, 1)),
    **_each("dlopen LoadLibrary LoadLibraryA LoadLibraryW", ("library", 0)),
    # ends
    **_each(
        "exit _exit _Exit abort quick_exit __builtin_trap __builtin_unreachable longjmp "
        "siglongjmp err errx __assert_fail pthread_exit",
        ("stop",),
    ),
    **_each("assert", ("assert", 0)),
    **_each("__cleanup", ("escape", 0)),
    **_each("va_start va_end va_copy __builtin_va_start __builtin_va_end", ("quiet",)),
    # locks
    **_each(
        "pthread_mutex_init pthread_rwlock_init mtx_init pthread_spin_init "
        "InitializeCriticalSection",
        ("quiet",),
    ),
    **_each(
        "pthread_mutex_destroy pthread_rwlock_destroy pthread_spin_destroy mtx_destroy "
        "DeleteCriticalSection",
        ("destroy", 0),
    ),
    **_each(
        "pthread_mutex_lock pthread_spin_lock pthread_rwlock_wrlock pthread_rwlock_rdlock "
        "mtx_lock pthread_mutex_trylock pthread_mutex_timedlock pthread_spin_trylock "
        "pthread_rwlock_trywrlock pthread_rwlock_tryrdlock mtx_trylock mtx_timedlock "
        "mutex_lock_interruptible uv_mutex_trylock",
        ("try lock", 0),
    ),
    **_each(
        "pthread_mutex_unlock pthread_spin_unlock pthread_rwlock_unlock mtx_unlock "
        "LeaveCriticalSection ReleaseSRWLockExclusive ReleaseSRWLockShared ReleaseMutex "
        "g_mutex_unlock g_rec_mutex_unlock spin_unlock spin_unlock_irq spin_unlock_bh "
        "mutex_unlock sqlite3_mutex_leave uv_mutex_unlock SDL_UnlockMutex omp_unset_lock",
        ("unlock", 0),
    ),
    **_each(
        "EnterCriticalSection AcquireSRWLockExclusive AcquireSRWLockShared g_mutex_lock "
        "g_rec_mutex_lock spin_lock spin_lock_irq spin_lock_bh mutex_lock "
        "sqlite3_mutex_enter uv_mutex_lock SDL_LockMutex omp_set_lock",
        ("lock", 0),
    ),
    **_each("CreateMutex CreateMutexA CreateMutexW", ("open", "CreateFile", True), ("mutex",)),
    **_each("WaitForSingleObject", ("wait", 0)),
}
for _name, _effects in LIBRARY.effects.items():
    TABLE.setdefault(_name, _effects)


def macro_for(name: str) -> str:
    """Return the library function that a macro which nothing defines is likely to represent:
    `ALLOCA`,
    `SNPRINTF` or `CLOSE_SOCKET` hide what it is called on some system. Else the name itself."""
    plain = name.lower()
    for spelling in (plain, plain.replace("_", "")):
        if spelling in TABLE:
            return spelling
    return name


_KNOWN_LIBRARIES = frozenset(
    "kernel32 ntdll user32 gdi32 advapi32 shell32 ole32 ws2_32 msvcrt shlwapi comdlg32 "
    "rpcrt4".split()
)


def is_known(library: str) -> bool:
    """Return whether Windows takes a library from its own folder, whatever is elsewhere: it is
    one of the "known DLLs".
    """
    return library.lower().removesuffix(".dll") in _KNOWN_LIBRARIES


_OPTIONAL = frozenset({"curl_easy_setopt", "PKCS12_create"})
"""Functions whose argument is a secret only when another one says so."""

PASSWORDS = {
    "LogonUser": 2,
    "LogonUserA": 2,
    "LogonUserW": 2,
    "LogonUserExA": 2,
    "LogonUserExW": 2,
    "CreateProcessWithLogonW": 2,
    "WNetAddConnection": 1,
    "WNetAddConnectionA": 1,
    "WNetAddConnectionW": 1,
    "WNetAddConnection2A": 1,
    "WNetAddConnection2W": 1,
    "WNetAddConnection2": 1,
    "mysql_real_connect": 3,
    "mysql_change_user": 2,
    "PQsetdbLogin": 6,
    "SQLConnect": 5,
    "SQLConnectA": 5,
    "SQLConnectW": 5,
    "ldap_simple_bind_s": 2,
    "ldap_simple_bind": 2,
    "ldap_bind_s": 2,
    "ssh_userauth_password": 2,
    "libssh2_userauth_password": 2,
    "curl_easy_setopt": 2,
    "zip_set_default_password": 1,
    "sqlite3_key": 1,
    "sqlite3_rekey": 1,
    "pam_authenticate_password": 1,
    "SSL_CTX_set_default_passwd_cb_userdata": 1,
    "PKCS12_parse": 1,
    "PKCS12_create": 0,
    "PEM_write_PrivateKey": 6,
    "mongoc_client_set_password": 1,
    "redisAuth": 1,
    "OCILogon": 4,
    "smtp_auth": 2,
    "FtpConnect": 3,
    "InternetConnectA": 4,
    "InternetConnectW": 4,
    "NetUserChangePassword": 3,
    "crypt": 0,
    "crypt_r": 0,
}
"""Functions that take a password, with the place of the argument."""

KEYS = {
    "EVP_EncryptInit": 2,
    "EVP_DecryptInit": 2,
    "EVP_CipherInit": 2,
    "EVP_EncryptInit_ex": 3,
    "EVP_DecryptInit_ex": 3,
    "EVP_CipherInit_ex": 3,
    "AES_set_encrypt_key": 0,
    "AES_set_decrypt_key": 0,
    "DES_set_key": 0,
    "DES_set_key_unchecked": 0,
    "DES_set_key_checked": 0,
    "DES_string_to_key": 0,
    "RC4_set_key": 2,
    "BF_set_key": 2,
    "Camellia_set_key": 0,
    "HMAC": 1,
    "HMAC_Init": 1,
    "HMAC_Init_ex": 1,
    "PKCS5_PBKDF2_HMAC": 0,
    "PKCS5_PBKDF2_HMAC_SHA1": 0,
    "EVP_BytesToKey": 3,
    "EVP_PKEY_new_mac_key": 2,
    "EVP_PKEY_new_raw_private_key": 2,
    "mbedtls_aes_setkey_enc": 1,
    "mbedtls_aes_setkey_dec": 1,
    "mbedtls_gcm_setkey": 2,
    "mbedtls_cipher_setkey": 1,
    "mbedtls_md_hmac_starts": 1,
    "mbedtls_md_hmac": 1,
    "gcry_cipher_setkey": 1,
    "gcry_md_setkey": 1,
    "crypto_secretbox_easy": 4,
    "crypto_auth": 3,
    "crypto_secretbox": 4,
    "CCCrypt": 3,
    "CryptHashData": 1,
    "CryptImportKey": 1,
    "wc_AesSetKey": 1,
    "wc_HmacSetKey": 2,
}
"""Functions that take a key (or what a key is made from), with the place of the argument."""

SECRETS = {name: place for name, place in (PASSWORDS | KEYS).items() if name not in _OPTIONAL}
"""Functions whose argument at that place is a password or key, whatever the others say."""

PRINTERS = frozenset(
    "printf fprintf puts fputs putchar putc fputc wprintf fwprintf putwchar fputwc fputws "
    "vprintf vfprintf fflush syslog write".split()
)
"""Functions that show something and change nothing."""

STOPS = frozenset(name for name, effects in TABLE.items() if ("stop",) in effects)
"""Functions that do not return."""

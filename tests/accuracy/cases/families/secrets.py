"""Passwords and keys in the program or in plain files, weak ciphers, guessable random numbers."""

from __future__ import annotations

from cases.shape import Shape

SHAPES: list[Shape] = []

_CONSOLE = """
{
size_t $n;
if (fgets($d, 100, stdin) == NULL)
{
@say(<text>);
$d[0] = '\\0';
}
$n = strlen($d);
if ($n > 0)
{
$d[$n - 1] = '\\0';
}
}
"""
_LOGON = """{
HANDLE $h;
char *$u = (char *)"<word>";
char *$w = (char *)"<word>";
if (LogonUserA($u, $w, $d, LOGON32_LOGON_NETWORK, LOGON32_PROVIDER_DEFAULT, &$h) != 0)
{
@say(<text>);
CloseHandle($h);
}
else
{
@say(<text>);
}
}
"""
_CRYPT = """{
char *$r = crypt($d, "ka");
if ($r != NULL)
{
@say($r);
}
}
"""
_KEYED = """{
HCRYPTPROV $c;
HCRYPTKEY $k;
HCRYPTHASH $h;
char $t[] = "a text";
DWORD $n = (DWORD)(strlen($t) * sizeof(char));
if (!CryptAcquireContext(&$c, NULL, MS_ENH_RSA_AES_PROV, PROV_RSA_AES, 0))
{
exit(1);
}
if (!CryptCreateHash($c, CALG_SHA_256, 0, 0, &$h))
{
exit(1);
}
if (!CryptHashData($h, (BYTE *)<key>, (DWORD)(strlen(<key>) * sizeof(char)), 0))
{
exit(1);
}
if (!CryptDeriveKey($c, <cipher>, $h, 0, &$k))
{
exit(1);
}
if (!CryptEncrypt($k, (HCRYPTHASH)NULL, 1, 0, (BYTE *)$t, &$n, sizeof($t)))
{
exit(1);
}
CryptDestroyKey($k);
CryptDestroyHash($h);
CryptReleaseContext($c, 0);
}
"""
_BUFFER = 'char $b[100] = "";\n$d = $b;\n'


def _literals() -> None:
    for name, cwe, sink in (
        ("LogonUser", 259, _LOGON),
        ("crypt", 259, _CRYPT),
        ("CryptHashData", 321, _KEYED.replace("<key>", "$d").replace("<cipher>", "CALG_AES_256")),
    ):
        SHAPES.append(
            Shape(
                cwe=cwe,
                name=f"{name} with a literal",
                start="",
                setup=_BUFFER,
                bad='strcpy($d, "ABCD1234!");\n',
                good=_CONSOLE,
                sink=sink,
            )
        )
        SHAPES.append(
            Shape(
                cwe=cwe,
                name=f"{name} with a macro",
                start="",
                setup=_BUFFER,
                shared='#define $SECRET "ABCD1234!"\n',
                bad="strcpy($d, $SECRET);\n",
                good=_CONSOLE,
                sink=sink,
            )
        )
    cleared = "SecureZeroMemory($d, strlen($d) * sizeof(char));\n}\n"
    SHAPES.append(
        Shape(
            cwe=259,
            name="LogonUser and cleared",
            start="",
            setup=_BUFFER,
            bad='strcpy($d, "ABCD1234!");\n',
            good=_CONSOLE,
            sink=_LOGON.rstrip()[:-1] + cleared,
        )
    )


_READ = """
{
FILE *$f;
$f = fopen("<word>.txt", "r");
if ($f != NULL)
{
if (fgets($d, 100, $f) == NULL)
{
$d[0] = '\\0';
}
fclose($f);
}
else
{
$d[0] = '\\0';
}
}
"""
_DECRYPT = """
{
HCRYPTPROV $c = 0;
HCRYPTHASH $h = 0;
HCRYPTKEY $k = 0;
char $a[100] = "<word>";
DWORD $n = 100;
if (!CryptAcquireContext(&$c, NULL, MS_ENH_RSA_AES_PROV, PROV_RSA_AES, CRYPT_VERIFYCONTEXT))
{
exit(1);
}
if (!CryptCreateHash($c, CALG_SHA_256, 0, 0, &$h))
{
exit(1);
}
if (!CryptHashData($h, (BYTE *)$a, (DWORD)strlen($a), 0))
{
exit(1);
}
if (!CryptDeriveKey($c, CALG_AES_256, $h, 0, &$k))
{
exit(1);
}
if (!CryptDecrypt($k, 0, 1, 0, (BYTE *)$d, &$n))
{
exit(1);
}
$d[$n / sizeof(char)] = '\\0';
CryptDestroyKey($k);
CryptDestroyHash($h);
CryptReleaseContext($c, 0);
}
"""


def _plain() -> None:
    for name, sink in (("LogonUser", _LOGON), ("crypt", _CRYPT)):
        SHAPES.append(
            Shape(
                cwe=256,
                name=f"{name} with a file's text",
                start="",
                setup=_BUFFER,
                bad=_READ,
                good=_READ + _DECRYPT,
                sink=sink,
                checked=_DECRYPT + sink,
            )
        )


def _ciphers() -> None:
    text = _KEYED.replace("<key>", "$p").replace("{\n", "{\nchar $p[100];\n", 1)
    ask = "if (fgets($p, 100, stdin) == NULL)\n{\n$p[0] = '\\0';\n}\n"
    text = text.replace("if (!CryptAcquire", ask + "if (!CryptAcquire", 1)
    for cipher in ("CALG_DES", "CALG_3DES", "CALG_RC5", "CALG_RC4", "CALG_RC2"):
        SHAPES.append(
            Shape(
                cwe=327,
                name=cipher,
                point=True,
                sink=text.replace("<cipher>", cipher),
                good=text.replace("<cipher>", "CALG_AES_256"),
            )
        )
    form = "{\nconst EVP_CIPHER *$c = <cipher>;\n@num($c != NULL);\n}\n"
    declared = (
        "typedef struct evp_cipher_st EVP_CIPHER;\n"
        "const EVP_CIPHER *<weak>(void);\nconst EVP_CIPHER *EVP_aes_256_gcm(void);\n"
    )
    for weak in ("EVP_des_cbc", "EVP_rc4", "EVP_des_ede3_cbc", "EVP_rc2_cbc", "EVP_bf_cbc"):
        SHAPES.append(
            Shape(
                cwe=327,
                name=weak,
                point=True,
                shared='#ifdef __cplusplus\nextern "C" {\n#endif\n'
                + declared.replace("<weak>", weak)
                + "#ifdef __cplusplus\n}\n#endif\n",
                sink=form.replace("<cipher>", f"{weak}()"),
                good=form.replace("<cipher>", "EVP_aes_256_gcm()"),
            )
        )


def _random() -> None:
    strong = """{
HCRYPTPROV $c;
unsigned int $r;
if (!CryptAcquireContextW(&$c, 0, 0, PROV_RSA_FULL, 0))
{
exit(1);
}
if (!CryptGenRandom($c, sizeof($r), (BYTE *)&$r))
{
exit(1);
}
if ($c)
{
CryptReleaseContext($c, 0);
}
@unsigned($r);
}
"""
    device = """{
unsigned int $r = 0;
FILE *$p = fopen("/dev/urandom", "rb");
if ($p == NULL)
{
exit(1);
}
if (fread(&$r, sizeof($r), 1, $p) != 1)
{
exit(1);
}
fclose($p);
@unsigned($r);
}
"""
    for name, call, seed in (
        ("rand", "(unsigned int)rand()", "srand((unsigned int)time(NULL));\n"),
        ("random", "(unsigned int)random()", "srandom((unsigned int)time(NULL));\n"),
        ("rand of no seed", "(unsigned int)rand()", ""),
        ("mrand48", "(unsigned int)mrand48()", "srand48(time(NULL));\n"),
    ):
        weak = f"{{\nunsigned int $r;\n{seed}$r = {call};\n@unsigned($r);\n}}\n"
        SHAPES.append(
            Shape(cwe=338, name=name, point=True, sink=weak, good=strong, more_good=(device,))
        )
    token = "{\nchar $t[33];\nint $i;\n<seed>for ($i = 0; $i < 32; $i++)\n{\n"
    token += "$t[$i] = (char)('a' + <r> % 26);\n}\n"
    token += "$t[32] = '\\0';\n@say($t);\n}\n"
    safe = token.replace(
        "<seed>", "unsigned char $c[32];\nif (getentropy($c, sizeof($c)) != 0)\n{\nexit(1);\n}\n"
    )
    SHAPES.append(
        Shape(
            cwe=338,
            name="token of rand",
            point=True,
            sink=token.replace("<seed>", "srand(1);\n").replace("<r>", "rand()"),
            good=safe.replace("<r>", "$c[$i]"),
        )
    )


_literals()
_plain()
_ciphers()
_random()

/* Just enough of the Windows API for the cases to be checked by a compiler elsewhere. */
#ifndef STUB_WINDOWS_H
#define STUB_WINDOWS_H
#include <stddef.h>
#include <stdio.h>
#include <string.h>
typedef void *HANDLE;
typedef unsigned long DWORD;
typedef unsigned char BYTE;
typedef unsigned long HCRYPTPROV, HCRYPTKEY, HCRYPTHASH;
#define INVALID_HANDLE_VALUE ((HANDLE)(long)-1)
#define OPEN_EXISTING 3
#define GENERIC_READ 1
#define GENERIC_WRITE 2
#define OPEN_ALWAYS 4
#define FILE_ATTRIBUTE_NORMAL 128
#define LOGON32_LOGON_NETWORK 3
#define LOGON32_PROVIDER_DEFAULT 0
#define MS_ENH_RSA_AES_PROV "aes"
#define PROV_RSA_AES 24
#define PROV_RSA_FULL 1
#define CRYPT_VERIFYCONTEXT 1
enum { CALG_SHA_256, CALG_AES_256, CALG_DES, CALG_3DES, CALG_RC5, CALG_RC4, CALG_RC2 };
#define SecureZeroMemory(p, n) memset((p), 0, (n))
#ifdef __cplusplus
extern "C" {
#endif
HANDLE CreateFile(const char *, DWORD, DWORD, void *, DWORD, DWORD, HANDLE);
int CloseHandle(HANDLE);
HANDLE CreateFileA(const char *, DWORD, DWORD, void *, DWORD, DWORD, HANDLE);
int LogonUserW(wchar_t *, wchar_t *, wchar_t *, DWORD, DWORD, HANDLE *);
wchar_t *_wgetenv(const wchar_t *);
int _wsystem(const wchar_t *);
FILE *_wpopen(const wchar_t *, const wchar_t *);
FILE *_wfopen(const wchar_t *, const wchar_t *);
int _wopen(const wchar_t *, int, ...);
int _wputenv(const wchar_t *);
long _wexecl(const wchar_t *, const wchar_t *, ...);
long _spawnl(int, const char *, const char *, ...);
#define _P_WAIT 0
int LogonUserA(char *, char *, char *, DWORD, DWORD, HANDLE *);
int CryptAcquireContext(HCRYPTPROV *, const char *, const char *, DWORD, DWORD);
int CryptAcquireContextW(HCRYPTPROV *, const wchar_t *, const wchar_t *, DWORD, DWORD);
int CryptCreateHash(HCRYPTPROV, int, HCRYPTKEY, DWORD, HCRYPTHASH *);
int CryptHashData(HCRYPTHASH, const BYTE *, DWORD, DWORD);
int CryptDeriveKey(HCRYPTPROV, int, HCRYPTHASH, DWORD, HCRYPTKEY *);
int CryptEncrypt(HCRYPTKEY, HCRYPTHASH, int, DWORD, BYTE *, DWORD *, DWORD);
int CryptDecrypt(HCRYPTKEY, HCRYPTHASH, int, DWORD, BYTE *, DWORD *);
int CryptGenRandom(HCRYPTPROV, DWORD, BYTE *);
int CryptDestroyKey(HCRYPTKEY);
int CryptDestroyHash(HCRYPTHASH);
int CryptReleaseContext(HCRYPTPROV, DWORD);
#ifdef __cplusplus
}
#endif
#endif

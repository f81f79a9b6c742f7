"""Functions that take passwords and keys, and where such values come from."""

from __future__ import annotations

from jarvis_ls.codeintel.code import Call, Function, bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.texts import COPIES, contents_before, names_of, only_literals
from jarvis_ls.jsec.guards import string_literal

PASSWORDS = {
    "LogonUser": 2, "LogonUserA": 2, "LogonUserW": 2, "LogonUserExA": 2, "LogonUserExW": 2,
    "CreateProcessWithLogonW": 2, "WNetAddConnection": 1, "WNetAddConnectionA": 1,
    "WNetAddConnectionW": 1, "WNetAddConnection2A": 1, "WNetAddConnection2W": 1,
    "WNetAddConnection2": 1, "mysql_real_connect": 3, "mysql_change_user": 2, "PQsetdbLogin": 6,
    "SQLConnect": 5, "SQLConnectA": 5, "SQLConnectW": 5, "ldap_simple_bind_s": 2,
    "ldap_simple_bind": 2, "ldap_bind_s": 2, "ssh_userauth_password": 2,
    "libssh2_userauth_password": 2, "curl_easy_setopt": 2, "zip_set_default_password": 1,
    "sqlite3_key": 1, "sqlite3_rekey": 1, "pam_authenticate_password": 1,
    "SSL_CTX_set_default_passwd_cb_userdata": 1, "PKCS12_parse": 1, "PKCS12_create": 0,
    "PEM_write_PrivateKey": 6, "mongoc_client_set_password": 1, "redisAuth": 1, "OCILogon": 4,
    "smtp_auth": 2, "FtpConnect": 3, "InternetConnectA": 4, "InternetConnectW": 4,
    "NetUserChangePassword": 3,
}  # fmt: skip
"""Functions that take a password, with the place of the argument."""

KEYS = {
    "EVP_EncryptInit": 2, "EVP_DecryptInit": 2, "EVP_CipherInit": 2, "EVP_EncryptInit_ex": 3,
    "EVP_DecryptInit_ex": 3, "EVP_CipherInit_ex": 3, "AES_set_encrypt_key": 0,
    "AES_set_decrypt_key": 0, "DES_set_key": 0, "DES_set_key_unchecked": 0,
    "DES_set_key_checked": 0, "DES_string_to_key": 0, "RC4_set_key": 2, "BF_set_key": 2,
    "Camellia_set_key": 0, "HMAC": 1,
    "HMAC_Init": 1, "HMAC_Init_ex": 1, "PKCS5_PBKDF2_HMAC": 0,
    "PKCS5_PBKDF2_HMAC_SHA1": 0,
    "EVP_BytesToKey": 3, "EVP_PKEY_new_mac_key": 2, "EVP_PKEY_new_raw_private_key": 2,
    "mbedtls_aes_setkey_enc": 1, "mbedtls_aes_setkey_dec": 1, "mbedtls_gcm_setkey": 2,
    "mbedtls_cipher_setkey": 1, "mbedtls_md_hmac_starts": 1, "mbedtls_md_hmac": 1,
    "gcry_cipher_setkey": 1, "gcry_md_setkey": 1, "crypto_secretbox_easy": 4, "crypto_auth": 3,
    "crypto_secretbox": 4, "CCCrypt": 3, "CryptHashData": 1, "CryptImportKey": 1,
    "wc_AesSetKey": 1, "wc_HmacSetKey": 2, "crypt": 0, "crypt_r": 0,
}  # fmt: skip
"""Functions that take a key (or what a key is made from), with the place of the argument."""

_CURL = {"CURLOPT_PASSWORD", "CURLOPT_USERPWD", "CURLOPT_PROXYPASSWORD", "CURLOPT_PROXYUSERPWD",
         "CURLOPT_KEYPASSWD", "CURLOPT_XOAUTH2_BEARER", "CURLOPT_SSLKEYPASSWD"}  # fmt: skip


_BLOCK_COPIES = frozenset({"memcpy", "memmove", "strncpy", "strlcpy", "wcsncpy"})


def secret_argument(call: Call) -> Node | None:
    """The argument of a call that is a password or key, or None."""
    place = PASSWORDS.get(call.name, KEYS.get(call.name))
    if place is None or call.is_method:
        return None
    if call.name == "curl_easy_setopt" and text(call.arg(1)) not in _CURL:
        return None
    return call.arg(place)


def literal_value(node: Node | None, function: Function | None) -> str | None:
    """The text of an argument that comes from string literals alone: written there, in a macro
    or variable, or copied into a buffer before. None when it may be anything."""
    if node is None:
        return None
    node = bare(node)
    written = string_literal(node, function)
    if written is not None or function is None:
        return written
    at, names = node.start_byte, names_of(node, function)
    latest = next(contents_before(function, names, at), None)
    if latest is None:
        return _initial_literal(node, function)
    if latest.call is not None and latest.argument == 0 and latest.call.name in _BLOCK_COPIES:
        return string_literal(latest.call.arg(1), function)
    if not only_literals(node, function, at):
        return None
    for event in contents_before(function, names, at):
        if event.call is not None and event.call.name in COPIES:
            return string_literal(event.call.arg(1), function)
    return None


def _initial_literal(node: Node, function: Function) -> str | None:
    """The literal that an array is declared with."""
    variable = function.variable(text(node), node.start_byte)
    if variable is None or not variable.is_array or variable.initial is None:
        return None
    return string_literal(variable.initial)


def is_placeholder(value: str) -> bool:
    """Whether a literal is no secret: empty, a format, a prompt, or a word such as `changeme`
    in angle brackets."""
    stripped = value.strip()
    return (
        not stripped
        or "%" in stripped
        or " " in stripped
        or stripped.startswith(("<", "${", "$(", "{{"))
        or stripped.endswith((":", "=", "?"))
        or set(stripped) <= {"x", "X"}
        or not any(c.isalnum() for c in stripped)
    )

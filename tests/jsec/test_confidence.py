"""What confidence says of look-alikes: a flaw is ranked, what only resembles it is not or hardly.

Each case is a rule with code that it reports at a confidence of at least `FIRM`, and code of the
same shape that it reports with less, or not at all.
"""

from __future__ import annotations

import pytest

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.source import decode
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.engine.rule_runner import Engine

FIRM = 0.6
"""From here on a finding is to be right three times in four."""

C = {
    "assignment-in-assert": (
        "#include <assert.h>\nvoid f(int a, int b) { assert(a = b); }",
        "#undef NDEBUG\n#include <assert.h>\nvoid f(int a, int b) { assert(a = b); }",
    ),
    "hardcoded-secret": (
        'static const char *password = "Xk29fLqe71";',
        'static const char *password = "disable";',
        'static const char *private_key = "/etc/app/id_rsa";',
        '#define BCRYPT_KDF_RAW_SECRET L"TRUNCATE"',
        'static const char *password = "letmein";',
        "static const unsigned char aes_key[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};",
        "static const unsigned char default_key[] = {9, 3, 7, 1, 5, 6, 2, 8, 0, 77};",
    ),
    "unchecked-privilege-change": (
        "#include <unistd.h>\nvoid f(int o, int u) { setreuid(o, u); run(); }",
        "#include <unistd.h>\nvoid f(int o) { if (setreuid(o, 1)) return; setreuid(1, o); }",
        "#include <unistd.h>\nvoid f(void) { seteuid(0); run(); }",
    ),
    "impossible-result-check": (
        "#include <string.h>\nint f(char *s) { size_t n = strlen(s); return n < 0 ? -1 : 0; }",
        "#include <string.h>\nint f(char *s) { int n = strlen(s); return n < 0 ? -1 : 0; }",
        '#include <fcntl.h>\nvoid f(void) { close(0); if (open("/dev/null", 2)) exit(1); }',
    ),
    "snprintf-result-as-length": (
        "#include <stdio.h>\nvoid f(int d, char *s) { char b[32];"
        ' int n = snprintf(b, sizeof b, "%s", s); write(d, b, n); }',
        "#include <stdio.h>\nvoid f(char *b, size_t m, char *s) {"
        ' size_t n = 0; for (; *s; s++) n += snprintf(b + n, m - n, "%s", s); }',
    ),
    "obsolete-tls-version": (
        "void f(SSL_CTX *c) { SSL_CTX_set_min_proto_version(c, TLS1_VERSION); }",
        "void f(SSL_CTX *c, int v) { if (v == 1) SSL_CTX_set_min_proto_version(c, TLS1_VERSION); }",
        "void f(SSL_CTX *c, int m) { m ? g(c) : SSL_CTX_set_min_proto_version(c, TLS1_VERSION); }",
    ),
    "tls-verification-disabled": (
        "void f(SSL_CTX *c) { SSL_CTX_set_verify(c, SSL_VERIFY_NONE, 0); }",
        "void f(SSL_CTX *c, int off) { if (off) SSL_CTX_set_verify(c, SSL_VERIFY_NONE, 0);"
        " else SSL_CTX_set_verify(c, SSL_VERIFY_PEER, 0); }",
    ),
    "command-from-variable": (
        "#include <stdlib.h>\nvoid f(int s) { char b[9]; recv(s, b, 9, 0); system(b); }",
        '#include <stdlib.h>\nvoid f(void) { system(getenv("EDITOR")); }',
    ),
    "path-from-input": (
        '#include <stdio.h>\nvoid f(int s) { char b[9]; recv(s, b, 9, 0); fopen(b, "r"); }',
        '#include <stdio.h>\nvoid f(void) { fopen(getenv("LOG"), "r"); }',
    ),
}
"""The first text of each rule is the flaw."""

CPP = {
    "container-changed-while-iterated": (
        "#include <vector>\nvoid f(std::vector<int> &v) {"
        " for (auto i = v.begin(); i != v.end(); ++i) v.push_back(*i); }",
        "#include <vector>\nstruct S { std::vector<int> v; void f(S &o) {"
        " for (auto i = o.v.begin(); i != o.v.end(); ++i) v.push_back(*i); } };",
    ),
}


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


def surest(engine: Engine, text: str, language: LanguageName, rule: str) -> float:
    """Return the highest confidence of a rule in a file; 0 when it reports nothing."""
    source = decode("a.cpp" if language == "cpp" else "a.c", text.encode())
    found: list[Finding] = engine.analyse(source, language).findings
    return max((finding.confidence for finding in found if finding.rule == rule), default=0.0)


@pytest.mark.parametrize(
    ("language", "rule", "text"),
    [("c", rule, texts[0]) for rule, texts in C.items()]
    + [("cpp", rule, texts[0]) for rule, texts in CPP.items()],
)
def test_a_flaw_is_firm(engine: Engine, language: LanguageName, rule: str, text: str) -> None:
    assert surest(engine, text, language, rule) >= FIRM


@pytest.mark.parametrize(
    ("language", "rule", "text"),
    [("c", rule, text) for rule, texts in C.items() for text in texts[1:]]
    + [("cpp", rule, text) for rule, texts in CPP.items() for text in texts[1:]],
)
def test_what_resembles_it_is_not(
    engine: Engine, language: LanguageName, rule: str, text: str
) -> None:
    assert surest(engine, text, language, rule) < FIRM

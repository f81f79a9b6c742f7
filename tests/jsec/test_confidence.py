"""What confidence says of look-alikes: a flaw is ranked, what only resembles it is not or hardly.

Each case is a rule with code that it reports at a confidence of at least `FIRM`, and code of the
same shape that it reports with less, or not at all.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jarvis_ls.cli import jsec
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.source import decode
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.engine.rule_runner import Engine

FIRM = 0.52
"""What 0.6 becomes for a finding of a class of which less than three in four proved true: the order
stays."""

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
        "#include <windows.h>\nHANDLE f(void) { HANDLE h = CreateFileA(N, 1, 0, 0, 3, 0, 0);"
        " if (h == INVALID_HANDLE_VALUE || h == NULL) return 0; return h; }",
        "#include <string>\nvoid f(char *n, char *b, char *e) { if (ReadFile(n, b, e) < 0) g(); }",
        "#include <stdio.h>\nvoid f(char *a, char *b) { if (rename(a, b) == 0)"
        ' puts("could not remove it, is renamed"); else puts("could not rename it"); }',
    ),
    "unlocked-shared-variable": (
        "#include <pthread.h>\nstatic int n; void *t(void *a) { n = n + 1; return a; }"
        "int main(void) { pthread_t p; pthread_create(&p, 0, t, 0); return n; }",
        "#include <pthread.h>\nstatic int n; void *t(void *a) { n = g(a); return a; }"
        "int main(void) { pthread_t p; pthread_create(&p, 0, t, 0); return n; }",
    ),
    "returned-local-address": (
        "int *f(void) { int a[4]; fill(a); return a; }",
        "const int *f(void) { static CONSTANT(const) int a[4] = MADE(4); return a; }",
    ),
    "chroot-without-chdir": (
        "#include <unistd.h>\nint f(char *p) { if (chroot(p)) return -1; return run(); }",
        "#include <unistd.h>\nint Chroot(char *p) { int r = chroot(p); g(r); return r; }",
    ),
    "null-test-after-dereference": (
        "void f(struct s *p) { p->n = 0; if (p) g(p->m); }",
        "#define OPEN(p) ((p)->w & 1)\nint f(struct s *g) { struct p *p = g->p;"
        " if (p == 0) return 1; else if (!OPEN(p)) return 2;"
        " else { int n = p->n; if (p) return n; } return 0; }",
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
        "const SSL_METHOD *xSSLv3_method(void) { g(); return SSLv3_method(); }",
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
    "permissive-file-mode": (
        "#include <sys/stat.h>\nvoid f(char *tool) { if (chmod(tool, 0777)) fail(); }",
        "#include <sys/stat.h>\nvoid f(char *tty) { if (chmod(tty, 0666)) fail(); }",
        "#include <sys/stat.h>\nvoid f(char *log) {\n#ifdef DEBUG\n  chmod(log, 0666);\n#endif\n}",
        "#include <sys/stat.h>\n#ifdef DEBUG\nvoid f(char *p) { chmod(p, 0666); }\n#endif",
        "#include <sys/stat.h>\n#ifdef UNITTEST\nvoid f(char *p) { chmod(p, 0666); }\n#endif",
        "/* Generated by tool. */\n#include <sys/stat.h>\nvoid f(char *p) { chmod(p, 0666); }",
        "#include <sys/stat.h>\n#ifdef _WIN32\nvoid f(char *p) { chmod(p, 0666); }\n#endif",
    ),
    "inherently-dangerous-function": (
        "#include <unistd.h>\nchar *f(char *b) { return getwd(b); }",
        "#include <unistd.h>\nchar *f(char *b) {\n#ifndef HAVE_GETCWD\n  return getwd(b);\n"
        "#else\n  return getcwd(b, 9);\n#endif\n}",
    ),
    "path-from-input": (
        '#include <stdio.h>\nvoid f(int s) { char b[9]; recv(s, b, 9, 0); fopen(b, "r"); }',
        '#include <stdio.h>\nvoid f(void) { fopen(getenv("LOG"), "r"); }',
        '#include <stdio.h>\nvoid f(void) { char *p = getenv("HOME"); if (p) fopen(p, "r"); }',
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


@pytest.mark.parametrize(
    ("name", "more", "firm"),
    [
        ("HOME", "", False),
        ("PATH_INFO", "", True),
        ("HOME", "void gain(void) { if (seteuid(0) != 0) abort(); }", True),
    ],
)
def test_the_environment_is_an_attackers_only_with_privileges_or_requests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, more: str, firm: bool
) -> None:
    text = f'void f(void) {{ char *p = getenv("{name}"); if (p && remove(p)) abort(); }}\n{more}\n'
    (tmp_path / "a.c").write_text(f"#include <stdlib.h>\n#include <unistd.h>\n{text}")
    assert jsec.main(["scan", str(tmp_path), "--format", "jsonl"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (flaw,) = [finding for finding in found if finding["rule"] == "path-from-input"]
    assert (flaw["confidence"] >= FIRM) is firm


@pytest.mark.parametrize(
    ("asked", "firm"),
    [("if (!s->name) n = 1;", True), ("n = s->name ? strlen(s->name) : 0;", False)],
)
def test_what_a_choice_asks_for_is_caution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: str, firm: bool
) -> None:
    (tmp_path / "a.c").write_text(
        "#include <string.h>\nstruct s { char *name; };\n"
        f"int f(const struct s *s) {{ char *p; int n = 0; {asked}"
        " for (p = s->name; *p; p++) n++; return n; }\n"
    )
    assert jsec.main(["scan", str(tmp_path), "--format", "jsonl"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (flaw,) = [finding for finding in found if finding["rule"] == "null-dereference"]
    assert (flaw["confidence"] >= FIRM) is firm


def test_rules_of_whole_files_count_less_in_tests_too(engine: Engine) -> None:
    text = (
        b"#include <signal.h>\nstatic int stop;\nstatic void on(int s) { stop = s; }\n"
        b"int main(void) { signal(SIGINT, on); while (!stop) run(); return 0; }\n"
    )
    confidences = [
        finding.confidence
        for path in ("src/a.c", "tests/a.c")
        for finding in engine.analyse(decode(path, text), "c").findings
        if finding.rule == "plain-variable-in-signal-handler"
    ]
    assert len(confidences) == 2
    assert confidences[0] > confidences[1]


def test_a_stream_that_is_opened_anew_is_no_firm_leak(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "FILE *f = {}; if (!f) return -1; return fgetc(f);"
    for name, call in (("a", 'fopen("x", "r")'), ("b", 'freopen("x", "r", stdin)')):
        text = f"#include <stdio.h>\nint f(void) {{ {body.format(call)} }}\n"
        (tmp_path / f"{name}.c").write_text(text)
    assert jsec.main(["scan", str(tmp_path), "--format", "jsonl"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    leaks = {leak["file"]: leak["confidence"] for leak in found if leak["rule"] == "resource-leak"}
    assert leaks["a.c"] >= FIRM > leaks["b.c"]

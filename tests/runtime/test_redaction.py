"""No form of a secret gets through, and what is none is left alone."""

from __future__ import annotations

import base64
import json
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.runtime.base.redaction import HIDDEN, Redactor, redact, without_secrets

SECRET = "canary/+key=0123 'quoted\" ü"
RAW = SECRET.encode()


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        RAW.hex(),
        RAW.hex().upper(),
        base64.b64encode(RAW).decode(),
        base64.urlsafe_b64encode(RAW).decode(),
        base64.b64encode(b"u:" + RAW).decode(),
        base64.b64encode(b"us:" + RAW + b"xyz").decode(),
        base64.b64encode(b"use:" + RAW + b"xy").decode(),
    ],
)
def test_every_form_of_a_known_secret_is_hidden(form: str) -> None:
    hidden = Redactor([SECRET]).text(f"before {form} after")
    assert hidden.startswith("before ") and hidden.endswith(" after")
    assert HIDDEN in hidden
    decoded = hidden.replace(HIDDEN, "")
    assert "0123" not in decoded and RAW.hex()[:12] not in decoded.lower()


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcdefghijklmnop0123456789_-x",
        "sk-ant-api03-abcdefghijklmnop0123456789",
        "AIzaSyA0123456789abcdefghijklmnopqrstuvw",
        "ghp_0123456789abcdefghij0123456789abcdef",
        "github_pat_0123456789abcdefghij_0123456789",
        "glpat-0123456789abcdefghij",
        "xoxb-0123456789-abcdefghij",
        "AKIAIOSFODNN7EXAMPLE",
        "hf_0123456789abcdefghijABCDEFGHIJ",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    ],
)
def test_keys_of_known_shapes_are_hidden(key: str) -> None:
    assert redact(f"x={key};") == f"x={HIDDEN};"
    assert redact(json.dumps({"a": key})) == json.dumps({"a": HIDDEN})


def test_other_shapes() -> None:
    assert redact("Authorization: Bearer abc.def-0123456789") == f"Authorization: Bearer {HIDDEN}"
    assert redact("Basic dXNlcjpwYXNz") == f"Basic {HIDDEN}"
    assert redact("git clone https://me:pass@host/x") == f"git clone https://{HIDDEN}@host/x"
    pem = "-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----"
    assert redact(f"a {pem} b") == f"a {HIDDEN} b"
    assert redact(pem[:40]) == HIDDEN


@pytest.mark.parametrize(
    "text",
    [
        "a task-list of 20 things; ask-someone-who-knows-about-it",
        "https://host:8080/path?x=1#y",
        "see https://host/a:b and mail me@host",
        "0123456789abcdef0123456789abcdef01234567",
        "the bearer of bad news",
        "int skip = risk-aversion_and_more_of_that;",
        "-----BEGIN CERTIFICATE-----",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Redactor(["short", "", "   "]).text(text) == text


def test_headers_and_fields_by_name() -> None:
    redactor = Redactor()
    headers = [
        ("Authorization", "x"),
        ("X-Api-Key", "x"),
        ("api-key", "x"),
        ("Cookie", "x"),
        ("set-cookie", "x"),
        ("x-goog-api-key", "x"),
        ("X-Auth-Token", "x"),
        ("openai-organization", "x"),
        ("content-type", "text/plain"),
        ("x-ratelimit-remaining-tokens", "7"),
        ("location", "https://u:pw@h/"),
    ]
    hidden = redactor.headers(headers)
    assert [n for n, v in hidden.items() if v == HIDDEN] == [n for n, _ in headers[:8]]
    assert hidden["x-ratelimit-remaining-tokens"] == "7"
    assert hidden["location"] == f"https://{HIDDEN}@h/"
    value = {"api_key": "x", "max_tokens": 5, "tokens": "7", "nested": [{"password": "x"}], "n": 1}
    assert redactor.values(value) == {
        "api_key": HIDDEN,
        "max_tokens": 5,
        "tokens": "7",
        "nested": [{"password": HIDDEN}],
        "n": 1,
    }


def test_secrets_of_the_environment() -> None:
    environment = {
        "OFFICE_KEY_2": "office-canary",
        "GH_TOKEN": "token-canary",
        "PATH": "/usr/bin",
        "DB_PASSWORD": "db-canary",
        "KEYBOARD": "keyboard-layout",
    }
    redactor = Redactor.of_environment(environment, more=["more-canary"])
    for secret in ("office-canary", "token-canary", "db-canary", "more-canary"):
        assert redactor.text(f"a {secret} b") == f"a {HIDDEN} b"
    assert redactor.text("keyboard-layout in /usr/bin") == "keyboard-layout in /usr/bin"


def test_known_secrets_in_records_and_nothing_else_of_them() -> None:
    redactor = Redactor(["user-canary", "message1"])
    record = {
        "is": "message1",
        "kind": "message1",
        "text": "a message1",
        "list": ["user-canary", 1],
    }
    assert redactor.known_in(record) == {
        "is": "message1",
        "kind": "message1",
        "text": f"a {HIDDEN}",
        "list": [HIDDEN, 1],
    }
    clean = {"text": "sk-abcdefghijklmnop0123456789"}
    assert redactor.known_in(clean) is clean


@pytest.mark.parametrize("length", range(1, 24))
def test_a_secret_that_is_cut_off_is_hidden(length: int) -> None:
    flow = Redactor(["canary-0123456789-canary"]).flowing()
    said = flow.add("the key is " + "canary-0123456789-canary"[:length]) + flow.end()
    assert said == "the key is " + (HIDDEN if length >= 4 else "canary"[:length])


@given(st.data())
def test_a_secret_in_pieces_is_hidden(data: st.DataObject) -> None:
    secret = "canary-0123456789-canary"
    filler = st.text(alphabet="ab \n", max_size=600)
    parts = [data.draw(filler), secret, data.draw(filler), "sk-" + "k" * 40, data.draw(filler)]
    text = " ".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=40)))
    flow = Redactor([secret]).flowing()
    said = [flow.add(text[a:b]) for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    said.append(flow.end())
    assert "canary" not in "".join(said) and "kkk" not in "".join(said)
    parts[1] = parts[3] = HIDDEN
    assert "".join(said) == " ".join(parts)


@pytest.mark.parametrize(
    "hostile",
    [
        "sk-",
        "eyJ",
        "eyJaaaaaaaa.",
        "a:b",
        "://a:",
        "Bearer ",
        "-----BEGIN ",
        "-----BEGIN A PRIVATE KEY-----",
        "x@",
    ],
)
def test_hostile_text_takes_linear_time(hostile: str) -> None:
    redactor = Redactor([SECRET])

    def seconds(size: int) -> float:
        text = hostile * (size // len(hostile))
        best = 1e9
        for _ in range(3):
            began = time.process_time()
            redactor.text(text)
            best = min(best, time.process_time() - began)
        return best

    small, large = seconds(40_000), seconds(320_000)
    assert large < 24 * max(small, 0.002)  # eight times the text; its square would be 64


def test_an_environment_loses_secrets_by_name_and_by_value() -> None:
    given_to_us = {
        "PATH": "/usr/bin",
        "MINE_KEY": "canary-0123456789",
        "COPY": "canary-0123456789",
        "COOKIE": "c",
        "DEPLOY_TOKEN": "1",
        "LEVEL": "1",
    }
    assert without_secrets(given_to_us) == {"PATH": "/usr/bin", "LEVEL": "1"}

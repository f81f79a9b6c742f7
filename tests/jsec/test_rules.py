"""Every rule against its fixture: what each line of real-looking code must and must not give.

A line that ends in `// expect: id[, id]` must be reported by exactly these rules, `// ok` by
none, and `// missed: id (why)` marks a flaw we know we do not see; it fails once we do, so
that the note is removed. A fixture runs all rules, but only the rule it is named for is
compared, unless a line names others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import Source, decode
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.base.rule import Flow
from jarvis_ls.jsec.engine.rule_runner import Engine, ItemCache
from jarvis_ls.jsec.findings.flow_findings import settle
from jarvis_ls.jsec.flow.program.result_cache import in_order
from jarvis_ls.jsec.live.flow import LiveFlow
from jarvis_ls.jsec.rules.registry import all_rules
from jarvis_ls.jsec.scan.file_scanner import analysis_of
from tests.support.patience import HANGS

FIXTURES = Path(__file__).parent / "rules"
SECTIONS = ("## What it does", "## Why is this bad?", "## Example", "Use instead:", "## References")
MARK = re.compile(r"//\s*(expect|missed):\s*([\w, -]+?)\s*(?:\(.*)?$")


def fixtures() -> list[Path]:
    return sorted(p for p in FIXTURES.rglob("*") if p.suffix in (".c", ".cpp", ".h", ".rs"))


def rule_of(fixture: Path) -> str:
    return fixture.stem.replace("_", "-")


def findings_of(engine: Engine, source: Source, language: LanguageName, rule: str) -> list[Finding]:
    """What is found in a fixture; values are followed for rules that ask for that."""
    if isinstance(all_rules()[rule].query, Flow):
        return shown(engine, source, language, decided=False)
    found = engine.analyse(source, language)
    assert not found.notes, "no rule fails"
    return found.findings


def shown(
    engine: Engine, source: Source, language: LanguageName, *, decided: bool = True
) -> list[Finding]:
    """What the editor shows of a fixture, which is a program by itself; guesses at what flow did
    not find in functions that it followed to the end are left out when `decided`."""
    found = engine.analyse(source, language)
    assert not found.notes, "no rule fails"
    flow = LiveFlow(analysis_of)
    flow.update(Unit(source, language, found.facts), parse(source.data, language).root_node, "", ())
    flow.work(HANGS, source.path)
    assert flow.ready(source.path)
    return settle(
        source,
        language,
        found.findings,
        in_order(flow.faults(source.path)),
        lambda _path: source,
        found.placed_functions,
        flow.decided(source.path) if decided else (),
    )


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


GROWS = """
#include <stdlib.h>
static void %s(const char *why) {
    puts(why);
    %s
}
struct buffer { char *data; };
void grow(struct buffer *b) {
    b->data = realloc(b->data, 100);
    if (b->data == NULL)
        %s("no room");
}
"""


@pytest.mark.parametrize(("last", "told"), [("exit(1);", False), ("puts(why);", True)])
def test_a_block_that_is_lost_when_the_program_ends_is_no_finding(
    engine: Engine, last: str, told: bool
) -> None:
    text = GROWS % ("out_of_room", last, "out_of_room")
    found = engine.analyse(decode("grow.c", text.encode()), "c").findings
    assert [one.rule for one in found if one.confidence > 0.5] == ["realloc-assign-back"] * told


def test_what_ends_the_program_is_asked_anew_when_it_changes(engine: Engine) -> None:
    cache = ItemCache()
    for last, told in (("exit(1);", False), ("puts(why);", True), ("exit(1);", False)):
        text = GROWS % ("out_of_room", last, "out_of_room")
        found = engine.analyse(decode("grow.c", text.encode()), "c", cache=cache).findings
        assert [one.rule for one in found] == ["realloc-assign-back"] * told


TORN = """
void torn(void) { int a = %s; a = = 2; }
void other(char *line) { gets(line); }
"""


def test_an_edit_before_a_syntax_error_looks_at_no_other_item_again(engine: Engine) -> None:
    cache = ItemCache()
    others = []
    for number in ("1", "100"):
        found = engine.analyse(decode("torn.c", (TORN % number).encode()), "c", cache=cache)
        assert found.findings
        others += [result for key, result in cache.results.items() if b"other" in key[0]]
    assert len(others) == 2
    assert others[0] is others[1]


MAYBE = {
    "null-test-after-dereference": (
        "void f(struct c *c, struct e *e) {{ c->p->n = 1; {} if (c->p) c->p->n = 2; }}",
        "e->run(e);",
        "run(e);",
    ),
    "obsolete-tls-version": (
        "void f(SSL_CTX *c, int old) {{ SSL_CTX_clear_options(c, SSL_OP_NO_TLSv1|SSL_OP_NO_SSLv3);"
        " if (!old) SSL_CTX_set_options(c, {}); }}",
        "SSL_OP_NO_SSLv3 | SSL_OP_NO_TLSv1",
        "SSL_OP_NO_TLSv1",
    ),
}


@pytest.mark.parametrize("rule", MAYBE)
def test_what_may_be_meant_is_no_firm_finding(engine: Engine, rule: str) -> None:
    text, *both = MAYBE[rule]
    for within, firm in zip(both, (False, True), strict=True):
        source = decode("a.c", text.format(within).encode())
        (found,) = [one for one in engine.analyse(source, "c").findings if one.rule == rule]
        assert (found.confidence > 0.5) is firm


@pytest.mark.parametrize("fixture", fixtures(), ids=lambda p: p.name)
def test_fixture(fixture: Path, engine: Engine) -> None:
    raw = fixture.read_bytes()
    language = language_of(fixture.name, raw)
    assert language is not None
    own = rule_of(fixture)
    expected: dict[int, set[str]] = defaultdict(set)
    missed: dict[int, set[str]] = defaultdict(set)
    for number, line in enumerate(raw.decode().splitlines(), 1):
        if match := MARK.search(line):
            ids = {word.strip() for word in match[2].split(",") if word.strip()}
            (expected if match[1] == "expect" else missed)[number] |= ids
    named = {own}.union(*expected.values(), *missed.values())
    unknown = named - set(all_rules())
    assert not unknown, f"no such rules: {unknown}"
    found: dict[int, set[str]] = defaultdict(set)
    for finding in findings_of(engine, decode(fixture.name, raw), language, own):
        if finding.rule in named and (finding.rule == own or finding.span.line in expected):
            found[finding.span.line].add(finding.rule)
    for number in sorted(set(expected) | set(found)):
        wanted = expected.get(number, set())
        got = {rule for rule in found.get(number, set()) if rule == own or rule in wanted}
        assert got == wanted, f"{fixture.name}:{number}"
    seen_after_all = {n: ids & found.get(n, set()) for n, ids in missed.items()}
    assert not any(seen_after_all.values()), f"no longer missed: {seen_after_all}"
    assert any(own in ids for ids in expected.values()), "a fixture shows at least one finding"
    assert b"// ok" in raw, "a fixture shows at least one place that is fine"


@pytest.mark.parametrize("fixture", fixtures(), ids=lambda p: p.name)
def test_what_flow_decides_takes_no_flaw_away(fixture: Path, engine: Engine) -> None:
    """A flaw that a rule sees is still told once flow has followed its function to the end: by
    the rule, or in its place by one of those that answer it."""
    raw = fixture.read_bytes()
    language = language_of(fixture.name, raw)
    assert language is not None
    source, own = decode(fixture.name, raw), all_rules()[rule_of(fixture)]
    told = shown(engine, source, language)
    extents = engine.analyse(source, language).placed_functions
    for number, line in enumerate(raw.decode().splitlines(), 1):
        match = MARK.search(line)
        if match is None or match[1] != "expect" or own.id not in re.split(r"[, ]+", match[2]):
            continue
        at = source.offset(number, 1)
        around = next((range(start, end) for _, start, end in extents if start <= at < end), ())
        assert any(
            source.offset(one.span.line, one.span.column) in around
            if one.rule != own.id and own.verdicts.faults & _asked(one.rule)
            else one.span.line == number and one.rule == own.id
            for one in told
        ), f"{fixture.name}:{number}"


def _asked(rule: str) -> frozenset[str]:
    """The kinds of what flow proves that a rule tells."""
    query = all_rules()[rule].query
    return query.kinds if isinstance(query, Flow) else frozenset()


@pytest.mark.parametrize(("kind", "told"), [("NORMAL", 1), ("RECURSIVE", 0)])
def test_a_lock_that_may_be_taken_again_is_given_back_as_often(
    engine: Engine, kind: str, told: int
) -> None:
    text = f"""
void twice(void) {{
    pthread_mutex_t mutex;
    set_up(&mutex, PTHREAD_MUTEX_{kind});
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&mutex);
}}
"""
    found = engine.analyse(decode("a.c", text.encode()), "c").findings
    assert [one.rule for one in found].count("unlock-without-lock") == told


@pytest.mark.parametrize(
    ("body", "nested"),
    [
        ('while (w) { strtok(c, ":"); w = strtok(NULL, " "); }', True),
        ('for (; w; w = strtok(NULL, " ")) strtok(c, ":");', True),
        ('while (more(c)) { strtok(c, ":"); w = strtok((char *) NULL, " "); }', False),
    ],
)
def test_a_string_that_is_begun_in_a_loop_over_another(
    engine: Engine, body: str, nested: bool
) -> None:
    text = f'void f(char *b, char *c) {{ char *w = strtok(b, " "); {body} }}\n'
    found = findings_of(engine, decode("a.c", text.encode()), "c", "strtok-shared-state")
    assert any("overwrites" in str(finding.message) for finding in found) == nested


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda r: r.id)
def test_rule_is_complete(rule) -> None:
    folder = FIXTURES / rule.language
    name = rule.id.replace("-", "_")
    assert any(folder.glob(f"{name}.*")), f"{rule.id} has no fixture"
    for section in SECTIONS:
        assert section in rule.page, f"the page of {rule.id} lacks {section!r}"
    assert 0 < rule.confidence <= 1
    assert rule.cwe and all(number > 0 for number in rule.cwe)
    assert rule.suggestion.endswith(".")


def test_every_fixture_has_a_rule() -> None:
    orphans = [p.name for p in fixtures() if rule_of(p) not in all_rules()]
    assert not orphans

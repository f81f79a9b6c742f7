"""What is shown of a document after edits is what a fresh one with its text shows."""

from __future__ import annotations

import pytest

from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.top_level_items import Item
from jarvis_ls.jsec.engine.rule_index import Clock, ItemResult, Plan
from jarvis_ls.jsec.engine.rule_runner import Engine
from jarvis_ls.jsec.live.documents import LiveDocuments
from jarvis_ls.jsec.live.records import TextChange
from tests.support.random_edits import STYLES, differences, opened, position, rested

TORN = """#if R"(efined(A)
ar b[8];
#if 0
int n = atoi(p);
//fined(A)
#end/))free(p);
strcpy(b, p);
 A 1
#else
"""
SHARED = """char ??/*p) {
strcpy(b, p);
char b[8];
}
e
;
);}
p[0] = 1;
ce(chavoid f#define A 1
p[0] = 1;
return 0;
)"har#if defined(A*/
/*if (x)lif (x)#if
i*/%s(int n = atoi(p);
f (x) {
"""
BEFORE = TORN + SHARED + 'int n = atoi(p);\n)"; 9);'
AFTER = SHARED + "*\nimemcpy(b'if (x) {\nint n = atoi(p);"


# The second differs from the first in lines above what is told of.
HIDDEN = r"""#if defined(A)#if defined(A)
s#else
uct i*/memcpy(b), p, 9);
#if R"(efined(A)
ar b[8];
#if 0
int n = atoi(p);
//fined(A)
#end/))free(p);
strcpy(b, p);
#else
char ??/*p) {
strcpy(b, p);
}
e
;
);}
p[0] = 1;
ce(chavoid f#define A 1
p[0] = 1;
return 0;
)"har#if defined(A*/
/*if (x)lif (x)#if
i*/%s(int n = atoi(p);
f (x) {
*
imemcpy(b'if (x) {
int n = atoi(p);
;
)}##elif A"""
SEEN = r"""uct i*/memcpy(b), p, 9);
#if R"(efined(A)
ar b[8];
#if 0
int n = atoi(p);
#end/))free(pchar b[8];
);
strcpy(b, p);
#else
char ??/*p) {
strcpy(b, p);
}
e
;
);}
p[0] = 1;
ce(chavoid f#define A 1
p[0] = 1;
return 0;
)"har#if defined(A*/
/*if (x)lif (x)#if
i*/%s(int n = atoi(p);
f (x) {
*
imemcpy(b'if (x) {
int n = atoi(p);
;
)}##elif A
/*x)memcpy(b, p, R"(9)};"""


@pytest.mark.parametrize(("before", "after"), [(BEFORE, AFTER), (HIDDEN, SEEN)])
def test_what_text_means_depends_on_how_it_is_read(before, after):
    """Text read otherwise beside another error had its old meaning, for itself and for others."""
    engine, style = Engine(), STYLES["tokens"]
    live = opened(engine, style, before, follows=False)
    rested(live)
    whole = (0, 0, *position(before, len(before)))
    live.change("file:///nowhere/a", 2, [TextChange(after, whole)])
    assert rested(live) == rested(opened(engine, style, after, follows=False))


@pytest.mark.parametrize("style", STYLES)
def test_random_edits_show_what_a_fresh_document_shows(style):
    """A short run of `npm run bench -- edits`."""
    run = differences(style, f"short {style}", 60, flow_every=3)
    assert run.compared == 15
    assert run.differences == []


def test_keystrokes_all_over_a_text_with_errors_stay_as_cheap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each edit added a function with a syntax error that later ones ran the rules over again."""
    run, looked_at = Plan.run, []

    def counted(plan: Plan, unit: Unit, item: Item, clock: Clock) -> ItemResult:
        looked_at[-1] += 1
        return run(plan, unit, item, clock)

    monkeypatch.setattr(Plan, "run", counted)
    function = "int f%d(char *p)\n{\n    if (p PLUS 1)\n        return 1;\n    return 0;\n}\n"
    text = "".join(function % number for number in range(60))
    looked_at.append(0)
    live = LiveDocuments()
    live.set_flow("", False)
    live.open("a", "", "a.c", "c", text, 1)
    live.analyse("a")
    rows = [row for row, line in enumerate(text.split("\n")) if line == "    return 0;"]
    for version, row in enumerate(rows, 2):
        looked_at.append(0)
        live.change("a", version, [TextChange("x", (row, 4, row, 4))])
        live.analyse("a")
    assert max(looked_at[1:]) < 15

"""What is shown of a document after edits is what a fresh one with its text shows."""

from __future__ import annotations

import pytest

from jarvis_ls.jsec.engine.rule_runner import Engine
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

"""Answers on a terminal: Markdown is rendered as it streams in, and plain where no terminal is."""

from __future__ import annotations

import io
import os
import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.cli.markdown_blocks import MarkdownBlocks
from tests.cli.test_jarvis_command import place

ANSWER = """# Findings

Two places **must** change: `store.c` and [the log](http://example.org/log).

- one
- two

  with more

```c
int main(void) {

    return 0;
}
```

| file | findings |
| --- | --- |
| a.c | 2 |

Done.
"""
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def rendered(pieces: list[str]) -> str:
    out = io.StringIO()
    blocks = MarkdownBlocks(out)
    for piece in pieces:
        blocks.feed(piece)
    blocks.end()
    return out.getvalue()


@given(st.lists(st.integers(1, len(ANSWER) - 1), max_size=40))
def test_the_pieces_of_a_stream_do_not_change_what_is_shown(cuts):
    places = [0, *sorted(set(cuts)), len(ANSWER)]
    pieces = [ANSWER[start:end] for start, end in pairwise(places)]
    assert rendered(pieces) == rendered([ANSWER])


@given(st.text(st.sampled_from("ab *_`#>-\n|[]()1.~"), max_size=80))
def test_every_letter_of_an_answer_is_shown(text):
    shown = ESCAPES.sub("", rendered(list(text)))
    assert re.sub(r"[^ab]", "", shown) == re.sub(r"[^ab]", "", text)


def test_code_keeps_its_blank_lines_and_a_link_its_address():
    shown = ESCAPES.sub("", rendered(list(ANSWER)))
    assert " int main(void) {\n\n     return 0;\n }\n" in shown
    assert "the log (http://example.org/log)" in shown and "**" not in shown and "```" not in shown


async def test_a_person_at_a_terminal_reads_rendered_answers(tmp_path):
    async with place(tmp_path) as here:
        with here.person("--trust") as person:
            banner = await person.sees("Ctrl-D exits")
            assert f"Jarvis · {os.path.realpath(here.folder)} · model: scripted/scripted" in banner
            here.model.say(ANSWER)
            person.type("What is wrong?\r")
            shown = await person.sees("Done.")
            assert "must change: store.c" in shown and "•" in shown and "**" not in shown
            await person.sees("\n>")
            person.type("\x04")
            assert await person.ended() == 0


async def test_without_colours_or_a_terminal_an_answer_is_what_the_model_wrote(tmp_path):
    async with place(tmp_path) as here:
        with here.person("--trust", "--color", "never") as person:
            await person.sees("Ctrl-D exits")
            here.model.say(ANSWER)
            person.type("What is wrong?\r")
            shown = await person.sees("Done.")
            assert "Two places **must** change: `store.c`" in shown
            await person.sees("\n>")
            person.type("\x04")
            assert await person.ended() == 0
        here.model.say(ANSWER)
        status, out, _ = await here.run("--trust", "-m", "What is wrong?")
        assert (status, out) == (0, ANSWER)

"""Code of released programs that was told as flawed and is not, each beside a twin that is."""

from __future__ import annotations

import pytest
from flow_programs import kinds

TWINS = {
    "a string in braces fills an array of characters": (
        "buffer-write-heap",
        """
char table[] = {
"\\000\\001\\002\\003" /* the first */
"\\004\\005"};
void use(void) { for (int i = 0; i < 7; i++) table[i] = i; }
""",
        """
char table[] = {"\\000\\001\\002\\003" "\\004\\005"};
void use(void) { for (int i = 0; i < 8; i++) table[i] = i; }
""",
    ),
    "a string in braces fills an array in a function": (
        "buffer-write-stack",
        'void use(void) { char t[] = {"ab"}; t[2] = 1; }',
        'void use(void) { char t[] = {"ab"}; t[3] = 1; }',
    ),
    "a macro makes several of one part of a list": (
        "buffer-write-stack",
        """
#define FIRST 1, 2, 3
void use(void) { char table[] = { FIRST }; table[2] = 0; }
""",
        """
#define FIRST 1
void use(void) { char table[] = { FIRST }; table[2] = 0; }
""",
    ),
    "each branch has an array of its own": (
        "buffer-read-over",
        """
struct name { int value; const char *text; };
#ifdef WITH_NAMES
struct name names[] = { {1, "one"}, {2, "two"}, {0, 0} };
#else
struct name names[] = { {0, 0} };
#endif
const char *use(void) { return names[1].text; }
""",
        """
struct name { int value; const char *text; };
extern struct name names[];
struct name names[] = { {0, 0} };
const char *use(void) { return names[1].text; }
""",
    ),
    "an array among the parameters of old is a pointer": (
        "uninitialized",
        """
int use(given)
unsigned char given[];
{
    return given[0] + given[2];
}
struct greeting { unsigned char data[128]; };
void fill(struct greeting *to);
int call(void) { struct greeting got; fill(&got); return use(got.data); }
""",
        """
int use(given)
int given;
{
    unsigned char own[4];
    return own[0] + given;
}
""",
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_only_the_flawed_twin_is_told(name: str) -> None:
    kind, sound, flawed = TWINS[name]
    assert kinds(sound) == []
    assert kind in {found for _, found in kinds(flawed)}

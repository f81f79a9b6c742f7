"""What a flaw consists of, before it is put into functions.

The texts are C with names to be replaced by meaningless ones:

- `$word`: a local name, the same in all twins of a case (`$d` is the value that travels);
- `$Word`: a name that is unique in the tree and shared by all twins of a case (types, macros);
- `$_word`: a name that is unique for each twin (its functions, its globals);
- `@word`: something of the support files (`@say(text)`, `@num(int)`), the same in all cases.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Shape:
    """One functional variant of a family: a flaw and its repairs."""

    cwe: int
    """The family."""
    name: str
    """Which variant of the family this is."""
    sink: str
    """Statements that are flawed after `bad` and sound after `good`."""
    bad: str = ""
    """Statements that give `$d` its bad value."""
    good: str = ""
    """Statements that give `$d` a good value; with `point`, the repaired form of `sink`."""
    checked: str = ""
    """A form of `sink` that is sound even after `bad`; empty when there is none."""
    only_checked: bool = False
    """True when there is no good source."""
    type: str = "char *"
    """Type of `$d`."""
    start: str = "NULL"
    """Initial value of `$d`; empty for none."""
    setup: str = ""
    """Declarations that must live as long as `$d`, in the function that owns it."""
    shared: str = ""
    """Declarations of the case: written once, in each file that needs them."""
    own: str = ""
    """Declarations and functions of each twin, before its first function."""
    point: bool = False
    """True when no value travels: `sink` alone is the flaw, and only control varies."""
    certain: bool = False
    """True when a flaw on one of two ways would not be one."""
    cpp: bool = False
    """True for C++ only."""
    own_everywhere: bool = False
    """True when `own` belongs into each file of a twin and not only the first."""
    head: str = ""
    """With `point`: head of the function that holds the flaw, when it is not the first one."""
    inner: str = ""
    """Head of a function that holds `sink`, when the function that has `$d` calls another."""
    call: str = ""
    """How it is called."""
    tail: str = ""
    """With `point`: statements behind."""
    after: str = ""
    """With `point`: functions of the twin behind the one that holds the flaw."""
    more_good: tuple[str, ...] = field(default=())
    """With `point`: further repaired forms."""

    @property
    def unset(self) -> bool:
        """Whether `$d` has no value before its source: to pass it on would be a flaw by itself."""
        return not self.start and not self.setup

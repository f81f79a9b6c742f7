"""One twin while it is written: functions in files, and which of them holds the sink."""

from __future__ import annotations

from dataclasses import dataclass, field

from cases.shape import Shape

BEGIN, END = "\x01", "\x02"


@dataclass(slots=True)
class Twin:
    """One flawed function or one of its repairs, with everything it calls."""

    shape: Shape
    """What it is made of."""
    source: str
    """Statements that set `$d`."""
    sink: str
    """Statements that use it."""
    flawed: bool
    """Whether the two together are a flaw."""
    inner: str = ""
    """Body of the shape's inner function."""
    files: dict[int, list[str]] = field(default_factory=dict)
    """Declarations and functions of each file, in order."""

    common: dict[int, str] = field(default_factory=dict)
    """Declarations that all twins of the case share, by file."""

    def add(self, text: str, file: int = 0) -> None:
        """Add declarations to a file."""
        self.files.setdefault(file, []).append(text)

    def function(self, head: str, *body: str, file: int = 0, sink: bool = False) -> None:
        """Add a function to a file; `sink` says that it holds the flaw, if there is one."""
        if sink and self.shape.inner:
            self.add(framed(self.shape.inner, self.inner, True), file)
            sink = False
        self.add(framed(head, "\n".join(body), sink), file)

    def main(self, *body: str, sink: bool = False) -> None:
        """Add the function that starts it all, to the first file."""
        self.function("void $_main(void)", *body, sink=sink)

    @property
    def owner(self) -> str:
        """Declaration of `$d` with all that must live as long as it."""
        return self.declare() + self.shape.setup

    def declare(self, name: str = "$d") -> str:
        """A declaration of a variable of the type of the data, with its first value."""
        start = f" = {self.shape.start}" if self.shape.start else ""
        return f"{self.typed(name)}{start};\n"

    def typed(self, name: str) -> str:
        """Type and name of the data."""
        return f"{self.shape.type}{'' if self.shape.type.endswith('*') else ' '}{name}"


def framed(head: str, body: str, sink: bool) -> str:
    """A function between the marks from which the truth table gets its lines."""
    return f"{BEGIN}{'sink' if sink else 'part'}\n{head}\n{{\n{body}\n}}\n{END}\n"

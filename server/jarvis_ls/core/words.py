"""What people read, as text that can be said in another language.

`Words` are English text wherever text is expected: in a log, before a model, at a terminal. They
also know the template they were made of and what its places hold, so that the face (panel or
terminal) can say the same in the user's language. Templates are written where they are used and
are the keys of their translations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

_PLACES = re.compile(r"\{(\w+)\}")


class Words(str):
    """English text that knows its template."""

    template: str
    """With `{name}` places; the key of its translations."""
    values: dict[str, str]
    """What each place holds; may be `Words` again."""

    def __new__(cls, template: str, /, **values: object) -> Words:
        """Places without a value stay as they are. `Words` without values are returned."""
        if isinstance(template, Words) and not values:
            return template
        texts = {name: str(value) for name, value in values.items()}
        self = super().__new__(cls, filled(template, texts))
        self.template, self.values = str(template), texts
        return self

    def __str__(self) -> str:
        """Itself, so that an error whose text they are passes them on."""
        return self

    def __getnewargs__(self) -> tuple[str]:
        """Return the template for copies; the values are restored with the attributes."""
        return (str.__str__(self),)

    def mapped(self, change: Callable[[str], str]) -> Words:
        """Return the same with `change` made to everything that did not come from a template."""
        return Words(
            self.template, **{name: mapped(value, change) for name, value in self.values.items()}
        )


def mapped(text: str, change: Callable[[str], str]) -> str:
    """`change` made to a text, or to what is filled into the places of `Words`."""
    return text.mapped(change) if isinstance(text, Words) else change(text)


def to_json(value: Any) -> Any:
    """Return plain JSON data in which all `Words` are objects with their text, their template and
    its values: who reads it can still say them in another language."""
    if isinstance(value, Words):
        values = {name: to_json(held) for name, held in value.values.items()}
        return {"text": str.__str__(value), "template": value.template, "values": values}
    if isinstance(value, dict):
        return {str.__str__(key): to_json(held) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(held) for held in value]
    return value


def from_json(value: Any) -> Any:
    """Return JSON data with the `Words` that `to_json` was given."""
    if isinstance(value, list):
        return [from_json(held) for held in value]
    if not isinstance(value, dict):
        return value
    held = {name: from_json(part) for name, part in value.items()}
    if held.keys() == {"text", "template", "values"} and isinstance(held["template"], str):
        values = held["values"]
        if isinstance(values, dict) and all(isinstance(text, str) for text in values.values()):
            return Words(held["template"], **values)
    return held


def together(parts: Sequence[str], between: str) -> Words:
    """Texts one behind the other; each keeps its template."""
    names = [f"part{number}" for number in range(len(parts))]
    template = between.join(f"{{{name}}}" for name in names)
    return Words(template, **dict(zip(names, parts, strict=True)))


def either(names: Sequence[str]) -> str:
    """Join names as `A`, `A or B`, `A or B or C`."""
    *others, last = names
    return Words("{first} or {last}", first=either(others), last=last) if others else last


def filled(template: str, values: dict[str, str]) -> str:
    """`template` with its places filled; places that are not known stay as they are."""
    return _PLACES.sub(lambda place: values.get(place[1], place[0]), template)


def translated(text: str, translate: Callable[[str], str]) -> str:
    """`text` in another language: `translate` gives the translation of a template."""
    if not isinstance(text, Words):
        return translate(text)
    inner = {
        name: translated(value, translate) if isinstance(value, Words) else value
        for name, value in text.values.items()
    }
    return filled(translate(text.template), inner)

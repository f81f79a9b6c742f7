"""What a model answers when it plans the interface of a type, and what of that is taken."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from jarvis_ls.jc2r.lift.rust import below, name_of, parse_source
from jarvis_ls.jc2r.prepare.proposals import Group
from jarvis_ls.runtime.agent.typed_answer import AnswerUnfit, ModelForm

_REFUSED = {
    "pointer_type": "a raw pointer",
    "extern_modifier": "extern",
    "macro_invocation": "a macro",
    "unsafe_block": "unsafe",
}


class Planned(BaseModel):
    """The interface of one C function."""

    c_name: str = Field(min_length=1)
    rust_signature: str = Field(
        "", description="from `pub fn` on, without body; empty when the types of C must stay"
    )
    skip_implementation: bool = Field(
        False, description="true for what only frees: Drop of the type does it"
    )
    notes: str = ""


class PlannedType(BaseModel):
    """A type and its functions."""

    definition: str = Field(
        "", description="of a type: the Rust struct that owns what the C struct points to"
    )
    functions: list[Planned]


class PlanForm(ModelForm):
    """A `PlannedType` that fits one group."""

    def __init__(self, group: Group) -> None:
        super().__init__(PlannedType)
        self._group = group

    def check(self, value: Any) -> Any:
        """See `AnswerForm`."""
        answer = super().check(value)
        assert isinstance(answer, PlannedType)
        take_answer(self._group, answer)
        return answer


def take_answer(group: Group, answer: PlannedType) -> Group:
    """Return a group as a model plans it. Raises `AnswerUnfit` with what is wrong."""
    by_name = {interface.c_name: interface for interface in group.interfaces}
    for planned in answer.functions:
        if planned.c_name not in by_name:
            raise AnswerUnfit(f"{planned.c_name} is no function that was asked about.")
        _check_signature(planned)
        by_name[planned.c_name] = replace(
            by_name[planned.c_name],
            rust_signature=planned.rust_signature.strip().rstrip(";"),
            skip_implementation=planned.skip_implementation,
            notes=planned.notes[:300],
            source="llm",
        )
    definition = group.definition
    if group.name and answer.definition.strip():
        definition = _checked_definition(group.name, answer.definition.strip())
    return replace(group, definition=definition, interfaces=tuple(by_name.values()), source="llm")


def _check_signature(planned: Planned) -> None:
    text = planned.rust_signature.strip().rstrip(";")
    if not text:
        return
    source = parse_source(Path(), f"impl Planned {{ {text} {{}} }}".encode())
    functions = list(below(source.root, "function_item"))
    if source.root.has_error or len(functions) != 1 or len(source.root.named_children) != 1:
        raise AnswerUnfit(f"{planned.c_name}: it is not one signature without a body: {text}")
    _check_refused(planned.c_name, text, f"impl Planned {{ {text} {{}} }}")


def _checked_definition(name: str, text: str) -> str:
    source = parse_source(Path(), text.encode())
    items = [
        item for item in source.root.named_children if item.type in ("struct_item", "enum_item")
    ]
    if source.root.has_error or not any(name_of(item) == name for item in items):
        raise AnswerUnfit(f"The definition must be a struct or enum {name}.")
    known = ("struct_item", "enum_item", "attribute_item", "line_comment", "use_declaration")
    if any(item.type not in known for item in source.root.named_children):
        raise AnswerUnfit("The definition may hold types only.")
    _check_refused(name, text, text)
    return text


def _check_refused(name: str, shown: str, text: str) -> None:
    source = parse_source(Path(), text.encode())
    for kind, told in _REFUSED.items():
        if any(True for _ in below(source.root, kind)):
            raise AnswerUnfit(f"{name}: {told} is not allowed in an interface: {shown}")
    for node in below(source.root, "function_modifiers"):
        if b"unsafe" in source.text(node):
            raise AnswerUnfit(f"{name}: unsafe is not allowed in an interface: {shown}")

"""The text that takes a function's place in its module, made of a model's answer.

The model writes safe Rust; the function that C calls, with its attributes, ABI and types, is
generated from the baseline and is the only place where pointers become references.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Source, field, name_of
from jarvis_ls.jc2r.rewrite.answer import Argument, Rewrite
from jarvis_ls.jc2r.rewrite.subject import (
    Subject,
    first_of,
    function_of,
    parameters_of,
    result_of,
)
from jarvis_ls.runtime.agent.typed_answer import AnswerUnfit, ModelForm

_ITEMS = frozenset(
    "function_item const_item struct_item enum_item impl_item type_item static_item "
    "attribute_item line_comment block_comment".split()
)
"""What an answer may consist of."""
_POINTER = re.compile(r"\*\s*(const|mut)\s+(.+)", re.DOTALL)
_DEMAND = "/// # Safety"
_INTEGER = re.compile(r"[iu](?:8|16|32|64|size)")
_MOST_LINES = 80
_MOST_TIMES = 4
"""An answer has at most so many lines, and so many times those of the baseline."""


class AnswerUnusable(AnswerUnfit):
    """An answer cannot take the function's place; the text says why, to the model."""


class RewriteForm(ModelForm):
    """A `Rewrite` that can take the place of one function."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(Rewrite)
        self._subject = subject

    def check(self, value: Any) -> Any:
        """See `AnswerForm`."""
        answer = super().check(value)
        assert isinstance(answer, Rewrite)
        if answer.status == "rewritten":
            compose(self._subject, answer)
        return answer


@dataclass(frozen=True, slots=True)
class Composed:
    """What takes a function's place."""

    text: str
    written: str
    """What of it the model wrote."""
    names: tuple[str, ...]
    """Functions in it, without the one that C calls where that is generated."""


def compose(subject: Subject, answer: Rewrite) -> Composed:
    """Return the text for an answer. Raises `AnswerUnusable`."""
    code = answer.code.strip()
    source = _parse(subject, code)
    names = tuple(name_of(function) for function in source.functions)
    if answer.arguments is None:
        text = _with_head(subject, source, code)
        return Composed(text, code, names)
    if subject.inner not in names:
        raise AnswerUnusable(f"There is no fn {subject.inner} in the code.")
    shim = _shim(subject, source, answer.arguments)
    return Composed(f"{_visible(source, subject.inner)}\n\n{shim}", code, names)


def _visible(source: Source, name: str) -> str:
    """Return the text with the function `name` visible in the crate."""
    function = next(item for item in source.functions if name_of(item) == name)
    if any(child.type == "visibility_modifier" for child in function.children):
        return source.data.decode("utf-8", "replace")
    at = function.start_byte
    return (source.data[:at] + b"pub(crate) " + source.data[at:]).decode("utf-8", "replace")


def _parse(subject: Subject, code: str) -> Source:
    if code.count("\n") > _MOST_LINES + _MOST_TIMES * subject.rust.count("\n"):
        raise AnswerUnusable("The code is far longer than the function: write the function itself.")
    found = function_of(code)
    if found is None:
        raise AnswerUnusable("There is no function in the code.")
    source = found[0]
    if source.root.has_error:
        raise AnswerUnusable("The code cannot be parsed as Rust.")
    strange = next((item for item in source.root.children if item.type not in _ITEMS), None)
    if strange is not None:
        kind = strange.type.replace("_", " ")
        raise AnswerUnusable(
            f"The code holds a {kind}: only functions, types and constants may be."
        )
    return source


def _with_head(subject: Subject, source: Source, code: str) -> str:
    """Return the code with the head of the baseline on the function of its name."""
    old_source, old = _baseline(subject)
    found = function_of(code, subject.name)
    if found is None:
        raise AnswerUnusable(
            f"There is no fn {subject.name} in the code; with another signature it is"
            f" fn {subject.inner}, and arguments say how it is called."
        )
    _, new = found
    types = list(map(_flat, parameters_of(source, new).values()))
    wanted = list(map(_flat, parameters_of(old_source, old).values()))
    if types != wanted or _flat(result_of(source, new)) != _flat(result_of(old_source, old)):
        raise AnswerUnusable(
            f"fn {subject.name} must keep the types ({', '.join(wanted)}); with others it is"
            f" fn {subject.inner}, and arguments say how it is called."
        )
    head = _head(old_source, old, is_unsafe=_is_unsafe(new))
    name = field(new, "name")
    assert name is not None  # it was found by that
    generated = f"{_leading(old_source, old)}{head}fn {name_of(old)}".encode()
    data = source.data
    whole = data[: new.start_byte] + generated + data[name.end_byte :]
    return whole.decode("utf-8", "replace")


def _shim(subject: Subject, source: Source, arguments: list[Argument]) -> str:
    old_source, old = _baseline(subject)
    inner = function_of(source.data.decode("utf-8", "replace"), subject.inner)
    assert inner is not None  # `compose` has looked
    known = parameters_of(old_source, old)
    wanted = list(parameters_of(*inner).values())
    if len(wanted) != len(arguments):
        raise AnswerUnusable(
            f"{subject.inner} has {len(wanted)} parameters and arguments has {len(arguments)}."
        )
    result, new_result = result_of(old_source, old), result_of(*inner)
    given, reasons = [], []
    for argument, kind in zip(arguments, wanted, strict=True):
        text, reason = _argument(argument, known, kind)
        given.append(text)
        reasons += [reason] if reason else []
    call = f"{subject.inner}({', '.join(given)})"
    if _flat(new_result) == "bool" and _INTEGER.fullmatch(_flat(result)):
        call = f"{result}::from({call})"
    elif _flat(new_result) != _flat(result):
        raise AnswerUnusable(
            f"{subject.inner} must give {result or 'nothing'}, as {subject.name} does."
        )
    parameters = ", ".join(f"{name}: {kind}" for name, kind in known.items())
    arrow = f" -> {result}" if result else ""
    safety = "; ".join(dict.fromkeys(reasons))
    above = _leading(old_source, old).splitlines()
    lines = [
        *(line for line in above if not line.startswith("#[")),
        *([f"{_DEMAND}\n///\n/// {safety}."] if safety else []),
        *(line for line in above if line.startswith("#[")),  # where all look for them
        f"{_head(old_source, old, is_unsafe=True)}fn {name_of(old)}({parameters}){arrow} {{",
        *([f"    // SAFETY: the caller guarantees that {safety}."] if safety else []),
        f"    unsafe {{ {call} }}" if safety else f"    {call}",
        "}",
    ]
    return "\n".join(lines)


def _argument(argument: Argument, known: dict[str, str], kind: str) -> tuple[str, str]:
    """Return the expression for a parameter and what it demands of the caller."""
    name = argument.parameter.strip()
    type_ = known.get(name)
    if type_ is None:
        raise AnswerUnusable(f"There is no parameter {name}; there are {', '.join(known)}.")
    if argument.kind == "value":
        same = _flat(type_) == _flat(kind)
        if not same and not (
            _INTEGER.fullmatch(_flat(type_)) and _flat(kind) in ("usize", "isize")
        ):
            raise AnswerUnusable(f"{name} is {type_} and cannot be handed over as {kind}.")
        return (name if same else f"{name} as {kind}"), ""
    if argument.kind == "boolean":
        if not _INTEGER.fullmatch(_flat(type_)):
            raise AnswerUnusable(f"{name} is {type_} and no number that may mean a boolean.")
        return f"{name} != 0", ""
    pointer = _POINTER.fullmatch(type_.strip())
    if pointer is None:
        raise AnswerUnusable(f"{name} is {type_} and no pointer.")
    is_mutable = argument.kind.endswith("_mut")
    if is_mutable and pointer[1] != "mut":
        raise AnswerUnusable(f"{name} is {type_} and may only be read through.")
    if argument.kind == "c_string":
        return (
            f"core::ffi::CStr::from_ptr({name}.cast())",
            f"`{name}` points to a terminated string",
        )
    if "slice" in argument.kind:
        return _slice(argument, known, is_mutable=is_mutable)
    return _reference(argument, is_mutable=is_mutable)


def _slice(argument: Argument, known: dict[str, str], *, is_mutable: bool) -> tuple[str, str]:
    name, length = argument.parameter.strip(), argument.length.strip()
    is_number = length.isascii() and length.isdecimal()
    if not is_number and not _INTEGER.fullmatch(_flat(known.get(length, ""))):
        raise AnswerUnusable(f"{length} is neither a number nor a parameter that holds one.")
    make = "from_raw_parts_mut" if is_mutable else "from_raw_parts"
    mark = "&mut " if is_mutable else "&"
    is_signed = _flat(known.get(length, "")).startswith("i")
    none = f"{length} {'<=' if is_signed else '=='} 0"
    lone = "" if is_number else f" || {none}"
    count = length if is_number else f"{length} as usize"
    slice_ = f"core::slice::{make}({name}, {count})"
    others = " and nothing else is used to reach them" if is_mutable else ""
    reason = f"`{name}` is null or points to `{length}` elements{others}"
    if argument.kind.startswith("optional_"):
        some = "" if is_number else f"else if {none} {{ Some({mark}[]) }} "
        return (
            f"if {name}.is_null() {{ None }} {some}else {{ Some({slice_}) }}",
            reason,
        )
    return f"if {name}.is_null(){lone} {{ {mark}[] }} else {{ {slice_} }}", reason


def _reference(argument: Argument, *, is_mutable: bool) -> tuple[str, str]:
    name = argument.parameter.strip()
    others = " that nothing else is used to reach" if is_mutable else ""
    if argument.kind.startswith("optional_"):
        method = "as_mut" if is_mutable else "as_ref"
        return f"{name}.{method}()", f"`{name}` is null or points to a valid value{others}"
    mark = "&mut *" if is_mutable else "&*"
    return f"{mark}{name}", f"`{name}` points to a valid value{others}"


def _baseline(subject: Subject) -> tuple[Source, Node]:
    found = function_of(subject.rust, subject.name)
    if found is None:
        raise AnswerUnusable(f"The baseline of {subject.name} cannot be read.")
    return found


def _leading(source: Source, function: Node) -> str:
    """Return the comments and attributes above a function, without what it demands of callers."""
    first = first_of(function)
    text = source.data[first.start_byte : function.start_byte].decode("utf-8", "replace")
    kept: list[str] = []
    is_demand = False
    for line in text.splitlines():
        is_demand = line.startswith("///") and (is_demand or line.strip() == _DEMAND)
        if not is_demand:
            kept.append(line)
        elif kept and kept[-1].strip() == "///":
            kept.pop()
    return "".join(f"{line}\n" for line in kept)


def _head(source: Source, function: Node, *, is_unsafe: bool) -> str:
    """Return what stands before `fn`: visibility, `unsafe` when it is, the ABI."""
    visible = next((c for c in function.children if c.type == "visibility_modifier"), None)
    modifiers = next((c for c in function.children if c.type == "function_modifiers"), None)
    abi = next(
        (c for c in (modifiers.children if modifiers else ()) if c.type == "extern_modifier"), None
    )
    parts = [
        *([source.text(visible).decode()] if visible is not None else []),
        *(["unsafe"] if is_unsafe else []),
        *([source.text(abi).decode()] if abi is not None else []),
    ]
    return "".join(f"{part} " for part in parts)


def _is_unsafe(function: Node) -> bool:
    modifiers = next((c for c in function.children if c.type == "function_modifiers"), None)
    return modifiers is not None and any(child.type == "unsafe" for child in modifiers.children)


def _flat(text: str) -> str:
    return "".join(text.split())

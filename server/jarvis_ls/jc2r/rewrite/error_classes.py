"""Kinds of errors of rustc, and what to do about each, for the model that made them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from jarvis_ls.jc2r.lift.compiler import Message


class ErrorClass(Enum):
    """The kinds; the value is what records call it."""

    MISSING_IMPORT = "missing_import"
    MODULE_NOT_FOUND = "module_not_found"
    DEPENDENCY_MISSING = "dependency_missing"
    TYPE_MISMATCH = "type_mismatch"
    VISIBILITY = "visibility"
    BORROW_CHECKER = "borrow_checker"
    UNSAFE_OPERATION = "unsafe_operation"
    OTHER = "other"


ADVICE = {
    ErrorClass.MISSING_IMPORT: "write whole paths (crate::types::NAME, core::…): nothing can be"
    " imported",
    ErrorClass.MODULE_NOT_FOUND: "use only the modules of the crate that are shown, as"
    " crate::MODULE::NAME",
    ErrorClass.DEPENDENCY_MISSING: "no crate can be added: use core, alloc and std",
    ErrorClass.TYPE_MISMATCH: "convert the value (as, from, try_from) where C converts it silently",
    ErrorClass.VISIBILITY: "that item is private to its module: use what is visible, or the fields"
    " that are shown",
    ErrorClass.BORROW_CHECKER: "copy the value out, split the slice (split_at_mut), or end the"
    " first borrow before the second begins",
    ErrorClass.UNSAFE_OPERATION: "call the safe form of that function, or write the operation with"
    " slices and references",
    ErrorClass.OTHER: "",
}
"""For the model."""
_CODES = {
    ErrorClass.MISSING_IMPORT: "E0405 E0412 E0422 E0423 E0425 E0531 E0574 E0599",
    ErrorClass.MODULE_NOT_FOUND: "E0583",
    ErrorClass.DEPENDENCY_MISSING: "E0463",
    ErrorClass.TYPE_MISMATCH: "E0053 E0061 E0277 E0308 E0369 E0600 E0604 E0605 E0606 E0607 E0608"
    " E0614",
    ErrorClass.VISIBILITY: "E0446 E0451 E0603 E0616 E0624",
    ErrorClass.BORROW_CHECKER: "E0106 E0373 E0381 E0382 E0384 E0495 E0499 E0502 E0503 E0505 E0506"
    " E0507 E0515 E0521 E0594 E0596 E0597 E0621 E0716 E0726",
    ErrorClass.UNSAFE_OPERATION: "E0133",
}
_CLASSES = {code: kind for kind, codes in _CODES.items() for code in codes.split()}


def classify(message: Message) -> ErrorClass:
    """Return the kind of an error."""
    text = message.text
    if message.code in ("E0432", "E0433"):
        if re.search(r"crate or module|module or crate|unlinked crate", text):
            return ErrorClass.DEPENDENCY_MISSING
        is_path = "in this scope" not in text and "undeclared type" not in text
        return ErrorClass.MODULE_NOT_FOUND if is_path else ErrorClass.MISSING_IMPORT
    if "lifetime may not live long enough" in text:
        return ErrorClass.BORROW_CHECKER
    return _CLASSES.get(message.code, ErrorClass.OTHER)


def describe(errors: Sequence[Message]) -> str:
    """Return a line for each kind of the errors, the first one first, with what to do about it."""
    kinds = dict.fromkeys(map(classify, errors))
    return "\n".join(f"{kind.value}: {ADVICE[kind]}" for kind in kinds if ADVICE[kind])

"""Whether a result that is used untested was asserted in a macro that this build leaves out, as in
`ALWAYS(p)`: who wrote it knows that it is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from jarvis_ls.codeintel.source import Source
from jarvis_ls.jsec.flow.domain.fault import Fault

_KINDS = frozenset({"untested-result", "untested-index", "untested-member"})
_HELD = re.compile(rb"([A-Za-z_]\w*)\s{0,4}=\s{0,4}(?:\([\w\s*]{1,80}\)\s{0,4})?$")
"""What a call is assigned to, in front of it."""
_BEFORE = 200
"""Most bytes in front of a call that name what it is assigned to."""
_FAR = 4000
"""Most bytes between a call and the use of its result."""


def is_asserted(fault: Fault, texts: Callable[[str], Source | None]) -> bool:
    """Return whether a macro or function whose name says so asks, between the call and the use, for
    the variable that holds what is used. `texts` gives the files of the program."""
    source = texts(fault.file) if fault.kind in _KINDS else None
    if source is None:
        return False
    called = fault.steps[0].span
    held = _HELD.search(source.data[max(0, called[0] - _BEFORE) : called[0]])
    if held is None or fault.span[0] - called[1] > _FAR:
        return False
    between = source.data[called[1] : fault.span[1]]
    name = re.escape(held[1])
    asked = rb"\b(?:[A-Z][A-Z0-9_]+|\w*(?i:assert|always|never|check|likely|expect|verify)\w*)"
    return (
        re.search(asked + rb"\s?\(\s?!?\s?" + name + rb"\s?(?:\)|[!=]=|&&|,)", between) is not None
    )

"""Saying what flow proved."""

from __future__ import annotations

import re

from jarvis_ls.jsec.flow.domain.fault import Fault

_PLACE = re.compile(r"\{(\w+)\}")


def pick_template(fault: Fault, *templates: str) -> str:
    """Return the first of the templates whose places are all known; the last has none."""
    known = {name for name, _ in fault.args}
    for template in templates:
        if known.issuperset(_PLACE.findall(template)):
            return template
    return templates[-1]

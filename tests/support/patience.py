"""How long tests wait: for conditions, and so long that only what hangs fails."""

from __future__ import annotations

from jarvis_ls.runtime.llm.platforms.streaming import Deadlines

HANGS = 120.0
"""Seconds after which what has not happened never will, on however slow a machine."""

PATIENT = Deadlines(connect=HANGS, first=HANGS, idle=HANGS, total=5 * HANGS)
"""For who talks to a scripted model that will answer."""

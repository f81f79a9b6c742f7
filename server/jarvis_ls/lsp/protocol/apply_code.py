"""What applying a block of code of an answer needs: the ask and its answer; `panel` has them in its
unions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jarvis_ls.runtime.base.events import ToolEntry


@dataclass(frozen=True, slots=True)
class PlaceCodeAsk:
    """Find the file and the place that a block of code is meant for. Nothing is written: the change
    waits for a `ReviewAsk`, and its sides are asked by `SideAsk`."""

    session: str
    code: str
    info: str = ""
    """Info string of the block."""
    before: str = ""
    """Words right before the block."""
    path: str = ""
    """The file, when the user chose one."""
    root: int = 0
    """Which of the workspace's folders it is in."""
    active: str = ""
    """The file of the editor in front, meant when no other is named."""
    active_root: int = 0
    """Which of the workspace's folders that is in."""
    whole: bool = False
    """The code becomes all of the file."""
    kind: Literal["place_code"] = "place_code"


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A file that a block of code may be meant for."""

    path: str
    root: int


@dataclass(frozen=True, slots=True)
class PlacedCode:
    """The change that waits, or what the user has to say first."""

    said: str = ""
    """What is replaced, or why nothing was placed, in the user's language."""
    session: str = ""
    """Session under which the change waits."""
    path: str = ""
    """The file that is meant; empty when none is known."""
    root: int = 0
    """Which of the workspace's folders it is in."""
    entry: ToolEntry | None = None
    """The change that waits for the user."""
    choices: tuple[CodeFile, ...] = ()
    """Files of which the user has to choose one."""

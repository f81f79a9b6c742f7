"""The sandbox as the user's settings want it, for what runs without an agent."""

from __future__ import annotations

from jarvis_ls.assembly.settings_file import read_settings, section
from jarvis_ls.core.files import user_folder
from jarvis_ls.runtime.sandbox.ladder import Ladder
from jarvis_ls.runtime.sandbox.reading import read_sandbox


def read_ladder() -> Ladder:
    """Return the kinds of sandbox with the settings of the user's `config.toml`.

    Raises `JarvisError` saying what is wrong with it.
    """
    home = user_folder()
    return Ladder(home, read_sandbox(section(read_settings(home), "sandbox")))

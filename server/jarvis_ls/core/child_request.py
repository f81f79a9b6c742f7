"""One request that a process of its own carries out: `python -m MODULE REQUEST`.

`REQUEST` is JSON, the fields of a record. The process writes one JSON object a line: what it is
doing, and as its last `{"result": {…}}` or `{"error": text}`. Texts are `Words` as JSON, so that
the one who started it says them in the user's language. Keys of models come by the environment.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from jarvis_ls.core.errors import JarvisError, missing_package
from jarvis_ls.core.serving import end_with_parent
from jarvis_ls.core.words import Words, to_json

R = TypeVar("R")
Tell = Callable[[dict[str, Any]], None]
"""Writes a line about how far the work is."""


def carry_out(
    arguments: list[str], form: Callable[..., R], work: Callable[[R, Tell], dict[str, Any]]
) -> int:
    """Carry out the request that the first argument holds, its fields made into one by `form`;
    return the exit status, which is 0 when there is a result."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # whatever else prints goes to standard error
    sys.stdout = sys.stderr
    end_with_parent()

    def tell(said: dict[str, Any]) -> None:
        answers.write(json.dumps(said, ensure_ascii=False) + "\n")

    try:
        tell({"result": work(form(**json.loads(arguments[0])), tell)})
    except JarvisError as error:
        tell({"error": to_json(str(error))})
        return 2
    except ModuleNotFoundError as error:
        name = missing_package(error)
        needs = Words("{name} is missing: pip install 'jarvis-ls[agent,migrate]'", name=name)
        tell({"error": to_json(needs)})
        return 2
    except Exception as error:  # noqa: BLE001 - a boundary: the parent gets it, the log all of it
        traceback.print_exc()
        tell({"error": f"{type(error).__name__}: {error}"})
        return 3
    return 0

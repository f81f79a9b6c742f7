"""The one gate every tool call passes, below the model: allow, ask or deny.

A rule says what may be done by tool, kind of action and target:

    [[permissions]]
    effect = "allow"          # or "ask", "deny"
    tool = "execute_script"   # a name or a pattern; default "*"
    kind = "execute"          # read, write, execute, connect; default all
    target = "cargo test*"    # pattern over the path, command or URL; default "*"

Of the rules that match, deny wins over ask, and ask over allow; without a match, reading
inside the workspace is allowed and everything else is asked. A command line is taken apart
first: every program in it must be allowed, by a rule that matches it word by word. What a program
may run or write more than its words say is covered by a rule that spells it, or by one for any
program; what cannot be read is asked, unless the line runs in a sandbox that holds and any program
is allowed. A workspace's own rules can only tighten.
"""

from __future__ import annotations

import fnmatch
import os
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jarvis_ls.codeintel.shell import Command, CommandLine, Doubt, Why, take_apart
from jarvis_ls.core.errors import ConfigError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.events import Mode, ScriptRun
from jarvis_ls.runtime.base.folders import below, called, from_first, located, named
from jarvis_ls.runtime.tools.command_rules import (
    can_be_spelled,
    is_any_command,
    matches_command,
    pattern_of,
    reason_of,
    spells,
)
from jarvis_ls.runtime.tools.mode import PLANNING
from jarvis_ls.runtime.tools.tool import Action, ToolContext

Effect = Literal["allow", "ask", "deny"]
Scope = Literal["call", "session", "workspace", "user"]

EFFECTS: tuple[Effect, ...] = ("deny", "ask", "allow")
PROTECTED = tuple(
    ".git .jarvis .vscode .idea .mcp.json .cargo .envrc .github .gitlab-ci.yml .husky "
    ".pre-commit-config.yaml".split()
)
"""Names that other programs act on later: writing below them is always asked, whatever a rule
for ordinary files says; only a rule that names them allows it."""

_INVISIBLE = re.compile(
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f"
    "\\u2028-\\u202e\\u2060-\\u206f\\ud800-\\udfff\\ufeff\\ufff9-\\ufffb\\U000e0000-\\U000e0fff]"
)

_FOREIGN = "\u0370-\u03ff\u0400-\u052f\u0530-\u058f\u13a0-\u13ff\uff10-\uff5a"
_LOOKALIKE = re.compile(f"(?<=[A-Za-z])[{_FOREIGN}]+|[{_FOREIGN}]+(?=[A-Za-z])")
"""Greek, Cyrillic, Armenian, Cherokee and wide signs within a Latin word: another program or
file than the one they look like."""


@dataclass(frozen=True, slots=True)
class PermissionRule:
    """One rule."""

    effect: Effect
    tool: str = "*"
    """Name or pattern of tools."""
    kind: str = "*"
    """Kind of action, or `*`."""
    target: str = "*"
    """Pattern of targets; `*` matches everything, `/` included."""

    def speaks_of(self, tool: str, kind: str) -> bool:
        """Return whether the rule holds for this tool and this kind of action."""
        return fnmatch.fnmatchcase(tool, self.tool) and self.kind in ("*", kind)

    def matches(self, tool: str, action: Action, target: str) -> bool:
        """Return whether the rule speaks about this path, address or whole command line."""
        return self.speaks_of(tool, action.kind) and self._fits(action.kind, target)

    def matches_command(self, tool: str, command: Command) -> bool:
        """Return whether the rule speaks about a command.

        Rules that forbid or ask also match the program in whatever folder, and the words put
        together.
        """
        if not self.speaks_of(tool, "execute"):
            return False
        if matches_command(self.target, command.words):
            return True
        if self.effect == "allow":
            return False
        program = command.words[0].rpartition("/")[2]
        texts = (" ".join(command.words), command.written)
        return matches_command(self.target, (program, *command.words[1:])) or any(
            fnmatch.fnmatchcase(text, self.target) for text in texts
        )

    def _fits(self, kind: str, target: str) -> bool:
        """Return whether a rule matches a target.

        Rules that forbid or ask match every spelling a file system may take for the same path:
        other cases, other code points for the same letters.
        """
        if self.effect == "allow" or kind not in ("read", "write"):
            return fnmatch.fnmatchcase(target, self.target)
        return fnmatch.fnmatchcase(_fold(target), _fold(self.target))


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user is asked: built from parsed arguments, never from a model's words."""

    tool: str
    actions: tuple[Action, ...]
    """Only those that need an answer."""
    reason: str
    """Why it is asked, in words."""
    arguments: Mapping[str, Any]
    lasting: bool = False
    """Whether the answer can hold for later calls; else only `call` may be offered."""
    script: ScriptRun | None = None
    """What is run, when that is a script."""
    hidden: bool = False
    """Whether no rule would have allowed it: what it does is unknown before it runs."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the user said."""

    allowed: bool
    scope: Scope = "call"
    """How long it holds."""
    note: str = ""
    """What to tell the model."""


Ask = Callable[[Asked], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rules say of a call."""

    effect: Effect
    reason: str = ""
    actions: tuple[Action, ...] = ()
    """Those that made it so."""
    hidden: bool = False
    """Whether no rule could allow it: what it does is unknown before it runs."""


class Permissions:
    """The rules in force."""

    def __init__(
        self,
        user: Iterable[PermissionRule] = (),
        workspace: Iterable[PermissionRule] = (),
        *,
        remember: Callable[[Scope, list[PermissionRule]], None] | None = None,
        read_only: str = "",
        mode: Callable[[], Mode] = lambda: "ask",
    ) -> None:
        """`remember` keeps rules of scope `workspace` and `user` beyond the session; `read_only`
        says why nothing may be written or run, whatever the rules say. `mode` tells which one the
        user has chosen for now."""
        self._rules = list(user)
        self._tighter = [rule for rule in workspace if rule.effect != "allow"]
        self._remember = remember
        self._read_only = read_only
        self.mode = mode

    def decide(
        self,
        tool: str,
        actions: Iterable[Action],
        context: ToolContext,
        *,
        contained: bool = False,
    ) -> Decision:
        """Decide by the rules whether all of `actions` are allowed.

        `contained` says that what is executed runs in a sandbox that holds, without network, and
        that what it changes passes this gate again: where any program is allowed, its command
        lines need not be readable.
        """
        actions = list(actions)
        closed = self._read_only or (PLANNING if self.mode() == "plan" else "")
        if closed and any(a.kind in ("write", "execute") for a in actions):
            return Decision("deny", closed, tuple(actions))
        found: list[Decision] = []
        for action in actions:
            if action.kind == "execute":
                found.extend(self._of_line(tool, action, context, contained=contained))
            else:
                found.append(self._of_action(tool, action, context))
        for effect in EFFECTS:
            those = [d for d in found if d.effect == effect]
            if those:
                return Decision(
                    effect,
                    those[0].reason,
                    tuple(dict.fromkeys(a for d in those for a in d.actions)),
                    any(d.hidden for d in those),
                )
        return Decision("allow")

    def lets_run(self, tool: str) -> bool:
        """Return whether a tool may run at least one program without anybody being asked."""
        if self._read_only or self.mode() == "plan":
            return False
        return any(
            rule.effect == "allow" and rule.speaks_of(tool, "execute") for rule in self._all()
        )

    def hides(self, tool: str, folder: str, context: ToolContext) -> Callable[[str], bool] | None:
        """Tells by its path from its root whether a file must be left out that a tool finds by
        looking through `folder`: one that a rule forbids to read or says to ask for, unless that
        rule spoke about the folder too, and so was asked. None when there is no such file."""
        starts = _targets(Action("read", folder), context)
        rules = [
            rule
            for rule in (*self._rules, *self._tighter)
            if rule.effect != "allow"
            and rule.kind in ("*", "read")
            and fnmatch.fnmatchcase(tool, rule.tool)
            and not any(rule._fits("read", start) for start in starts)
        ]
        if not rules:
            return None
        prefix, _ = _locate(folder, context) or ("", "")
        return lambda path: any(
            rule._fits("read", fromkey)
            for fromkey in dict.fromkeys((path, prefix + path))
            for rule in rules
        )

    def grant(
        self, tool: str, actions: Iterable[Action], scope: Scope, context: ToolContext
    ) -> None:
        """Allow exactly these from now on, for as long as `scope` says."""
        if scope == "call":
            return
        rules = [rule for action in actions for rule in _grants(tool, action, context) or ()]
        rules = list(dict.fromkeys(rules))
        self._rules.extend(rules)
        if scope != "session" and self._remember is not None:
            self._remember(scope, rules)

    def keeps(self, tool: str, actions: Iterable[Action], context: ToolContext) -> bool:
        """Return whether a grant of these would let the same call pass later: what hides what it
        runs or cannot be shown is never kept, and a rule that says to ask asks again.
        """
        actions = list(actions)
        if any(_grants(tool, action, context) is None for action in actions):
            return False
        return not any(self._asks_by_rule(tool, action, context) for action in actions)

    def _all(self) -> tuple[PermissionRule, ...]:
        return (*self._rules, *self._tighter)

    def _asks_by_rule(self, tool: str, action: Action, context: ToolContext) -> bool:
        rules = [rule for rule in self._all() if rule.effect == "ask"]
        if action.kind != "execute":
            targets = _targets(action, context)
            return any(rule.matches(tool, action, target) for rule in rules for target in targets)
        line = take_apart(action.target)
        files = [Action("write", f) for f in line.writes] + [Action("read", f) for f in line.reads]
        return any(
            rule.matches_command(tool, command) for rule in rules for command in line.commands
        ) or any(self._asks_by_rule(tool, file, context) for file in _placed(files, context))

    def _of_line(
        self, tool: str, action: Action, context: ToolContext, *, contained: bool
    ) -> list[Decision]:
        """Decide about a command line: every program, every redirection, and what is in doubt."""
        line = _read_line(action.target)
        found = [self._of_command(tool, action, command) for command in line.commands]
        found += self._forbidden(tool, action, line)
        if not line.commands:
            found.append(self._of_any(tool, action))
        covered = contained and self._allows_everything(tool)
        files = [Action("write", path) for path in line.writes]
        files += [Action("read", path) for path in line.reads]
        for file in _placed(files, context):
            decision = self._of_action(tool, file, context)
            if not (covered and (decision.effect == "ask" or not _targets(file, context))):
                found.append(decision)
        doubts = [doubt for doubt in line.doubts if not self._covers(tool, doubt)]
        doubts += [d for c in line.commands for d in c.doubts if d.hidden]
        if doubts and not covered:
            worst = next((doubt for doubt in doubts if doubt.hidden), doubts[0])
            found.append(Decision("ask", reason_of(worst), (action,), worst.hidden))
        whole = any(d.effect == "ask" and action in d.actions for d in found)
        if whole:  # the line is shown as a whole, not also in pieces
            found = [d for d in found if d.effect != "ask" or action in d.actions]
        return found

    def _of_command(self, tool: str, action: Action, command: Command) -> Decision:
        here = Action("execute", command.written)
        rules = [rule for rule in self._all() if rule.matches_command(tool, command)]
        for rule in rules:
            if rule.effect == "deny":
                said = Words("A permission rule denies it: {target}", target=rule.target)
                return Decision("deny", said, (here,))
        if any(rule.effect == "ask" for rule in rules):
            return Decision("ask", Words("A permission rule requires approval."), (here,))
        if not rules:
            said = Words("No rule allows '{part}'.", part=command.written)
            return Decision("ask", said, (here,))
        doubts = [doubt for doubt in command.doubts if not doubt.hidden]
        if all(self._covers(tool, doubt) for doubt in doubts):
            return Decision("allow")
        if not command.doubts or any(spells(rule.target, command) for rule in rules):
            return Decision("allow")
        return Decision("ask", reason_of(doubts[0]), (action,))

    def _of_any(self, tool: str, action: Action) -> Decision:
        """Decide about a line in which no program is seen."""
        if self._allows_any(tool):
            return Decision("allow")
        return Decision("ask", "", (action,))

    def _forbidden(self, tool: str, action: Action, line: CommandLine) -> list[Decision]:
        """Return what rules say that match the whole line, as it is."""
        for effect in ("deny", "ask"):
            for rule in self._all():
                if rule.effect != effect or not rule.matches(tool, action, action.target):
                    continue
                said = Words("A permission rule denies it: {target}", target=rule.target)
                if effect == "ask":
                    said = Words("A permission rule requires approval.")
                return [Decision(effect, said, (action,))]
        return []

    def _allows_any(self, tool: str) -> bool:
        """Return whether a rule allows any program."""
        return any(
            rule.effect == "allow"
            and rule.speaks_of(tool, "execute")
            and is_any_command(rule.target)
            for rule in self._all()
        )

    def _allows_everything(self, tool: str) -> bool:
        """Return whether any program is allowed, and no rule asks about or forbids one."""
        return self._allows_any(tool) and not any(
            rule.effect != "allow" and rule.speaks_of(tool, "execute") for rule in self._all()
        )

    def _covers(self, tool: str, doubt: Doubt) -> bool:
        """Return whether the rules cover that a program may do more than its words say."""
        return not doubt.hidden and self._allows_everything(tool)

    def _of_action(self, tool: str, action: Action, context: ToolContext) -> Decision:
        targets = _targets(action, context)
        if not targets:
            if not is_path(action.target):
                reason = Words("{target} cannot be a path.", target=action.target)
                return Decision("deny", reason, (action,))
            if action.kind == "read":
                outside = real_path(action.target, context.roots)
                if outside is not None and outside in context.services.get("outputs", ()):
                    return Decision("allow", "", (action,))  # what a tool of ours has printed
                return Decision("ask", Words("It is outside the workspace."), (action,))
            return Decision(
                "deny",
                Words("{target} is outside the workspace.", target=action.target),
                (action,),
            )
        effects = {
            rule.effect: rule
            for rule in self._all()
            if any(rule.matches(tool, action, target) for target in targets)
        }
        if "deny" in effects:
            return Decision(
                "deny",
                Words("A permission rule denies it: {target}", target=effects["deny"].target),
                (action,),
            )
        if "ask" in effects:
            return Decision("ask", Words("A permission rule requires approval."), (action,))
        if _INVISIBLE.search(action.target.replace("\n", " ").replace("\t", " ")):
            seen = Doubt(shown(action.target), Why.CHARACTER)
            return Decision("ask", reason_of(seen), (action,), hidden=True)
        allowed = effects.get("allow")
        if action.kind == "write" and (name := protected_name(targets[0])) is not None:
            named = allowed is not None and name in allowed.target
            return (
                Decision("allow")
                if named
                else Decision(
                    "ask", Words("Other programs run or load {name}.", name=name), (action,)
                )
            )
        if allowed is not None or action.kind == "read":
            return Decision("allow")
        return Decision("ask", "", (action,))


def read_rules(settings: Any, where: str) -> list[PermissionRule]:
    """Rules from a settings file. Raises `ConfigError` naming what is wrong."""
    if not isinstance(settings, list):
        raise ConfigError(
            "{where}: permissions must be a list of tables ([[permissions]]).", where=where
        )
    rules = []
    for number, table in enumerate(settings, 1):
        if not isinstance(table, dict):
            raise ConfigError(
                "{where}: permission {number} must be a table.", where=where, number=number
            )
        unknown = set(table) - {"effect", "tool", "kind", "target"}
        if unknown or not all(isinstance(value, str) for value in table.values()):
            raise ConfigError(
                "{where}: permission {number} has a wrong key or value.", where=where, number=number
            )
        if table.get("effect") not in EFFECTS:
            raise ConfigError(
                "{where}: permission {number}: effect must be allow, ask or deny.",
                where=where,
                number=number,
            )
        if table.get("kind", "*") not in ("*", "read", "write", "execute", "connect"):
            raise ConfigError(
                "{where}: permission {number}: unknown kind {kind}.",
                where=where,
                number=number,
                kind=repr(table["kind"]),
            )
        rules.append(PermissionRule(**table))
    return rules


def inside(path: str | Path, roots: Iterable[Path]) -> Path | None:
    """Return the real path of `path` when it is in one of the roots, links followed; else None.

    Relative paths start as `folders` says.
    """
    folders = list(roots)
    real = real_path(path, folders)
    return real if real is not None and below(real, folders) is not None else None


def placed(path: str | Path, roots: Sequence[Path]) -> tuple[int, str] | None:
    """Return the folder that holds what `inside` gives, by number, and the path from there; else
    None.
    """
    real = real_path(path, roots)
    return None if real is None else below(real, roots)


def real_path(path: str | Path, roots: Iterable[Path]) -> Path | None:
    """Return the real path of `path`, links followed, wherever it is; None when it can be no
    path.

    Relative paths start as `folders` says.
    """
    folders = list(roots)
    if not folders:
        return None
    try:
        return Path(os.path.realpath(located(path, folders)))
    except (ValueError, OSError, RuntimeError):  # a NUL, half a character, a loop of links
        return None


def is_path(text: str) -> bool:
    """Return whether any file could have this path: none holds a NUL or half a character."""
    try:
        os.fsencode(text)
    except UnicodeError:
        return False
    return "\0" not in text


def protected_name(target: str) -> str | None:
    """Return the name of `PROTECTED` that a path from its root goes through, however it is spelled:
    some file systems take other cases, trailing dots, compatible or ignored characters and
    short names for the same."""
    for part in target.split("/"):
        spelled = unicodedata.normalize("NFKC", part).partition(":")[0]
        spelled = _INVISIBLE.sub("", spelled).casefold().rstrip(". ")
        if spelled == "git~1":
            return ".git"
        if spelled in PROTECTED:
            return spelled
    return None


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def shown(text: str) -> str:
    """`text` with invisible and direction-changing characters made visible."""
    return _INVISIBLE.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def shown_target(target: str) -> str:
    """Return a path, command or address as it is asked about: also what looks like another letter
    is made visible.
    """
    return _LOOKALIKE.sub(
        lambda match: "".join(f"<U+{ord(sign):04X}>" for sign in match[0]), shown(target)
    )


def glob_free(target: str) -> str | None:
    """Return a pattern that matches exactly `target`; None when it holds what cannot be shown."""
    hidden = _INVISIBLE.search(target) or _LOOKALIKE.search(target)
    return None if hidden else re.sub(r"([*?\[])", r"[\1]", target)


def _read_line(target: str) -> CommandLine:
    """Return what a command line does; what cannot be shown is in doubt."""
    line = take_apart(target)
    if match := _INVISIBLE.search(target.replace("\n", " ").replace("\t", " ")):
        seen = Doubt(shown(match[0]), Why.CHARACTER)
        return CommandLine(line.commands, line.writes, line.reads, (seen, *line.doubts))
    return line


def _placed(files: Iterable[Action], context: ToolContext) -> list[Action]:
    """Return files of redirections, from the first folder, in which scripts start."""
    return [Action(f.kind, from_first(f.target, context.roots)) for f in files]


def _targets(action: Action, context: ToolContext) -> tuple[str, ...]:
    """Return the strings that rules are matched with: relative paths, commands, URLs.

    A path outside the first root is prefixed with its folder's name. Empty for a path outside the
    workspace.
    """
    if action.kind not in ("read", "write"):
        return (action.target,)
    found = _locate(action.target, context)
    if found is None:
        return ()
    prefix, path = found
    return tuple(dict.fromkeys((path, named(path, prefix))))


def _locate(path: str, context: ToolContext) -> tuple[str, str] | None:
    """Return the name of the folder that a path is in, with a slash, as patterns may begin (empty
    for the first), and the path from there; None outside the workspace.
    """
    found = placed(path, context.roots)
    if found is None:
        return None
    number, rest = found
    name = context.roots[number].name
    return f"{name}/" if name in called(context.roots) else "", rest


def _grants(tool: str, action: Action, context: ToolContext) -> list[PermissionRule] | None:
    """Return the rules that allow exactly this; None when nothing may."""
    if _INVISIBLE.search(action.target.replace("\n", " ").replace("\t", " ")):
        return None
    if action.kind != "execute":
        targets = _targets(action, context)
        pattern = glob_free(targets[-1]) if targets else None
        return None if pattern is None else [PermissionRule("allow", tool, action.kind, pattern)]
    line = take_apart(action.target)
    if line.doubts or not line.commands or _LOOKALIKE.search(action.target):
        return None
    if not all(map(can_be_spelled, line.commands)):
        return None
    found = [
        PermissionRule("allow", tool, "execute", pattern_of(command.words))
        for command in line.commands
    ]
    files = [Action("write", path) for path in line.writes]
    files += [Action("read", path) for path in line.reads]
    for file in _placed(files, context):
        rules = _grants(tool, file, context)
        if rules is None:
            return None
        found.extend(rules)
    return found

"""Following one variable through the branches, loops and jumps of a function.

What may be true of the variable is a set of states, held as bits of one integer. Events change
the set, conditions narrow it, joins unite it; 0 means control cannot be here. Loops are walked
twice, the second time with what the first left behind. Nothing is known about how conditions
hang together, but for one case: the same condition asked again decides the same way.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jarvis_ls.codeintel.nodes import ancestors
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.c.control_flow import Condition, Control, Region


class Exhausted(Exception):
    """The variable's paths are too many; nothing is said about it."""


_LOOPS = frozenset(
    {"for_statement", "while_statement", "do_statement", "for_range_loop", "switch_statement"}
)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens to the variable."""

    at: int
    """Byte at which it takes effect."""
    order: int
    """Among events at one byte, the smaller comes first."""
    kind: str
    """What happens, in the words of the rule."""
    node: Node
    """Where to point at."""
    extra: str = ""
    """What more the rule wants to know."""


class Walker:
    """One walk. Subclasses say what events and conditions do to the set of states."""

    optimistic = 0
    """States that a loop or `switch` whose body removes them is taken to remove always."""
    doubtful = 0
    """States that do not survive a call that sounds like the end of the program, and that an
    `&&` does not prove when it is false."""

    throws = False
    """Whether it matters that an exception leaves the function."""

    def __init__(self, name: str, events: Sequence[Event], size: int) -> None:
        """`events` in order of `at`; `size` is about how many control structures there are."""
        self.name = name
        self.events = events
        self.repeating = False
        """Whether the condition being examined is that of a loop."""
        self.asserting = False
        """Whether the condition being examined is that of an assert."""
        self._places = [event.at for event in events]
        self._fuel = 8 * size + 200
        self._tries = 0
        self._breaks: list[int] = []
        self._continues: list[int] = []
        self._labels: dict[str, tuple[int, Node]] = {}
        self._passed: set[str] = set()
        self._splits: dict[str, tuple[int, int, int, int]] = {}

    def step(self, mask: int, event: Event) -> int:
        """Return the states after an event."""
        raise NotImplementedError

    def narrow(self, mask: int, _valid: bool, _at: int) -> int:
        """Return the states left when a condition found the variable valid or not; by default
        all.
        """
        return mask

    def doubt(self, mask: int) -> int:
        """Return the states when no one knows which part of an `&&` was false."""
        return mask

    def leave(self, mask: int, node: Node, how: str) -> None:
        """Control leaves the variable's scope by `return`, `goto`, `break` or `continue`."""

    def run(self, region: Region, mask: int, end: Node | None = None) -> int:
        """Walk a scope; `end` is where to point at when control falls off it."""
        mask = self._region(region, mask)
        if mask and end is not None:
            self.leave(mask, end, "end")
        for states, jump in self._labels.values():
            if states:
                self.leave(states, jump, "goto")
        return mask

    def _region(self, region: Region, mask: int) -> int:
        if not region.jumps and not self._touches(region.start, region.end):
            return mask
        at = region.start
        for part in region.parts:
            mask = self._gap(at, part.start, mask)
            if part.jumps or self._touches(part.start, part.end):
                mask = self._control(part, mask)
            at = part.end
        return self._gap(at, region.end, mask)

    def _touches(self, start: int, end: int) -> bool:
        first = bisect_left(self._places, start)
        return first < len(self._places) and self._places[first] < end

    def _gap(self, start: int, end: int, mask: int) -> int:
        if not mask or start >= end:
            return mask
        for index in range(bisect_left(self._places, start), len(self._places)):
            if self._places[index] >= end:
                break
            mask = self.step(mask, self.events[index])
        return mask

    def _control(self, part: Control, mask: int) -> int:
        self._fuel -= 1
        if self._fuel < 0:
            raise Exhausted
        if not part.labels and not self._touches(part.start, part.end):
            return self._pass_by(part, mask)
        return self._enter(part, mask)

    def _pass_by(self, part: Control, mask: int) -> int:
        """Walk past something that does not concern the variable."""
        if not mask:
            return 0
        known = part.summary
        if not isinstance(known, _Summary):
            known = part.summary = _Probe(part).result
        sure, doubted = mask & ~self.doubtful, mask & self.doubtful

        def chosen(bits: int) -> int:
            return (sure if bits & 1 else 0) | (doubted if bits & 2 else 0)

        onward = 0
        for bits, node, how in known.leaving:
            states = chosen(bits)
            targets = self._breaks if how == "break" else self._continues
            if how in ("break", "continue") and targets:
                targets[-1] |= states
            elif states and how in ("break", "continue") and _in_macro_loop(node):
                onward |= states
            elif states and (how != "throw" or (self.throws and not self._tries)):
                self.leave(states, node, how)
        for name, (bits, node) in known.labels.items():
            if name not in self._passed:
                before = self._labels.get(name, (0, node))[0]
                self._labels[name] = (before | chosen(bits), node)
        return chosen(known.after) | onward

    def _enter(self, part: Control, mask: int) -> int:
        part.prepare()
        handler: Callable[[Control, int], int] | None = getattr(self, f"_on_{part.kind}", None)
        if handler is not None:
            return handler(part, mask)
        return self._region(part.regions[0], mask)

    def _on_if(self, part: Control, mask: int) -> int:
        condition = part.condition
        assert condition is not None
        yes, no = self._decide(condition, mask)
        key = condition.key
        known = self._splits.get(key) if key and mask else None
        asked = condition.region.end
        same = known is not None and known[2] == mask and known[3] <= part.start
        if known is not None and same and not self._touches(known[3], asked):
            on, off = known[:2]
            yes, no = (off, on) if condition.negated else (on, off)
        then = self._region(part.regions[0], yes)
        other = self._region(part.regions[1], no)
        if key and part.kind == "if" and then != other:
            pair = (other, then) if condition.negated else (then, other)
            self._splits[key] = (*pair, then | other, part.end)
        return then | other

    _on_ternary = _on_if

    def _on_and(self, part: Control, mask: int) -> int:
        yes, no = self._decide_logic(part, mask)
        return yes | no

    _on_or = _on_and

    def _on_assert(self, part: Control, mask: int) -> int:
        assert part.condition is not None
        self.asserting = True
        held = self._decide(part.condition, mask)[0]
        self.asserting = False
        return held

    def _on_while(self, part: Control, mask: int) -> int:
        return self._loop(part, mask, None)

    def _on_for(self, part: Control, mask: int) -> int:
        return self._loop(part, self._region(part.regions[1], mask), part.regions[2])

    def _loop(self, part: Control, mask: int, update: Region | None) -> int:
        condition = part.condition
        assert condition is not None
        yes, out = self._again(condition, mask)
        later = 0
        for _ in range(2):
            end, left = self._body(part.regions[0], yes)
            if update is not None:
                end = self._region(update, end)
            yes, no = self._again(condition, end)
            later |= left | no
            if not end or end == mask:
                break
        return self._after(out, later)

    def _again(self, condition: Condition, mask: int) -> tuple[int, int]:
        """Decide whether a loop continues."""
        self.repeating = True
        decided = self._decide(condition, mask)
        self.repeating = False
        return decided

    def _on_range(self, part: Control, mask: int) -> int:
        mask = self._region(part.regions[1], mask)
        later = 0
        end = mask
        for _ in range(2):
            end, left = self._body(part.regions[0], end)
            later |= left | end
        return self._after(mask, later)

    def _on_do(self, part: Control, mask: int) -> int:
        assert part.condition is not None
        out = 0
        for _ in range(2):
            end, left = self._body(part.regions[0], mask)
            mask, no = self._again(part.condition, end)
            out |= left | no
            if not mask:
                break
        return out

    def _body(self, body: Region, mask: int) -> tuple[int, int]:
        """Return the states at the end of a loop's body, and those that `break` carries out."""
        self._breaks.append(0)
        self._continues.append(0)
        end = self._region(body, mask) if mask else 0
        return end | self._continues.pop(), self._breaks.pop()

    def _after(self, skipped: int, through: int) -> int:
        if through and not through & self.optimistic:
            skipped &= ~self.optimistic
        return skipped | through

    def _on_switch(self, part: Control, mask: int) -> int:
        assert part.condition is not None
        mask = self._region(part.condition.region, mask)
        blocks = part.regions[0].parts
        self._breaks.append(0)
        current, default, cases = 0, False, 0
        for case in blocks[0].parts if blocks else ():
            if case.kind != "case":
                current = self._control(case, current)
                continue
            case.prepare()
            cases += 1
            default = default or not case.name
            current = self._region(case.regions[0], mask | current)
        through = current | self._breaks.pop()
        return through if default else self._after(mask, through) if cases else mask | through

    def _on_preproc(self, part: Control, mask: int) -> int:
        out = [self._region(arm, mask) for arm in part.regions]
        through = 0
        for after in out[:-1]:
            through |= after
        return self._after(out[-1], through) if out else mask

    def _on_try(self, part: Control, mask: int) -> int:
        self._tries += 1
        after = self._region(part.regions[0], mask)
        self._tries -= 1
        caught = mask | after
        for handler in part.regions[1:]:
            after |= self._region(handler, caught)
        return after

    def _on_return(self, part: Control, mask: int) -> int:
        mask = self._region(part.regions[0], mask)
        if mask:
            self.leave(mask, part.node, "return")
        return 0

    def _on_exit(self, part: Control, mask: int) -> int:
        self._region(part.regions[0], mask)
        return 0

    def _on_throw(self, part: Control, mask: int) -> int:
        mask = self._region(part.regions[0], mask)
        if mask and self.throws and not self._tries:
            self.leave(mask, part.node, "throw")
        return 0

    def _on_fail(self, part: Control, mask: int) -> int:
        return self._region(part.regions[0], mask) & ~self.doubtful

    def _on_break(self, part: Control, mask: int) -> int:
        return self._jump(self._breaks, part, mask)

    def _on_continue(self, part: Control, mask: int) -> int:
        return self._jump(self._continues, part, mask)

    def _jump(self, targets: list[int], part: Control, mask: int) -> int:
        if targets:
            targets[-1] |= mask
        elif mask and _in_macro_loop(part.node):
            return mask
        elif mask:
            self.leave(mask, part.node, part.kind)
        return 0

    def _on_goto(self, part: Control, mask: int) -> int:
        if part.name not in self._passed:
            before = self._labels.get(part.name, (0, part.node))[0]
            self._labels[part.name] = (before | mask, part.node)
        return 0

    def _on_label(self, part: Control, mask: int) -> int:
        self._passed.add(part.name)
        arriving = self._labels.pop(part.name, (0, part.node))[0]
        return self._region(part.regions[0], mask | arriving)

    def _decide(self, condition: Condition, mask: int) -> tuple[int, int]:
        """Return the states when the condition is true, and when it is false."""
        if condition.logic is not None:
            yes, no = self._decide_logic(condition.logic, mask)
        else:
            mask = self._region(condition.region, mask)
            yes = no = mask
            if condition.constant is not None:
                yes, no = (mask, 0) if condition.constant else (0, mask)
            elif condition.test is not None and condition.test[0] == self.name and mask:
                at = condition.region.start
                valid = condition.test[1]
                yes, no = self.narrow(mask, valid, at), self.narrow(mask, not valid, at)
        return (no, yes) if condition.negated else (yes, no)

    def _decide_logic(self, part: Control, mask: int) -> tuple[int, int]:
        self._fuel -= 1
        if self._fuel < 0:
            raise Exhausted
        part.prepare()
        assert part.condition is not None
        yes, no = self._decide(part.condition, mask)
        assert part.right is not None
        if part.kind == "and":
            second, third = self._decide(part.right, yes)
            if no & self.doubtful:
                no = self.doubt(no)
            return second, no | third
        second, third = self._decide(part.right, no)
        return yes | second, third


@dataclass(slots=True)
class _Summary:
    """Where control goes from a structure: bit 1 for sure states, bit 2 for doubtful ones."""

    after: int
    leaving: list[tuple[int, Node, str]]
    labels: dict[str, tuple[int, Node]]


class _Probe(Walker):
    """Walks one structure without any variable, to learn where control goes."""

    doubtful = 2
    throws = True

    def __init__(self, part: Control) -> None:
        super().__init__("\0", (), 2 * (part.end - part.start))
        self._leaving: list[tuple[int, Node, str]] = []
        after = self._enter(part, 3)
        self.result = _Summary(after, self._leaving, self._labels)

    def leave(self, mask: int, node: Node, how: str) -> None:
        """Note where control leaves."""
        self._leaving.append((mask, node, how))


def _in_macro_loop(node: Node) -> bool:
    """Return whether nothing around a `break` or `continue` is a loop: the name of a macro hides
    one (`LIST_FOREACH(...) { ... }`), and control continues behind it.
    """
    return not any(outer.type in _LOOPS for outer in ancestors(node))

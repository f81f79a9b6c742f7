"""A folder of cases with its truth table."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from cases.controls import CONTROLS, Control
from cases.families import all_shapes
from cases.flows import FLOWS, Flow
from cases.naming import Names, laid_out
from cases.shape import Shape
from cases.support import HEADER, support_files, system_headers
from cases.weave import Twin, framed

TRUTH = "truth.json"


@dataclass(frozen=True, slots=True)
class Row:
    """One function of the truth table, or all functions of a repaired twin."""

    case: str
    """Number of the case."""
    cwe: int
    """Family of the case."""
    shape: str
    """Functional variant."""
    variant: str
    """How the value or the control travels."""
    flawed: bool
    """Whether the flaw is here."""
    places: tuple[tuple[str, int, int], ...]
    """File with first and last line of each function; one for a flaw."""


def write_tree(
    folder: Path, seed: int = 1, per_family: int = 32, families: Collection[int] = ()
) -> list[Row]:
    """Write about `per_family` flaws of each family with their twins below `folder`.

    Only `families` when some are named. Returns the truth, which is also written as `truth.json`.
    """
    chooser = random.Random(seed)
    names = Names(chooser)
    rows: list[Row] = []
    for number, (shape, way) in enumerate(_chosen(chooser, per_family, families), 1):
        rows += _write_case(folder, f"{number:04}", shape, way, names, chooser)
    for name, text in support_files().items():
        (folder / name).write_text(laid_out(names.tree_wide(text))[0])
    (folder / TRUTH).write_text(json.dumps([asdict(row) for row in rows], indent=0))
    return rows


def write_programs(
    folder: Path, seed: int = 1, per_family: int = 12, families: Collection[int] = ()
) -> list[Row]:
    """Write a program of its own for each twin of about `per_family` cases of each family, which
    runs that twin and nothing else. Returns the truth; places of a repaired twin are all its
    functions.
    """
    chooser = random.Random(seed)
    names = Names(chooser)
    rows: list[Row] = []
    for number, (shape, way) in enumerate(_chosen(chooser, per_family, families), 1):
        for only in range(len(list(_twins(shape, way, random.Random(seed + number))))):
            twin = random.Random(seed + number)
            rows += _write_case(folder, f"{number:04}", shape, way, names, twin, only=only)
    for name, text in support_files().items():
        (folder / name).write_text(laid_out(names.tree_wide(text))[0])
    return rows


def _chosen(
    chooser: random.Random, per_family: int, families: Collection[int]
) -> Iterator[tuple[Shape, Control | Flow]]:
    """Pairs of a shape and a variant: shapes in turn, variants dealt so that all are used."""
    shapes: dict[int, list[Shape]] = {}
    for shape in all_shapes():
        if not families or shape.cwe in families:
            shapes.setdefault(shape.cwe, []).append(shape)
    deck: list[Control | Flow] = []
    for family in sorted(shapes):
        members = shapes[family]
        for turn in range(per_family):
            if turn % len(members) == 0:
                chooser.shuffle(members)
            shape = members[turn % len(members)]
            yield shape, _dealt(deck, shape, chooser)


def _dealt(deck: list[Control | Flow], shape: Shape, chooser: random.Random) -> Control | Flow:
    for refilled in (False, True):
        for at, way in enumerate(deck):
            if fits(shape, way):
                return deck.pop(at)
        if not refilled:
            fresh: list[Control | Flow] = [*CONTROLS, *FLOWS]
            chooser.shuffle(fresh)
            deck += fresh
    raise ValueError(f"no variant fits {shape.cwe} {shape.name}")


def fits(shape: Shape, way: Control | Flow) -> bool:
    """Whether a shape can be put into a variant."""
    if isinstance(way, Control):
        return not (way.uncertain and shape.certain)
    if shape.point or (way.cpp and not shape.cpp and "goto" in shape.sink):
        return False
    if way.apart and shape.unset:  # the source would be given a value that was never set
        return False
    kept = set(re.findall(r"\$\w+", shape.setup)) - {"$d"}
    if way.several and kept & set(re.findall(r"\$\w+", shape.sink + shape.checked)):
        return False
    return not (way.apart and kept & set(re.findall(r"\$\w+", shape.bad + shape.good)))


def _write_case(
    folder: Path,
    number: str,
    shape: Shape,
    way: Control | Flow,
    names: Names,
    chooser: random.Random,
    only: int | None = None,
) -> list[Row]:
    """Write the files of a case, with all its twins, or a program with the one of that place."""
    twins = list(_twins(shape, way, chooser))
    if only is not None:
        twins = [twins[only]]
    cpp = shape.cpp or (isinstance(way, Flow) and way.cpp)
    count = max(max(twin.files) for twin in twins) + 1
    stem = names.fresh("t")
    places: list[list[tuple[str, int, int, bool]]] = [[] for _ in twins]
    renamed = names.case()
    dressed = _Dress.chosen(chooser, cpp) if only is None else _Dress(False, True, False, True)
    for file in range(count):
        shared = (way.shared if isinstance(way, Control) else "") + shape.shared
        shared += twins[0].common.get(file, "")
        parts = [shared]
        for at, twin in enumerate(twins):
            own = shape.own if file == 0 or shape.own_everywhere else ""
            text = own + "\n".join(twin.files.get(file, []))
            parts.append(f"\x03{at}\n" + renamed.text(dressed.guarded(text, twin), str(at)))
        parts[0] = renamed.text(parts[0])
        if file == 0:
            parts.append(renamed.text(dressed.caller([f"$_main:{at}" for at in range(len(twins))])))
        bare = renamed.text(dressed.inside("\n".join(parts)))
        body = names.with_macros(bare)
        opening = "using namespace std;\n" if cpp else ""
        main = renamed.text(dressed.program()) if file == 0 else ""
        whole = f"{HEADER}{system_headers(bare, cpp)}{opening}{body}{main}"
        path = f"{stem}{chr(97 + file) if count > 1 else ''}.{'cpp' if cpp else 'c'}"
        laid, marks = laid_out(names.tree_wide(whole))
        (folder / path).write_text(laid)
        for at, first, last, sink in marks:
            places[at].append((path, first, last, sink))
    variant = way.name
    rows = []
    for twin, found in zip(twins, places, strict=True):
        spots = [spot[:3] for spot in found if spot[3] or not twin.flawed]
        rows.append(Row(number, shape.cwe, shape.name, variant, twin.flawed, tuple(spots)))
    return rows


@dataclass(frozen=True, slots=True)
class _Dress:
    """What stands around the functions of a case without changing what they do."""

    guards: bool
    """Each twin can be left out by a macro."""
    calls: bool
    """A function calls the first function of each twin, and a main function that."""
    space: bool
    """Everything lies in a namespace."""
    runs: bool = False
    """The main function is compiled whatever is defined."""

    @classmethod
    def chosen(cls, chooser: random.Random, cpp: bool) -> _Dress:
        draws = [chooser.random() < 0.5 for _ in range(3)]
        return cls(draws[0], draws[1], draws[2] and cpp)

    def guarded(self, text: str, twin: Twin) -> str:
        name = "$WITHOUT" if twin.flawed else "$LACKING"
        return f"#ifndef {name}\n{text}\n#endif\n" if self.guards else text

    def caller(self, first: list[str]) -> str:
        calls = "".join(f"{name}();\n" for name in first)
        return f"void $All(void)\n{{\n{calls}}}\n" if self.calls else ""

    def inside(self, text: str) -> str:
        return f"namespace $Space\n{{\n{text}\n}}\n" if self.space else text

    def program(self) -> str:
        if not self.calls:
            return ""
        using = "using namespace $Space;\n" if self.space else ""
        body = "srand((unsigned)time(NULL));\n@say(<text>);\n$All();\nreturn 0;\n"
        main = f"{using}int main(int $argc, char *$argv[])\n{{\n{body}}}\n"
        return main if self.runs else f"#ifdef $MAIN\n{main}#endif\n"


def _twins(shape: Shape, way: Control | Flow, chooser: random.Random) -> Iterator[Twin]:
    if shape.point:
        assert isinstance(way, Control)
        yield _point(shape, way, shape.sink, True, chooser)
        for good in (shape.good, *shape.more_good):
            yield _point(shape, way, good, False, chooser)
        return
    pairs = [(shape.bad, shape.sink, True)]
    if not shape.only_checked:
        pairs.append((shape.good, shape.sink, False))
    if shape.checked and not (isinstance(way, Flow) and shape.unset):
        pairs.append((shape.bad, shape.checked, False))
    for source, sink, flawed in pairs:
        if isinstance(way, Flow):
            twin = Twin(shape, source, shape.call or sink, flawed, sink)
            way.write(twin)
        else:
            twin = _controlled(shape, way, source, sink, flawed, chooser)
        yield twin


def _controlled(
    shape: Shape, way: Control, source: str, sink: str, flawed: bool, chooser: random.Random
) -> Twin:
    twin = Twin(shape, source, shape.call or sink, flawed, sink)
    sink = twin.sink
    other = shape.good if way.uncertain and flawed else source
    first = _wrapped(way, source, 1, flawed, chooser, other)
    if shape.checked and not shape.call:
        other = shape.checked if way.uncertain and flawed else sink
        sink = _wrapped(way, sink, 2, flawed, chooser, other)
    counters = "".join(f"int $i{n};\n" for n in (1, 2) if f"$i{n}" in first + sink)
    twin.main(twin.owner, counters, first, sink, sink=True)
    return twin


def _point(shape: Shape, way: Control, text: str, flawed: bool, chooser: random.Random) -> Twin:
    twin = Twin(shape, "", text, flawed)
    other = shape.good if way.uncertain and flawed else text
    body = _wrapped(way, text, 1, flawed, chooser, other)
    counter = "int $i1;\n" if "$i1" in body else ""
    if shape.head:
        twin.add(framed(shape.head, counter + shape.setup + body + shape.tail, True))
        twin.add(shape.after)
    else:
        twin.main(counter, shape.setup, body, shape.tail, sink=True)
    return twin


def _wrapped(
    way: Control, body: str, turn: int, flawed: bool, chooser: random.Random, other: str
) -> str:
    taken = flawed or chooser.random() < 0.5 or way.uncertain
    form = way.taken if taken else way.skipped
    dead = other if way.uncertain else "@say(<text>);"
    return form.replace("<body>", body).replace("<dead>", dead).replace("<n>", str(turn))


def read_truth(folder: Path) -> list[Row]:
    """The truth table of a folder that was written before."""
    rows = json.loads((folder / TRUTH).read_text())
    return [Row(**{**row, "places": tuple((f, a, b) for f, a, b in row["places"])}) for row in rows]

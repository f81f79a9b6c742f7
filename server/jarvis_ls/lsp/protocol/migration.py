"""The messages about moving C to Rust; part of `protocol`, in the same form."""

from __future__ import annotations

from typing import Literal

import attrs
from lsprotocol.types import ProgressToken, Range

MIGRATION = "jarvis/migration"
MIGRATION_RUN = "jarvis/migration/run"
MIGRATION_STOP = "jarvis/migration/stop"
MIGRATION_RUST = "jarvis/migration/rust"
MIGRATION_GRAPH = "jarvis/migration/graph"
MIGRATION_CHANGED = "jarvis/migrationChanged"

COMMAND_MIGRATE = "jarvis.migrate"
COMMAND_STOP_MIGRATION = "jarvis.stopMigration"
COMMAND_SHOW_RUST = "jarvis.showRust"

MigrationScope = Literal[
    "scan", "project", "file", "function", "resume", "verify", "lift", "rewrite", "revert"
]
StageState = Literal["todo", "running", "done", "failed"]
FunctionState = Literal["new", "c", "baseline", "idiomatic"]
NodeKind = Literal["function", "type", "global", "macro"]


@attrs.frozen
class MigrationParams:
    """Asks what is known of the migration of a folder of the workspace."""

    folder: str | None = None
    """URI of the folder; the first one when it is absent."""


@attrs.frozen
class MigrationCount:
    """How much of something there is in the crate."""

    name: str
    """`unsafe_functions`, `unsafe_lines` or `raw_pointers`."""
    before: int
    """Before a stage."""
    after: int
    """After it."""


@attrs.frozen
class MigrationStage:
    """One stage of the pipeline."""

    name: str
    """`scan`, `baseline`, `build`, …"""
    state: StageState
    """How far it is."""
    counts: list[MigrationCount]
    """What lifting has made less of."""
    at: float | None = None
    """When it was done, in seconds since 1970."""


@attrs.frozen
class MigrationPass:
    """One pass of lifting."""

    name: str
    """`references`, `slices`, …"""
    kept: bool
    """False when it is not in the crate."""
    why: str
    """Why it is not, in the user's language."""
    changed: int
    """Functions that are written otherwise after it."""
    refused: int
    """Functions it was taken back from: they did not build, or behaved otherwise."""
    counts: list[MigrationCount]
    """What it made less of."""


@attrs.frozen
class MigrationStrength:
    """How many small mistakes in the Rust the tests of equivalence find."""

    planted: int
    """Mistakes that were planted, each in a crate of its own."""
    killed: int
    """Those that a test has seen."""


@attrs.frozen
class MigrationFunction:
    """One function of the project."""

    id: int
    """Its number in `symbols.jsonl`."""
    step: int
    """Its step of the translation order; functions of one circle share it."""
    circle: bool
    """True when it is in a circle with others: they are translated together."""
    name: str
    """Its name."""
    uri: str
    """The C file."""
    path: str
    """The C file, relative to the folder."""
    range: Range
    """Its lines."""
    state: FunctionState
    """What it is written in; `new` before the first run."""
    reason: str
    """Why it is in C, in the user's language; empty when it is not."""
    tests: str
    """What the tests of equivalence say: `equal`, `differs`, `no_input`, `unstable`, `not_run`;
    empty when they say nothing."""
    tests_note: str
    """Why, what differs, or how many cases were equal."""


@attrs.frozen
class MigrationSkipped:
    """A file that is not translated at all."""

    uri: str
    """The file."""
    path: str
    """Relative to the folder."""
    reason: str
    """Why, in the user's language."""


@attrs.frozen
class MigrationResult:
    """What is known of the migration of a folder."""

    folder: str
    """URI of the folder; empty in a workspace without one."""
    revision: int
    """Number of the state; a higher one is newer."""
    trusted: bool
    """False in a workspace that is not trusted: nothing is read or run there."""
    running: bool
    """True while a scan or run continues."""
    stages: list[MigrationStage]
    """In the order of the pipeline."""
    functions: list[MigrationFunction]
    """In the order of translation."""
    skipped: list[MigrationSkipped]
    """Files that are not translated at all."""
    passes: list[MigrationPass]
    """Of lifting, in the order they were tried."""
    notes: list[str]
    """What the scan left out."""
    log: str
    """What cargo said, its end; empty when it had nothing to say."""
    partial: bool
    """True when only chosen files and functions are to be in Rust so far."""
    resumable: bool
    """True when a run began that did not come to its end."""
    crate: str | None = None
    """URI of the folder of the Rust crate, once there is one."""
    report: str | None = None
    """URI of the report of the last comparison, in Markdown, once there is one."""
    strength: MigrationStrength | None = None
    """Of the tests, once mistakes were planted."""


@attrs.frozen
class MigrationRunParams:
    """Asks for a scan or a run."""

    scope: MigrationScope
    """`scan` reads only; `resume` continues with what was asked for last; `verify` compares the
    crate with the C, `lift` makes better Rust of it; `rewrite` lets a model write one function,
    `revert` puts its baseline back."""
    folder: str | None = None
    """URI of the folder; that of `uri`, else the first one, when it is absent."""
    uri: str | None = None
    """The C file, for `file` and `function`; for `verify` that of the one function to compare."""
    function: str | None = None
    """Name of the function, for `function`, `verify`, `rewrite` and `revert`."""
    line: int | None = None
    """A line in the function, from 0, where its name is not known."""
    reset: bool | None = None
    """True: stages that are done are done again."""
    work_done_token: ProgressToken | None = None
    """Where the client wants the progress; the server makes a token when it is absent."""


@attrs.frozen
class MigrationRunResult:
    """What a scan or run did."""

    cancelled: bool
    """True when it was stopped; it continues where it was with `resume`."""
    functions: int
    """Functions of the project; after `verify` those that behave like the C, after `lift`
    passes over the crate that were kept."""
    left: int
    """Those that are in C; after `verify` those that were not compared or differ, after `lift`
    passes that were not kept."""
    skipped: int
    """Files that are not translated at all."""
    differs: int
    """After `verify`: functions, or programs, that behave differently."""
    again: bool
    """True when everything was done already."""
    milliseconds: int
    """How long it took."""
    counts: list[MigrationCount]
    """After `lift`: what there is less of."""
    crate: str | None = None
    """URI of the folder of the crate; absent after a scan."""
    told: str | None = None
    """After `rewrite` and `revert`: what became of the function, in the user's language."""


@attrs.frozen
class MigrationRustParams:
    """Asks where the Rust of a C function is."""

    uri: str
    """The C file."""
    function: str | None = None
    """Its name; else the function at `line`."""
    line: int | None = None
    """A line of it, from 0."""


@attrs.frozen
class MigrationRustResult:
    """The two sides of a function."""

    function: str
    """Its name; empty when there is none at the line."""
    state: FunctionState
    """What it is written in."""
    reason: str
    """Why there is no Rust, in the user's language."""
    c_range: Range
    """Its lines in C."""
    uri: str | None = None
    """The Rust file; absent when there is none."""
    range: Range | None = None
    """Its lines in Rust."""


@attrs.frozen
class MigrationGraphParams:
    """Asks for the picture of who refers to whom."""

    folder: str | None = None
    """URI of the folder; the first one when it is absent."""
    root: int | None = None
    """Number of a function: only it and what it needs; else the whole project."""
    kinds: list[NodeKind] | None = None
    """What is drawn; functions only when it is absent."""


@attrs.frozen
class GraphNode:
    """A symbol in the picture."""

    id: int
    """Its number in `symbols.jsonl`."""
    kind: NodeKind
    """What it is."""
    name: str
    """Its name."""
    path: str
    """Its file, relative to the folder."""
    line: int
    """Its line, from 1."""
    x: float
    """Left edge, in pixels."""
    y: float
    """Upper edge."""
    width: float
    """In pixels; all are of one height."""


@attrs.frozen
class GraphEdge:
    """One symbol refers to another."""

    source: int
    """Number of the one that refers."""
    target: int
    """Number of the other."""
    points: list[float]
    """x and y in turn: where the line begins, bends and ends."""


@attrs.frozen
class MigrationGraphResult:
    """Who refers to whom, laid out."""

    width: float
    """Of the picture, in pixels."""
    height: float
    """Of the picture, in pixels."""
    nodes: list[GraphNode]
    """In the order of reading: by layer, then from top to bottom."""
    edges: list[GraphEdge]
    """Among the nodes."""
    omitted: int
    """Symbols that are not drawn because there are too many; then there are no nodes."""


@attrs.frozen
class MigrationChangedParams:
    """Tells that a migration has changed, or how far a run is; at most ten times a second."""

    folder: str
    """URI of the folder."""
    revision: int
    """What `jarvis/migration` would answer now."""
    running: bool
    """True while a scan or run continues."""
    stage: str
    """The stage that is going on; empty when none is."""
    done: int
    """Parts of the stage that are done."""
    total: int
    """Parts of the stage; 0 when it has none."""

"""One agent of the tree: what it is for, what its type allows, and the states it goes through.

created → running ⇄ paused        running → completed | failed | cancelled
                                  paused → running | failed | cancelled
created → cancelled               completed | failed | cancelled → created (again)
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from jarvis_ls.agents.errors import ConstraintBroken, IllegalTransition
from jarvis_ls.runtime.agent.agent_view import NodeKeeper
from jarvis_ls.runtime.agent.typed_answer import AnswerForm, SchemaForm
from jarvis_ls.runtime.base.events import Budget, NodeInfo, NodeKind, NodeState
from jarvis_ls.runtime.base.messages import Image, Usage

if TYPE_CHECKING:
    from jarvis_ls.agents.agent_port import Worker
    from jarvis_ls.agents.loop_guard import LoopGuard

SUB_AGENT, STEER_AGENT = "sub_agent", "steer_agent"
"""Names of the tools that create children and look after them."""
TITLE_LENGTH = 80
PASSING = frozenset({"activity", "progress", "rounds"})
"""What changes all the time; it is shown now and then, and kept with what matters."""
FINAL: frozenset[NodeState] = frozenset({"completed", "failed", "cancelled"})
"""States in which nothing of a node runs."""
TRANSITIONS: Mapping[NodeState, frozenset[NodeState]] = {
    "created": frozenset({"running", "cancelled"}),
    "running": frozenset({"paused", *FINAL}),
    "paused": frozenset({"running", "failed", "cancelled"}),
    "completed": frozenset({"created"}),
    "failed": frozenset({"created"}),
    "cancelled": frozenset({"created"}),
}
"""The states that may follow each."""


@dataclass(frozen=True, slots=True)
class NodeType:
    """What all nodes of a kind have in common."""

    group: str
    """Model group that answers."""
    children: frozenset[NodeKind]
    """Kinds it may create; empty means none at all."""
    without: frozenset[str] = frozenset()
    """Tools it never has."""


TYPES: Mapping[NodeKind, NodeType] = {
    "root": NodeType("think", frozenset({"child", "act"})),
    "child": NodeType("balanced", frozenset({"child", "act"})),
    "act": NodeType("act", frozenset(), frozenset({SUB_AGENT, STEER_AGENT})),
}
"""The three kinds: the root talks with the user, an act-only one only runs tools."""


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """How a tree may grow: the `[agents]` section of the user's settings."""

    depth: int = 6
    """Levels below the root."""
    children: int = 64
    """Children of one node that have not ended."""
    nodes: int = 1_000
    """Nodes of one tree; in a full one those that ended longest ago make room."""
    parallel: int = 4
    """Children of one node that run at the same time; the others wait."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Model group by kind of node, where it is not the usual one."""
    budget: Budget = field(default_factory=Budget)
    """What a session may spend before the user is asked."""

    def group(self, kind: NodeKind) -> str:
        """Return the model group that answers for nodes of a kind."""
        return self.groups.get(kind) or TYPES[kind].group


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a node was created for."""

    task: str
    title: str = ""
    """A few words for the tree; empty takes them from the task."""
    kind: NodeKind = "child"
    background: str = ""
    """What the agent must know besides its task."""
    plan: str = ""
    """How to go about it."""
    files: tuple[str, ...] = ()
    """Files to begin with."""
    tools: tuple[str, ...] | None = None
    """Names of the only tools it may use; None means all of its creator."""
    group: str = ""
    """Model group; empty takes that of its kind."""
    profile: str = ""
    """Name of the file of an agent that it works by; empty means none."""
    code: bool = False
    """Whether it works by the rules for changing code, whatever its creator does."""
    budget: Budget = field(default_factory=Budget)
    """Of its own; those of all nodes above it hold as well."""
    answer: dict[str, Any] | None = None
    """JSON schema that its last answer must meet; None: it may be any text."""
    unattended: bool = False
    """Whether it ends when it repeats itself, because its creator corrects it; else the user is
    asked."""

    @property
    def shown(self) -> str:
        """The title, or the beginning of the task: one line without anything invisible.

        Raises `ConstraintBroken` when nothing is left of it.
        """
        line = next((x for x in (self.title or self.task).splitlines() if x.strip()), "")
        text = " ".join("".join(c if c.isprintable() else " " for c in line).split())
        if not text:
            raise ConstraintBroken("An agent needs a task and a title that can be read.")
        return text if len(text) <= TITLE_LENGTH else text[: TITLE_LENGTH - 1].rstrip() + "…"

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    @staticmethod
    def from_json(data: Any) -> Assignment:
        """Return the record `to_json` made. Raises `ValueError` when `data` is none."""
        try:
            values = dict(data)
            tools = values.get("tools")
            values["tools"] = tuple(map(str, tools)) if tools is not None else None
            values["files"] = tuple(map(str, values.get("files", ())))
            values["budget"] = Budget(**values.get("budget", {}))
            return Assignment(**values)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not an assignment: {error}") from error


@dataclass(frozen=True, slots=True)
class Ending:
    """How the work of a node ended."""

    state: NodeState
    """`completed`, `failed` or `cancelled`."""
    text: str = ""
    """The result, or what there is of it."""
    error: str = ""
    """Why there is no whole result."""
    value: Any = None
    """What a typed answer says (see `Node.form`); None where any text was one."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens and cost together."""

    tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.tokens - other.tokens, self.cost - other.cost)


class Node(NodeKeeper):
    """A live node; only its tree changes it."""

    def __init__(
        self,
        info: NodeInfo,
        assignment: Assignment,
        parent: Node | None,
        changed: Callable[[Node, bool], None],
        form: AnswerForm | None = None,
    ) -> None:
        """Create a node.

        `changed` is called with every change of `info`, and whether it must be kept on disk.
        Without a `form` its last answer must meet the schema that the assignment names, if any.
        """
        self.info = info
        self.assignment = assignment
        self.parent = parent
        self.form = form
        """What its last answer must be."""
        if form is None and assignment.answer is not None:
            self.form = SchemaForm(assignment.answer)
        self.children: dict[str, Node] = {}
        self.ending: Ending | None = None
        """How its work ended last."""
        self.worker: Worker | None = None
        """The agent, once it has begun."""
        self.at_work = False
        """Whether the agent works on a task right now; what is said reaches it at once."""
        self.job: asyncio.Task[None] | None = None
        """What drives the agent."""
        self.open = asyncio.Event()
        """Set while the node is not held."""
        self.open.set()
        self.inbox: deque[Said] = deque()
        """Its next message."""
        self.watch: LoopGuard | None = None
        """The watch over what its agent repeats."""
        self.news = asyncio.Event()
        """Something came into the inbox, or a child in the background has ended."""
        self.waiters: list[asyncio.Future[Ending]] = []
        """Tools of the parent that wait for the ending."""
        self.places: asyncio.Semaphore | None = None
        """How many of its children may run now."""
        self.held = Amount()
        """What calls that are under way below it may cost at most."""
        self.guessed = Amount()
        """What calls below it are estimated to have cost that no one reported on."""
        self.room: list[asyncio.Future[None]] = []
        """Calls that wait until others are paid."""
        self.asking = asyncio.Lock()
        """One question about the budget at a time."""
        self.refused = False
        """The user does not want more to be spent."""
        self._changed = changed

    @property
    def id(self) -> str:
        """Unique in the session."""
        return self.info.id

    @property
    def kind(self) -> NodeKind:
        """Root, child, or act-only."""
        return self.info.kind

    @property
    def state(self) -> NodeState:
        """The state in its life cycle."""
        return self.info.state

    @property
    def final(self) -> bool:
        """Nothing of it runs."""
        return self.info.state in FINAL

    @property
    def depth(self) -> int:
        """Levels between it and the root."""
        return sum(1 for _ in self.lineage()) - 1

    def lineage(self) -> Iterator[Node]:
        """Yield the node, its parent, and so on up to the root."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def subtree(self) -> Iterator[Node]:
        """Yield the node and all below it, level by level."""
        waiting = deque([self])
        while waiting:
            node = waiting.popleft()
            yield node
            waiting.extend(node.children.values())

    def may_use(self, tool: str) -> bool:
        """Return whether its type allows a tool, and its own assignment and those of all above it.
        Who may create agents may look after them.
        """
        if tool in TYPES[self.kind].without:
            return False
        named = SUB_AGENT if tool == STEER_AGENT else tool
        chosen = [node.assignment.tools for node in self.lineage()]
        return all(tools is None or tool in tools or named in tools for tools in chosen)

    def to(self, state: NodeState, *, error: str = "", activity: str = "") -> None:
        """Go to another state. Raises `IllegalTransition` when it cannot follow this one."""
        if state not in TRANSITIONS[self.info.state]:
            raise IllegalTransition(
                "“{title}” is {state} and cannot become {wanted}.",
                title=self.info.title,
                state=self.info.state,
                wanted=state,
            )
        self.info = replace(self.info, state=state, error=error, activity=activity)
        self._changed(self, True)

    def show(self, **changes: Any) -> None:
        """Change what people see beside the state: `activity`, `progress`, `rounds`, `group`."""
        changed = replace(self.info, **changes)
        if changed != self.info:
            self.info = changed
            self._changed(self, not changes.keys() <= PASSING)

    def shown(self, node: NodeInfo) -> None:
        """See `NodeKeeper`. States and sums are the tree's own."""
        progress = self.info.progress if node.progress is None else node.progress
        self.show(activity=node.activity, rounds=node.rounds, progress=progress)

    def allow(self, budget: Budget) -> None:
        """Give it another budget; calls that wait look again."""
        self.info = replace(self.info, budget=budget)
        self.refused = False
        self._changed(self, True)
        self.wake()

    def spend(self, usage: Usage) -> None:
        """Count what a provider reported, here and in every node above."""
        if usage == Usage():
            return
        self.info = replace(self.info, usage=self.info.usage + usage)
        for node in self.lineage():
            node.info = replace(node.info, subtree=node.info.subtree + usage)
            node._changed(node, True)

    def guess(self, amount: Amount) -> None:
        """Count what was not reported towards the budgets, here and in every node above."""
        for node in self.lineage():
            node.guessed = node.guessed + amount

    def hold(self, amount: Amount) -> None:
        """Keep back what a call may cost, here and in every node above."""
        for node in self.lineage():
            node.held = node.held + amount

    def release(self, amount: Amount) -> None:
        """Give back what was held; calls that wait look again."""
        for node in self.lineage():
            node.held = node.held - amount
            node.wake()

    def wake(self) -> None:
        """Let calls that wait for room look again."""
        waiting, self.room = self.room, []
        for future in waiting:
            if not future.done():
                future.set_result(None)


@dataclass(frozen=True, slots=True)
class Said:
    """A message to a node."""

    text: str
    images: tuple[Image, ...] = ()

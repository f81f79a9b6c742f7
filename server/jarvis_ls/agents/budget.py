"""Budgets: what a node and all below it may spend, kept before every call of a model.

A call reserves what it may cost in its node and in every node above. When that would exceed a
budget, calls under way are waited for; if it still would, the user is asked, once for all who
wait, and the budget grows by what is granted. Else the agent ends with what it has. Usage is
counted from what the provider reports for each request, also for those that broke off; where it
reports nothing, the estimate counts towards the budget (and is shown nowhere else).

A prompt is estimated from its text, corrected by what the provider counted before; an answer is
expected to be as long as the longest so far. So a budget is overdrawn by at most what one answer
of each running agent exceeds that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from jarvis_ls.agents.node import Amount, Node
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent.guard import Halted
from jarvis_ls.runtime.base.events import Budget
from jarvis_ls.runtime.base.messages import Usage
from jarvis_ls.runtime.llm.model_group import CallGuard
from jarvis_ls.runtime.llm.platforms.base import ModelInfo, Request
from jarvis_ls.runtime.llm.token_estimate import Counter, of_messages, of_tools
from jarvis_ls.runtime.tools.interaction import Interaction

STOP, NO_LIMIT = Words("Stop"), Words("Continue without a limit")
EXPECTED = 256
"""Tokens the first answer is expected to have."""


@dataclass(frozen=True, slots=True)
class _Reserved:
    amount: Amount
    estimated: int
    """Tokens of the prompt before correction."""


class Meter(CallGuard):
    """Checks the calls of one node."""

    def __init__(
        self, node: Node, interaction: Interaction, spent: Callable[[Node, Usage], None]
    ) -> None:
        """`interaction` is asked when a budget is used up; `spent` is called for each request."""
        self._node = node
        self._spent = spent
        self._interaction = interaction
        self._counter = Counter()
        self._expected = EXPECTED
        self._reserved: list[_Reserved] = []

    async def before(self, request: Request, model: ModelInfo) -> None:
        """Reserve what the request may cost. Raises `Halted` when that is refused."""
        estimated = of_messages(request.messages) + of_tools(request.tools)
        prompt = self._counter.corrected(estimated)
        answer = min(self._expected, request.max_output or self._expected)
        cost = model.price(Usage(input=prompt, output=answer))
        amount = Amount(prompt + answer, cost)
        await reserve(self._node, amount, self._interaction)
        self._reserved.append(_Reserved(amount, estimated))

    def after(self, usage: Usage, answered: bool) -> None:
        """Count what the request cost; a provider that reports nothing is not free of limits."""
        reserved = self._reserved.pop(0)
        self._counter.learn(reserved.estimated, usage.input)
        self._expected = max(self._expected, usage.output)
        try:
            self._node.spend(usage)
            self._spent(self._node, usage)
            if answered and usage == Usage():
                self._node.guess(reserved.amount)
        finally:
            self._node.release(reserved.amount)


async def reserve(node: Node, amount: Amount, interaction: Interaction) -> None:
    """Hold `amount` in the node and all above it, as soon as no budget is exceeded by it.

    Raises `Halted` when the user, asked for more, wants the work to end.
    """
    while (owner := _short(node, amount)) is not None:
        if _fits(owner, owner.info.budget, amount, held=False):
            await _room(owner)
        else:
            await _ask(owner, amount, interaction)
    node.hold(amount)


def _short(node: Node, amount: Amount) -> Node | None:
    """Return the nearest node above whose budget does not allow `amount`."""
    for owner in node.lineage():
        if not _fits(owner, owner.info.budget, amount, held=True):
            return owner
    return None


def _fits(owner: Node, budget: Budget, amount: Amount, *, held: bool) -> bool:
    wanted = _usage(owner) + amount
    if held:
        wanted = wanted + owner.held
    if budget.tokens is not None and wanted.tokens > budget.tokens:
        return False
    return budget.cost is None or wanted.cost <= budget.cost + 1e-12


def _usage(owner: Node) -> Amount:
    """Return the amount that counts towards a budget: reported usage and estimates of the rest."""
    spent = owner.info.subtree
    return Amount(spent.input + spent.output, spent.cost) + owner.guessed


async def _room(owner: Node) -> None:
    """Until something that was held is paid or returned."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    owner.room.append(future)
    await future


async def _ask(owner: Node, amount: Amount, interaction: Interaction) -> None:
    before = owner.info.budget
    async with owner.asking:
        if owner.info.budget != before:  # someone else who waited has asked
            return
        if owner.refused:
            raise Halted(_used_up(owner))
        more = _more(owner, amount)
        grant = Words("Allow {amount} more", amount=amount_in_words(more))
        answer = await interaction.question(
            owner.id,
            Words("{used} The next model call would exceed it. Continue?", used=_used_up(owner)),
            (grant, NO_LIMIT, STOP),
            STOP,
        )
        if owner.info.budget != before:  # it was changed while the question stood
            return
        if answer == grant:
            owner.allow(_raise_limits(before, more))
        elif answer == NO_LIMIT:
            owner.allow(Budget())
        else:
            owner.refused = True
            raise Halted(_used_up(owner))


def _more(owner: Node, amount: Amount) -> Budget:
    """Return the increase to offer: the first budget again, and at least enough for the call."""
    budget, first = owner.info.budget, owner.assignment.budget
    used = _usage(owner)
    tokens = cost = None
    lacks_tokens = not _fits(owner, Budget(tokens=budget.tokens), amount, held=False)
    lacks_cost = not _fits(owner, Budget(cost=budget.cost), amount, held=False)
    if lacks_tokens and budget.tokens is not None:
        over = used.tokens + amount.tokens - budget.tokens
        tokens = max(first.tokens or budget.tokens, 2 * over)
    if lacks_cost and budget.cost is not None:
        cost = max(first.cost or budget.cost, 2 * (used.cost + amount.cost - budget.cost))
    return Budget(tokens, cost)


def _raise_limits(budget: Budget, more: Budget) -> Budget:
    return Budget(
        None if budget.tokens is None else budget.tokens + (more.tokens or 0),
        None if budget.cost is None else budget.cost + (more.cost or 0.0),
    )


def spent_in_words(owner: Node) -> str:
    """Return the budget and the usage of a node with its subtree, in words."""
    if owner.info.budget == Budget():
        used = _usage(owner)
        return Words(
            "No budget is set; {spent} is used.",
            spent=amount_in_words(Budget(used.tokens, used.cost or None)),
        )
    return _used_up(owner)


def _used_up(owner: Node) -> str:
    used = _usage(owner)
    spent = Budget(
        used.tokens if owner.info.budget.tokens is not None else None,
        used.cost if owner.info.budget.cost is not None else None,
    )
    return Words(
        "The budget of “{title}” is {budget}; {spent} is used.",
        title=owner.info.title,
        budget=amount_in_words(owner.info.budget),
        spent=amount_in_words(spent),
    )


def amount_in_words(budget: Budget) -> str:
    """Tokens, cost, or both."""
    parts = []
    if budget.tokens is not None:
        parts.append(Words("{n} tokens", n=f"{budget.tokens:,}"))
    if budget.cost is not None:
        parts.append(Words("{sum} in cost", sum=f"{budget.cost:.4f}"))
    if not parts:
        return Words("no limit")
    return Words("{first} and {last}", first=parts[0], last=parts[1]) if parts[1:] else parts[0]

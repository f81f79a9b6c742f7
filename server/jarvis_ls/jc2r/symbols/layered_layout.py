"""A layered drawing of who refers to whom: places of nodes and bends of lines.

The method of Sugiyama, Tagawa and Toda (1981), from left to right: circles are broken by turning
the lines that close them, a node's layer is its longest way from a node no one refers to, lines
that span several layers get a bend in each (one for all lines to a node), the order within a layer
is improved by barycentres (Eades and Wormald), and places come from least squares under the
spacing, solved exactly by pooling adjacent violators. Parts that hang together are laid out on
their own and stacked.

It is written here because no library fits: Graphviz is a program that is often missing, grandalf is
under GPLv2 or EPLv1, igraph under the GPL, and a JavaScript library draws nothing for `jc2r scan`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HEIGHT = 22.0
"""Of a node, in pixels."""
GAP = 8.0
"""Between nodes of one layer."""
LAYER_GAP = 56.0
"""Between layers, for the lines."""
BEND = 6.0
"""Height of a line that passes a layer."""
MARGIN = 12.0
COLUMNS_WIDTH = 900.0
"""How wide nodes that nothing refers to, and that refer to nothing, are set in rows."""
SWEEPS = 12
"""How often layers are put in order, and places are settled."""
WORK = 60_000
"""Nodes, bends and sections of lines times sweeps: larger graphs are swept less often."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is, in pixels."""

    width: float
    height: float
    places: tuple[tuple[float, float], ...]
    """Left upper corner of each node."""
    lines: dict[tuple[int, int], tuple[float, ...]]
    """x and y in turn of each line's points, from the one that refers to the other."""


def lay_out(widths: Sequence[float], edges: Sequence[tuple[int, int]]) -> Layout:
    """Place nodes of these widths, numbered from 0. Lines from a node to itself are left out."""
    count = len(widths)
    wanted = sorted({(a, b) for a, b in edges if a != b})
    places: list[tuple[float, float]] = [(0.0, 0.0)] * count
    lines: dict[tuple[int, int], tuple[float, ...]] = {}
    width, top = 0.0, MARGIN
    parts, alone = _parts(count, wanted)
    for nodes, own in parts:
        part = _Part(nodes, own, widths)
        for node, (x, y) in part.places().items():
            places[node] = (x + MARGIN, y + top)
        for edge, points in part.lines().items():
            lines[edge] = tuple(
                round(value + (top if at % 2 else MARGIN), 1) for at, value in enumerate(points)
            )
        width = max(width, part.width)
        top += part.height + 2 * GAP
    x, limit = 0.0, max(width, COLUMNS_WIDTH)
    for node in alone:
        if x > 0 and x + widths[node] > limit:
            x, top = 0.0, top + HEIGHT + GAP
        places[node] = (x + MARGIN, top)
        x += widths[node] + GAP
        width = max(width, x - GAP)
    if alone:
        top += HEIGHT + GAP
    rounded = tuple((round(x, 1), round(y, 1)) for x, y in places)
    return Layout(round(width + 2 * MARGIN, 1), round(top - GAP + MARGIN, 1), rounded, lines)


def _parts(
    count: int, edges: Sequence[tuple[int, int]]
) -> tuple[list[tuple[list[int], list[tuple[int, int]]]], list[int]]:
    """Return the connected components, the largest first, with their edges; and the nodes without
    any.
    """
    parent = list(range(count))

    def find(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b in edges:
        parent[find(a)] = find(b)
    nodes: dict[int, list[int]] = {}
    own: dict[int, list[tuple[int, int]]] = {}
    for node in range(count):
        nodes.setdefault(find(node), []).append(node)
    for edge in edges:
        own.setdefault(find(edge[0]), []).append(edge)
    parts = [(members, own[root]) for root, members in nodes.items() if root in own]
    parts.sort(key=lambda part: (-len(part[0]), part[0]))
    return parts, [members[0] for root, members in nodes.items() if root not in own]


class _Part:
    """Nodes that hang together. Bends are nodes with numbers from `len(widths)` on."""

    def __init__(
        self, nodes: list[int], edges: list[tuple[int, int]], widths: Sequence[float]
    ) -> None:
        self._widths = widths
        self._first_bend = len(widths)
        turned = _break_cycles(nodes, edges)
        self._layer = _layers(nodes, turned.values())
        self._chains: dict[tuple[int, int], list[int]] = {}
        """The way of each edge through the layers, from left to right."""
        self._bends: dict[tuple[int, int], int] = {}
        """Of lines to a node in a layer."""
        self._right: dict[int, list[int]] = {node: [] for node in nodes}
        self._left: dict[int, list[int]] = {node: [] for node in nodes}
        for edge in edges:
            self._chains[edge] = self._chain(*turned[edge])
        self._layers: list[list[int]] = []
        for node in sorted(self._layer, key=lambda node: (self._layer[node], node)):
            while len(self._layers) <= self._layer[node]:
                self._layers.append([])
            self._layers[self._layer[node]].append(node)
        size = len(self._layer) + sum(len(chain) for chain in self._chains.values())
        self._sweeps = max(2, min(SWEEPS, WORK // size))
        self._column_widths = [max(self._width(node) for node in layer) for layer in self._layers]
        self._order()
        self._y = self._coordinates()
        self._x = self._columns()
        self.width = max(self._x[n] + self._width(n) for n in nodes)
        self.height = max(self._y.values()) + HEIGHT

    def places(self) -> dict[int, tuple[float, float]]:
        return {n: (self._x[n], self._y[n]) for n in self._layer if n < self._first_bend}

    def lines(self) -> dict[tuple[int, int], list[float]]:
        found = {}
        for edge, chain in self._chains.items():
            points = [self._x[chain[0]] + self._width(chain[0]), self._middle(chain[0])]
            for bend in chain[1:-1]:
                column = self._column_widths[self._layer[bend]]
                points += [
                    self._x[bend],
                    self._middle(bend),
                    self._x[bend] + column,
                    self._middle(bend),
                ]
            points += [self._x[chain[-1]], self._middle(chain[-1])]
            if chain[0] != edge[0]:  # it was turned
                pairs = list(zip(points[::2], points[1::2], strict=True))[::-1]
                points = [value for pair in pairs for value in pair]
            found[edge] = points
        return found

    def _chain(self, start: int, end: int) -> list[int]:
        """Lines to one node run together: there is one bend a layer for all of them."""
        chain = [start]
        for layer in range(self._layer[start] + 1, self._layer[end]):
            bend = self._bends.get((end, layer))
            if bend is None:
                bend = self._bends[end, layer] = self._first_bend + len(self._bends)
                self._layer[bend] = layer
                self._right[bend], self._left[bend] = [], []
            chain.append(bend)
        chain.append(end)
        for a, b in itertools.pairwise(chain):
            if b not in self._right[a]:
                self._right[a].append(b)
                self._left[b].append(a)
        return chain

    def _width(self, node: int) -> float:
        return self._widths[node] if node < self._first_bend else 0.0

    def _middle(self, node: int) -> float:
        return self._y[node] + HEIGHT / 2

    def _order(self) -> None:
        """Sweep to and fro; each layer is sorted by where the neighbours of its nodes are."""
        best, fewest = [list(layer) for layer in self._layers], self._crossings()
        for sweep in range(self._sweeps):
            forth = sweep % 2 == 0
            sequence = self._layers[1:] if forth else self._layers[-2::-1]
            neighbours = self._left if forth else self._right
            at = {node: index for layer in self._layers for index, node in enumerate(layer)}
            for layer in sequence:
                centre = {
                    node: sum(at[other] for other in neighbours[node]) / len(neighbours[node])
                    if neighbours[node]
                    else float(at[node])
                    for node in layer
                }
                layer.sort(key=lambda node: (centre[node], at[node]))
                at.update({node: index for index, node in enumerate(layer)})
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(layer) for layer in self._layers], crossings
        self._layers = best

    def _crossings(self) -> int:
        """Pairs of lines that cross, counted layer by layer with a tree of sums."""
        total = 0
        for left, right in itertools.pairwise(self._layers):
            at = {node: index for index, node in enumerate(right)}
            ends = [end for node in left for end in sorted(at[b] for b in self._right[node])]
            tree = [0] * (len(right) + 1)
            for seen, end in enumerate(ends):
                index, before = end + 1, 0
                while index > 0:
                    before += tree[index]
                    index -= index & -index
                total += seen - before
                index = end + 1
                while index <= len(right):
                    tree[index] += 1
                    index += index & -index
        return total

    def _coordinates(self) -> dict[int, float]:
        y: dict[int, float] = {}
        for layer in self._layers:
            y.update(zip(layer, self._offsets(layer), strict=True))
        for sweep in range(self._sweeps):
            for layer in self._layers if sweep % 2 == 0 else self._layers[::-1]:
                wanted = []
                for node in layer:
                    others = [*self._left[node], *self._right[node]]
                    wanted.append(sum(y[other] for other in others) / len(others))
                offsets = self._offsets(layer)
                free = _pool_adjacent_violators(
                    [w - o for w, o in zip(wanted, offsets, strict=True)]
                )
                y.update({n: f + o for n, f, o in zip(layer, free, offsets, strict=True)})
        lowest = min(y.values())
        return {node: value - lowest for node, value in y.items()}

    def _offsets(self, layer: Sequence[int]) -> list[float]:
        """Return how far below the first node of a layer each must at least be."""
        found, at = [], 0.0
        for node in layer:
            found.append(at)
            at += (HEIGHT if node < self._first_bend else BEND) + GAP
        return found

    def _columns(self) -> dict[int, float]:
        found, x = {}, 0.0
        for layer in self._layers:
            for node in layer:
                found[node] = x
            x += self._column_widths[self._layer[layer[0]]] + LAYER_GAP
        return found


def _break_cycles(
    nodes: Sequence[int], edges: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Each edge, turned round when it closes a circle in a search in depth."""
    following: dict[int, list[int]] = {node: [] for node in nodes}
    entered = set()
    for a, b in edges:
        following[a].append(b)
        entered.add(b)
    found: dict[tuple[int, int], tuple[int, int]] = {}
    state: dict[int, int] = {}
    for start in [*(n for n in nodes if n not in entered), *nodes]:
        if start in state:
            continue
        state[start] = 1
        stack = [(start, iter(following[start]))]
        while stack:
            node, rest = stack[-1]
            for other in rest:
                closes = state.get(other) == 1
                found[node, other] = (other, node) if closes else (node, other)
                if other not in state:
                    state[other] = 1
                    stack.append((other, iter(following[other])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return found


def _layers(nodes: Sequence[int], edges: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return the longest way to each node, edges being without circles."""
    following: dict[int, list[int]] = {node: [] for node in nodes}
    open_edges = dict.fromkeys(nodes, 0)
    for a, b in sorted(set(edges)):
        following[a].append(b)
        open_edges[b] += 1
    layer = dict.fromkeys(nodes, 0)
    ready = [node for node in nodes if not open_edges[node]]
    while ready:
        node = ready.pop()
        for other in following[node]:
            layer[other] = max(layer[other], layer[node] + 1)
            open_edges[other] -= 1
            if not open_edges[other]:
                ready.append(other)
    return layer


def _pool_adjacent_violators(wanted: Sequence[float]) -> list[float]:
    """Return the numbers nearest to those wanted, by least squares, that never fall."""
    blocks: list[tuple[float, int]] = []
    for value in wanted:
        block = (value, 1)
        while blocks and blocks[-1][0] > block[0]:
            mean, size = blocks.pop()
            both = size + block[1]
            block = ((mean * size + block[0] * block[1]) / both, both)
        blocks.append(block)
    return [mean for mean, size in blocks for _ in range(size)]

"""In which order symbols are translated: what is used comes before what uses it.

Symbols that use each other in a circle are one step (strongly connected components, Tarjan 1972,
without recursion). Types and globals are in the order too: a function needs them first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jarvis_ls.jc2r.symbols.symbol import Table

_RANK = {"macro": 0, "type": 1, "global": 2, "function": 3}


def components(refs: Sequence[Sequence[int]]) -> list[list[int]]:
    """Strongly connected components of a graph, those that are used first; numbers from 0.

    `refs[n]` are the nodes that node `n` uses. The result depends on the graph alone.
    """
    index = [0] * len(refs)
    low = [0] * len(refs)
    on_stack = [False] * len(refs)
    stack: list[int] = []
    found: list[list[int]] = []
    count = 0
    for start in range(len(refs)):
        if index[start]:
            continue
        work = [(start, 0)]
        while work:
            node, position = work.pop()
            if position == 0:
                count += 1
                index[node] = low[node] = count
                stack.append(node)
                on_stack[node] = True
            entered = False
            for place in range(position, len(refs[node])):
                other = refs[node][place]
                if not index[other]:
                    work += [(node, place + 1), (other, 0)]
                    entered = True
                    break
                if on_stack[other]:
                    low[node] = min(low[node], index[other])
            if entered:
                continue
            if low[node] == index[node]:
                component = []
                while True:
                    member = stack.pop()
                    on_stack[member] = False
                    component.append(member)
                    if member == node:
                        break
                found.append(sorted(component))
            if work:
                above = work[-1][0]
                low[above] = min(low[above], low[node])
    return found


def steps(table: Table, chosen: set[int] | None = None) -> list[dict[str, Any]]:
    """Lines of `translation_order.jsonl`: for each step the ids and the symbols in short.

    `chosen` limits them to some ids. Within what the uses allow, symbols keep the order of types,
    globals, functions, and of files and places.
    """
    ids = [
        number
        for number, symbol in enumerate(table.symbols, 1)
        if symbol.category != "macro" and (chosen is None or number in chosen)
    ]
    ids.sort(key=lambda n: (_RANK[table.symbols[n - 1].category], n))
    place = {n: at for at, n in enumerate(ids)}
    graph = [sorted(place[r] for r in table.refs[n - 1] if r in place) for n in ids]
    found = []
    for number, component in enumerate(components(graph), 1):
        members = [ids[at] for at in component]
        symbols = [table.symbols[n - 1] for n in members]
        found.append(
            {
                "step": number,
                "ids": members,
                "group": len(members) > 1,
                "items": [
                    {
                        "id": n,
                        "name": symbol.name,
                        "qualified_name": symbol.qualified_name,
                        "category": symbol.category,
                        "file": symbol.file,
                        "start_line": symbol.start_line,
                        "end_line": symbol.end_line,
                        "signature": symbol.signature,
                        "language": symbol.language,
                        "ref_ids": table.refs[n - 1],
                    }
                    for n, symbol in zip(members, symbols, strict=True)
                ],
            }
        )
    return found


def roots(table: Table) -> list[int]:
    """Ids of functions the project never refers to (but perhaps themselves), in order."""
    used = {other for number, refs in enumerate(table.refs, 1) for other in refs if other != number}
    return [
        number
        for number, symbol in enumerate(table.symbols, 1)
        if symbol.category == "function" and number not in used
    ]


def reachable(table: Table, start: int) -> set[int]:
    """Ids of everything a symbol needs, itself included."""
    found = {start}
    stack = [start]
    while stack:
        for other in table.refs[stack.pop() - 1]:
            if other not in found:
                found.add(other)
                stack.append(other)
    return found

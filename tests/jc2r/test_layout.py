"""Pictures of graphs: nothing overlaps, every line goes from its node to its node."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_ls.jc2r.symbols.layered_layout import HEIGHT, lay_out
from jarvis_ls.jc2r.symbols.reference_graph import DrawnNode, Picture, path_of, svg_of

WIDTHS = st.lists(st.floats(16, 300), min_size=1, max_size=24)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[float], list[tuple[int, int]]]:
    widths = draw(WIDTHS)
    node = st.integers(0, len(widths) - 1)
    return widths, draw(st.lists(st.tuples(node, node), max_size=60))


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_nodes_do_not_overlap_and_lines_join_what_they_belong_to(
    graph: tuple[list[float], list[tuple[int, int]]],
) -> None:
    widths, edges = graph
    found = lay_out(widths, edges)
    assert found == lay_out(widths, list(reversed(edges))), "the same, whatever the order"
    boxes = [(x, y, x + w, y + HEIGHT) for (x, y), w in zip(found.places, widths, strict=True)]
    for one, other in itertools.combinations(boxes, 2):
        apart = one[2] <= other[0] + 0.2 or other[2] <= one[0] + 0.2
        assert apart or one[3] <= other[1] + 0.2 or other[3] <= one[1] + 0.2
    for left, top, right, bottom in boxes:
        assert left >= 0 and top >= 0 and right <= found.width + 0.2
        assert bottom <= found.height + 0.2
    assert set(found.lines) == {(a, b) for a, b in edges if a != b}
    for (a, b), points in found.lines.items():
        for node, (x, y) in ((a, points[:2]), (b, points[-2:])):
            left, top, right, _ = boxes[node]
            assert min(abs(x - left), abs(x - right)) < 0.3, "at a side of its node"
            assert abs(y - top - HEIGHT / 2) < 0.3, "at its middle"


def test_a_caller_is_left_of_what_it_calls() -> None:
    found = lay_out([50.0] * 4, [(0, 1), (1, 2), (0, 2), (3, 2)])
    columns = [x for x, _ in found.places]
    assert columns[0] < columns[1] < columns[2] and columns[3] < columns[2]


def test_a_thousand_functions_in_a_row_and_in_a_circle() -> None:
    chain = [(n, n + 1) for n in range(999)]
    assert lay_out([40.0] * 1000, chain).places[999][0] > 90_000
    circle = lay_out([40.0] * 1000, [*chain, (999, 0)])
    assert len(circle.lines) == 1000


def test_names_of_a_project_are_text_in_the_picture() -> None:
    name = '<script>alert(1)</script>&"\x01'
    node = DrawnNode(1, "function", name, "a<b.c", 3, 1.0, 2.0, 80.0)
    document = ElementTree.fromstring(svg_of(Picture(100, 50, (node,), ()), "t<i>tle"))
    texts = [one.text for one in document.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ['<script>alert(1)</script>&"\N{REPLACEMENT CHARACTER}']
    assert not list(document.iter("{http://www.w3.org/2000/svg}script"))


def test_lines_are_straight_where_they_can_be() -> None:
    assert path_of((0, 5, 10, 5, 20, 9)) == "M0 5L10 5C15 5 15 9 20 9"

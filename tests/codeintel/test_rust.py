"""Rust: which items only tests run, what declarations say, what a name means at a place."""

from __future__ import annotations

import pytest

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.functions import Function, Unit
from jarvis_ls.codeintel.headers import item_facts, merge_items
from jarvis_ls.codeintel.parse import captures, compile_query, parse
from jarvis_ls.codeintel.rust_tests import is_test_attribute, is_test_path
from jarvis_ls.codeintel.source import Source
from jarvis_ls.codeintel.top_level_items import Item, items


def items_of(code: str) -> list[Item]:
    return list(items(parse(code.encode(), "rust").root_node, "rust"))


def facts_of(code: str) -> Facts:
    return merge_items(item_facts(item, "rust") for item in items_of(code))


def function_of(code: str) -> Function:
    item = items_of(code)[0]
    node = captures(compile_query("rust", "(function_item) @f"), item.node)["f"][0]
    return Function(Unit(Source("a.rs", code.encode()), "rust", Facts()), item, node)


@pytest.mark.parametrize(
    ("attribute", "test"),
    [
        ("test", True),
        ('tokio::test(flavor = "multi_thread")', True),
        ("rstest", True),
        ("bench", True),
        ("cfg(test)", True),
        ("cfg(all(test, unix))", True),
        ("cfg(not(test))", False),
        ("cfg(any(test, fuzzing))", False),
        ('cfg(feature = "test-util")', False),
        ('doc = "the latest test"', False),
        ("cfg_attr(test, allow(dead_code))", False),
        ("derive(Debug)", False),
    ],
)
def test_attributes_of_tests(attribute: str, test: bool) -> None:
    assert is_test_attribute(attribute) is test


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/it.rs", True),
        ("crates/a/benches/b.rs", True),
        ("examples/demo.rs", True),
        ("src/parser/tests.rs", True),
        ("src/test_helpers.rs", True),
        ("src/parser_test.rs", True),
        ("src/main.rs", False),
        ("src/latest/mod.rs", False),
        ("src/testing.rs", False),
    ],
)
def test_paths_of_tests(path: str, test: bool) -> None:
    assert is_test_path(path) is test


@pytest.mark.parametrize(
    ("code", "flags"),
    [
        (
            "fn a() {} #[cfg(test)] mod t { fn b() {} mod deeper { fn c() {} } } fn d() {}",
            [False, True, True, False],
        ),
        ("mod tests { fn a() {} } fn b() {}", [True, False]),
        ("#![cfg(test)]\nfn a() {}", [True, True]),
        ("//! Tests of the latest kind.\nfn a() {}", [False]),
        ("mod m { #![cfg(test)] fn a() {} } fn b() {}", [True, True, False]),
    ],
)
def test_items_know_that_only_tests_run_them(code: str, flags: list[bool]) -> None:
    assert [item.in_test for item in items_of(code)] == flags


def test_imports_give_the_path_behind_a_name() -> None:
    facts = facts_of("use std::{mem::{self, transmute as cast}, process::Command as Cmd};")
    assert facts.types["mem"].type == "std::mem"
    assert facts.types["Cmd"].type == "std::process::Command"
    assert facts.alias_of("cast")[0] == "transmute"


def test_types_say_how_they_are_laid_out() -> None:
    facts = facts_of(
        "#[derive(Copy)] #[repr(C)] struct A { n: u8 } enum B { X } static mut G: u8 = 1;"
    )
    assert facts.types["A"].type == "struct repr(C)"
    assert facts.types["B"].type == "enum"
    assert facts.fields["n"][0].type == "u8"
    assert facts.variables["G"].type == "mut u8"


def test_a_name_means_what_was_bound_last_in_its_scope() -> None:
    code = "fn f(x: u8) { let x: u16 = x as u16; { let x: u32 = 1; use_it(x); } g(x); |x: i8| x; }"
    function = function_of(code)

    def type_at(place: str, skip: int = 0) -> str:
        variable = function.variable("x", code.index(place) + skip)
        return variable.type if variable is not None else ""

    assert type_at("x as u16") == "u8"
    assert type_at("use_it(x") == "u32"
    assert type_at("g(x)") == "u16"
    assert type_at("| x;", 2) == "i8"


def test_many_variables_of_one_name_are_told_apart() -> None:
    lets = "".join(f"{{ let v: T{i} = 1; use{i}(v); }}" for i in range(300))
    function = function_of(code := f"fn f(v: P) {{ {lets} last(v) }}")
    found = function.variable("v", code.index("use217("))
    assert found is not None
    assert found.type == "T217"
    last = function.variable("v", code.index("last("))
    assert last is not None
    assert last.type == "P"


MACROS = """

cfg_if::cfg_if! {
    if #[cfg(unix)] {
        fn unix() {}
    } else if #[cfg(windows)] {
        /// Its page.
        pub fn windows() {}
    } else {
        #[test]
        fn neither() {}
    }
}
#[cfg(test)]
wrap! { mod inner { fn tested() {} } impl S { fn method() {} } }
outer! { wrap! { pub(crate) fn deep() {} } }
lazy_static! { static ref X: u8 = f(); }
vec![fn_pointer];
macro_rules! define { ($x:expr) => { fn pattern() {} } }
"""


def test_items_inside_macros_are_items():
    found = {
        MACROS[item.start : item.end].split("{")[0].strip(): (
            item.in_test,
            item.node.start_point.row,
        )
        for item in items_of(MACROS)
    }
    assert found.pop("lazy_static!") == (False, 16)
    assert found.pop("macro_rules! define") == (False, 18)
    assert [name for name in found if "vec!" in name] == ["vec![fn_pointer];"]
    del found["vec![fn_pointer];"]
    assert found == {
        "fn unix()": (False, 4),
        "/// Its page.\n        pub fn windows()": (False, 7),
        "#[test]\n        fn neither()": (True, 10),
        "fn tested()": (True, 14),
        "impl S": (True, 14),
        "pub(crate) fn deep()": (False, 15),
    }


def test_macros_within_macros_are_opened_only_so_deep():
    deep = "m! { " * 6 + "fn f() {}" + " }" * 6
    assert [item.node.type for item in items_of(deep)] == ["macro_invocation"]
    assert [item.node.type for item in items_of("m! { fn f( { }")] != ["function_item"]
    assert items_of("m! {}")[0].node.type == "macro_invocation"

"""All rules, found by importing every module below `rules/c` and `rules/rust`."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from types import ModuleType

from jarvis_ls.jsec.base.rule import Flow, Language, Rule, declared_rule
from jarvis_ls.jsec.rules import c, rust


@functools.cache
def all_rules() -> dict[str, Rule]:
    """Return every rule by id, in order of id. Raises `ValueError` when two share one."""
    found: dict[str, Rule] = {}
    for package in (c, rust):
        for info in pkgutil.iter_modules(package.__path__):
            declared = _rule_of(importlib.import_module(f"{package.__name__}.{info.name}"))
            if declared.id in found:
                raise ValueError(f"two rules are named {declared.id}")
            found[declared.id] = declared
    return dict(sorted(found.items()))


@functools.cache
def rule_ids() -> frozenset[str]:
    """Return the ids of all rules, which are the names of their modules; none is imported."""
    modules = (info for package in (c, rust) for info in pkgutil.iter_modules(package.__path__))
    return frozenset(info.name.replace("_", "-") for info in modules)


def _rule_of(module: ModuleType) -> Rule:
    name = module.__name__.rpartition(".")[2]
    declared = declared_rule(getattr(module, name, None))
    if declared is None:
        raise ValueError(f"{module.__name__} has no rule function named {name}")
    return declared


@functools.cache
def flow_rules(language: Language) -> dict[tuple[str, str], Rule]:
    """Return the rule of each kind of `Fault` in a language, by kind and causing function.

    The function is empty where the rule takes the kind from every function no other rule names.
    Raises `ValueError` when two rules claim the same.
    """
    found: dict[tuple[str, str], Rule] = {}
    for rule in all_rules().values():
        if rule.language != language or not isinstance(rule.query, Flow):
            continue
        for kind in sorted(rule.query.kinds):
            for key in [(kind, name) for name in sorted(rule.query.by or {""})]:
                if key in found:
                    raise ValueError(f"{rule.id} and {found[key].id} both ask for '{kind}'")
                found[key] = rule
    return found

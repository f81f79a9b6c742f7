"""Which functions of a file run in threads of their own, and which handle signals."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.core.regex import for_long_texts
from jarvis_ls.jsec.base.function_cache import once_per_file
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.local.c.copy_sizes import WRITES
from jarvis_ls.jsec.local.c.lock_wrappers import lock_wrapped, starts_wrapped
from jarvis_ls.jsec.local.c.locks import PAIRS, RELEASES
from jarvis_ls.jsec.local.c.string_lengths import APPENDS, COPIES
from jarvis_ls.jsec.local.guards import enclosing_loop

WORDS = tuple(
    "hread_create hreadCreate thrd_create CreateThread create_thread createThread "
    "beginthread std::thread std::jthread std::async thread_new start_thread startThread "
    "StartThread hreadStart hread_start kthread_run spawn_thread boost::thread".split()
)
"""Words one of which a file has that starts threads."""

CREATORS = {
    "pthread_create": 2,
    "thrd_create": 1,
    "CreateThread": 2,
    "_beginthreadex": 2,
    "_beginthread": 0,
    "g_thread_new": 1,
    "uv_thread_create": 1,
    "SDL_CreateThread": 0,
    "kthread_run": 0,
}
JOINS = frozenset(
    {
        "pthread_join",
        "thrd_join",
        "WaitForSingleObject",
        "WaitForMultipleObjects",
        "join",
        "g_thread_join",
        "uv_thread_join",
        "SDL_WaitThread",
    }
)
INSTALLERS = frozenset({"signal", "sigset", "bsd_signal", "sysv_signal", "__sysv_signal"})
"""Functions that take a signal and its handler."""
_FILLING = {name: place for name, (place, _, _) in WRITES.items()} | dict.fromkeys(
    COPIES | APPENDS | {"sprintf", "vsprintf", "gets"}, 0
)
"""Functions that fill an array, with the place of that among their arguments."""
_STARTING = (
    rb"(?i)(?:create|start|begin|new|spawn)_?thread|"
    rb"thread_?(?:create|start|begin|new|spawn)|\bj?thread\b|kthread_run"
    rb"|thrd_create|\basync\b"
)
_GUARDS = re.compile(rb"\b(?:lock_guard|unique_lock|scoped_lock|shared_lock|QMutexLocker)\b")
_ATOMIC = re.compile(
    r"[aA]tomic|_Thread_local|thread_local|__thread|mutex|cond|sem_t|pthread_|"
    r"\bonce|LONG\b|barrier|CRITICAL_SECTION|\bconst\b"
)
_HANDLER = re.compile(rb"\bsa_(?:handler|sigaction)\s{0,8}=\s{0,8}&?\s{0,8}([A-Za-z_]\w*)")
_GENERIC = re.compile(
    r"(?i)thread_?(?:create|start|begin|new|spawn)|(?:create|start|spawn)_?thread"
)


@dataclass(slots=True)
class Started:
    """A function that runs in threads."""

    function: Function
    creations: list[tuple[Function, Node]]
    """Where threads of it are made."""

    @property
    def several(self) -> bool:
        """Return whether more than one thread runs it at a time."""
        if len(self.creations) > 1:
            return True
        return any(enclosing_loop(node, function) is not None for function, node in self.creations)

    @property
    def shared_argument(self) -> str:
        """Return the argument that several threads share; empty when each gets its own or none."""
        given = {_argument_after(node, self.function.name) for _, node in self.creations}
        only = given.pop() if len(given) == 1 and self.several else ""
        if only in ("", "0", "NULL", "nullptr") or "[" in only or "new " in only or "(" in only:
            return ""
        if any(_is_made_in(function, only) for function, _ in self.creations):
            return ""
        if len({id(function) for function, _ in self.creations}) == len(self.creations) > 1 and all(
            function.variable(only.lstrip("&"), node.start_byte) is not None
            for function, node in self.creations
        ):
            return ""  # each function has a variable of that name
        in_loop = len(self.creations) == 1  # a pointer may be another one each time
        return only if only.startswith("&") or not in_loop else ""


def _is_made_in(function: Function, pointer: str) -> bool:
    """Return whether a function allocates what a pointer leads to: each of its calls gives
    another.
    """
    made = rf"(?<![\w.>&]){re.escape(pointer)}\s*=[^=;]*(?:alloc\w*\s*\(|\bnew\b)"
    return re.search(made.encode(), function.node.text or b"") is not None


@once_per_file
def started_functions(whole: WholeUnit) -> list[Started]:
    """Functions of the file that run in threads, with the places that start them."""
    wrapped = starts_wrapped(whole)
    starts = for_long_texts(_STARTING)
    starting = [
        function
        for function in whole.mentioning(b"hread", b"HREAD", b"hrd_create", b"HRD_CREATE", b"async")
        if starts.search(function.node.text or b"") is not None
    ]
    if not wrapped and not starting:  # with every keystroke: names of all functions cost more
        return []
    by_name = whole.by_name
    direct = [
        (name, function, node) for function in starting for name, node in _starts(function, by_name)
    ]
    known = {node.id for _, _, node in direct}
    found: dict[str, Started] = {}
    for name, function, node in [
        *(start for start in wrapped if start[2].id not in known),
        *direct,
    ]:
        found.setdefault(name, Started(by_name[name], [])).creations.append((function, node))
    return list(found.values())


def handlers(whole: WholeUnit) -> list[tuple[Function, tuple[int, int]]]:
    """Functions of the file that are installed as signal handlers, with the place that does it."""
    by_name = whole.by_name
    places: dict[str, tuple[int, int]] = {}
    for function in whole.mentioning(b"sig", b"sa_handler"):
        source = function.node.text or b""
        if b"sa_handler" in source or b"sa_sigaction" in source:
            for match in _HANDLER.finditer(source):
                start, end = (function.node.start_byte + at for at in match.span())
                places.setdefault(match[1].decode(), (start, end))
        if not function.mentions(INSTALLERS):
            continue
        for call in function.calls:
            if call.name in INSTALLERS:
                name = text(call.arg(1)).lstrip("& ").rpartition(")")[2]
                places.setdefault(name, (call.node.start_byte, call.node.end_byte))
    return [(by_name[name], place) for name, place in places.items() if name in by_name]


def shared_variables(whole: WholeUnit) -> dict[str, str]:
    """Variables of file scope that threads share unprotected by their type: name to type. One
    that is a macro as well is that where there are threads: each has its own."""
    facts = whole.unit.facts
    return {
        name: declared.type
        for name, declared in facts.variables.items()
        if not _ATOMIC.search(declared.type) and "::" not in name and name not in facts.macros
    }


def writes(function: Function, names: dict[str, str]) -> list[tuple[str, Node]]:
    """Return the writes to these variables of file scope in a function, in order: assignments, and
    calls that put a text or bytes into them."""
    found = [
        (name, call.node)
        for call in function.calls
        if call.name in _FILLING
        and (name := text(call.arg(_FILLING[call.name]))) in names
        and function.variable(name, call.node.start_byte) is None
    ]
    for kind, part in (("assign", "left"), ("update", "argument")):
        for node in function.nodes(kind):
            target = field(node, part)
            while target is not None and target.type in (
                "subscript_expression",
                "field_expression",
            ):
                if target.type == "field_expression" and operator_of(target) == "->":
                    break
                target = field(target, "argument")
            name = text(target)
            if target is None or target.type != "identifier" or name not in names:
                continue
            if function.variable(name, target.start_byte) is None:
                found.append((name, node))
    return sorted(found, key=lambda entry: entry[1].start_byte)


def writes_through_parameter(function: Function) -> list[Node]:
    """Return writes through the first parameter, itself or cast to another pointer type."""
    names = {parameter.name for parameter in function.parameters[:1]}
    for variables in function.variables.values():
        for variable in variables:
            if variable.initial is not None and variable.pointers:
                names |= {variable.name} if text(bare(variable.initial)) in names else set()
    found = []
    for kind, part in (("assign", "left"), ("update", "argument")):
        for node in function.nodes(kind):
            target = field(node, part)
            target = None if target is None else bare(target)
            if target is None or target.type not in ("pointer_expression", "field_expression"):
                continue
            base = field(target, "argument")
            direct = target.type == "pointer_expression" or operator_of(target) == "->"
            if direct and base is not None and text(bare(base)) in names:
                found.append(node)
    return sorted(found, key=lambda node: node.start_byte)


def _argument_after(call: Node, name: str) -> str:
    """Text of the argument behind the function `name` in a call, without casts."""
    arguments = field(call, "arguments")
    given = arguments.named_children if arguments is not None else []
    for at, argument in enumerate(given[:-1]):
        if text(argument).lstrip("& ").rpartition(")")[2].strip() == name:
            return text(bare(given[at + 1]))
    return ""


def is_guarded(function: Function, node: Node) -> bool:
    """Return whether some lock is held at a place, judging by the calls before it in the text."""
    held = {False: 0, True: 0}  # of mutexes, and of semaphores
    for call in function.calls:
        if call.node.start_byte >= node.start_byte:
            break
        is_semaphore = "sem_" in call.name.lower()
        if _takes(call):
            held[is_semaphore] += 1
        elif _releases(call):
            held[is_semaphore] = max(0, held[is_semaphore] - 1)
    if any(held.values()) or lock_wrapped(function, node):
        return True
    before = (function.node.text or b"")[: node.start_byte - function.start]
    return function.unit.language == "cpp" and _GUARDS.search(before) is not None


def _takes(call: Call) -> bool:
    lowered = call.name.lower()
    return call.name in PAIRS or (
        ("lock" in lowered or "acquire" in lowered or "sem_wait" in lowered) and not _releases(call)
    )


def _releases(call: Call) -> bool:
    lowered = call.name.lower()
    return call.name in RELEASES or any(
        word in lowered for word in ("unlock", "release", "leave", "sem_post")
    )


def _starts(function: Function, by_name: dict[str, Function]) -> list[tuple[str, Node]]:
    found = []
    for call in function.calls:
        place = CREATORS.get(call.name)
        given: list[Node] = []
        if place is not None and call.arg(place) is not None:
            given = call.arguments[place : place + 1]
        elif call.name in ("thread", "jthread", "async") or _GENERIC.search(call.name):
            given = call.arguments[:3]
        for argument in given:
            name = text(argument).lstrip("& ").rpartition(")")[2].strip()
            if name in by_name:
                found.append((name, call.node))
    if function.unit.language == "cpp":
        for node in function.nodes("decl"):
            if text(field(node, "type")).rpartition("::")[2] not in ("thread", "jthread"):
                continue
            used = re.findall(r"[A-Za-z_][\w:]*", text(node)[:400])[1:]
            found.extend((word, node) for word in used if word in by_name)
    return found

"""Whether a value near a place comes from outside the program.

Followed backwards through the assignments, copies and conversions of one function; what other
functions return or are given is not input here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from jarvis_ls.codeintel.functions import Call, Function, call_at
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.c.reaching_definitions import reaching, region_at
from jarvis_ls.jsec.local.c.string_lengths import contents_before, names_of
from jarvis_ls.jsec.local.constants import string_literal

PARSERS = frozenset(
    "atoi atol atoll atof strtol strtoul strtoll strtoull wcstol wcstoul _wtoi _ttoi stoi "
    "stol stoul strtoimax strtoumax".split()
)
"""Functions that make a number of text."""

RANDOM = frozenset(
    {"rand", "random", "rand_r", "lrand48", "mrand48", "arc4random", "RAND32", "RAND64"}
)
_NETWORK = frozenset({"ntohl", "ntohs", "ntohll", "be32toh", "be16toh", "be64toh"})
_TEXT_RESULTS = frozenset({"getenv", "_wgetenv", "secure_getenv", "readline", "getpass"})
FILLERS = {
    "fgets": (0,),
    "fgetws": (0,),
    "gets": (0,),
    "_getws": (0,),
    "gets_s": (0,),
    "recv": (1,),
    "recvfrom": (1,),
    "read": (1,),
    "pread": (1,),
    "fread": (0,),
    "getline": (0,),
    "getdelim": (0,),
    "BZ2_bzRead": (2,),
    "gzread": (1,),
    "ReadFile": (1,),
    "SSL_read": (1,),
    "getenv_s": (1,),
    "GetEnvironmentVariableA": (1,),
    "readlink": (1,),
    "scanf": range(1, 12),
    "wscanf": range(1, 12),
    "fscanf": range(2, 12),
    "fwscanf": range(2, 12),
    "scanf_s": range(1, 12),
    "fscanf_s": range(2, 12),
}
"""Functions that write input into what arguments point to, with the places of these."""

INPUTS = tuple(
    sorted(
        {
            *PARSERS,
            *RANDOM,
            *_NETWORK,
            *_TEXT_RESULTS,
            *FILLERS,
            "sscanf",
            "swscanf",
            "RAND32",
            "RAND64",
        }
    )
)
"""Every function (and usual macro) that brings something from outside."""

ENVIRONMENT = _TEXT_RESULTS - {"readline", "getpass"} | {"argv", "envp"}
"""Sources that belong to the user of the program."""

OWN_INPUT = 0.45
"""Most confidence of an injection by the user of a program without more rights than theirs."""

_PRIVILEGED = re.compile(
    rb"\bx?setre(?:s?)[ug]id[ \t]*\(|\bissetugid[ \t]*\("
    rb"|\bx?sete?[ug]id[ \t]*\([ \t]*(?:0\b|get[ug]id\b|real_?[ug]id\b|r[ug]id\b)"
)
"""What only programs say that have other rights than their user's, such as set-user-ID ones."""

_OF_REQUEST = re.compile(
    rb"\"(?:HTTP_\w+|QUERY_STRING|PATH_INFO|PATH_TRANSLATED|REQUEST_\w+|CONTENT_\w+|REMOTE_\w+"
    rb"|SCRIPT_\w+|SERVER_\w+)\""
)
"""Variables that a web server sets from the request."""

_COPIERS = frozenset(
    "strcpy strcat strncpy strncat stpcpy strlcpy strlcat memcpy memmove sprintf snprintf "
    "swprintf wcscpy wcscat wcsncpy wcsncat asprintf sscanf swscanf _snprintf strcpy_s "
    "strcat_s".split()
)
_PASSES = frozenset(
    "strdup strndup wcsdup strchr strrchr strstr strtok basename g_strdup xstrdup".split()
)
_FUEL = 6


@dataclass(frozen=True, slots=True)
class Source:
    """Where input enters."""

    node: Node
    """The call or expression that yields it."""
    name: str
    """What people call it: `recv`, `argv`."""
    certain: bool = True
    """False for random numbers and for numbers parsed from text of unknown origin."""

    def weigh(self, confidence: float) -> float:
        """`confidence`, less when it is not certain that the value comes from outside."""
        return confidence if self.certain else round(confidence * 0.8, 2)


def has_privileges(text: bytes) -> bool:
    """Return whether code changes between its user's privileges and others, so that its environment
    may be an attacker's."""
    return _PRIVILEGED.search(text) is not None


def is_of_request(text: bytes) -> bool:
    """Return whether a call of `getenv` asks for what a web server takes from a request."""
    return _OF_REQUEST.search(text) is not None


def weigh_injection(source: Source, confidence: float, function: Function) -> float:
    """Return the confidence of an injection of a source: at most `OWN_INPUT` when it is the
    environment of the program's user, with no more rights than theirs."""
    if source.name not in ENVIRONMENT or has_privileges(function.node.text or b""):
        return confidence
    return confidence if is_of_request(source.node.text or b"") else min(confidence, OWN_INPUT)


def number_source(node: Node | None, function: Function | None, fuel: int = _FUEL) -> Source | None:
    """Return the untrusted source of an integer expression, if it has one; None also when a
    function such as `min` or a bit mask bounds it."""
    if node is None or function is None or fuel <= 0:
        return None
    node = bare(node)
    kind = node.type
    if kind == "call_expression":
        return _number_of_call(node, function)
    if kind == "binary_expression":
        operator = operator_of(node)
        if operator in ("&", "%", "/", ">>", "==", "!=", "<", ">", "<=", ">=", "&&", "||"):
            return None
        return number_source(field(node, "left"), function, fuel - 1) or number_source(
            field(node, "right"), function, fuel - 1
        )
    if kind not in ("identifier", "field_expression"):
        return None
    for write in reaching(function, text(node), node.start_byte) or ():
        found = None
        if write.call is not None:
            found = _filler_source(write.call, write.node)
        elif write.operator == ">>":
            found = Source(write.node, "cin")
        elif write.value is not None:
            found = number_source(write.value, function, fuel - 1)
        if found is not None:
            return found
    return None


def text_source(
    node: Node | None, function: Function | None, fuel: int = _FUEL, at: int | None = None
) -> Source | None:
    """Return the untrusted source of the text an expression points to, if it has one, as of byte
    `at`; by default where the expression is."""
    if node is None or function is None or fuel <= 0:
        return None
    node = bare(node)
    if node.type == "call_expression":
        call = call_at(function.unit, function.item, node, function)
        if call is None:
            return None
        if call.name in _TEXT_RESULTS:
            return Source(node, call.name)
        if call.name in _PASSES or call.name in ("c_str", "data"):
            return text_source(call.receiver or call.arg(0), function, fuel - 1)
        return None
    if node.type == "subscript_expression" and _is_argv(field(node, "argument"), function):
        return Source(node, "argv")
    if node.type == "binary_expression":
        return text_source(field(node, "left"), function, fuel - 1)
    if node.type == "pointer_expression":
        inner = field(node, "argument")
        if _is_argv(inner, function):
            return Source(node, "argv")
        return text_source(inner, function, fuel - 1)
    if node.type not in ("identifier", "field_expression"):
        return None
    at = node.start_byte if at is None else at
    alias = function.unit.facts.macros.get(text(node), "")
    if alias.isidentifier() and (seen := _last_use(function, alias, node.start_byte)) is not None:
        node = seen
    return _filled_text(node, function, at, fuel) or _assigned_text(node, function, fuel)


def _last_use(function: Function, name: str, at: int) -> Node | None:
    """Return the nearest mention of a variable before a byte, to represent a macro that names
    it.
    """
    uses = function.uses(name, 0, at)
    return uses[-1] if uses else None


def _number_of_call(node: Node, function: Function) -> Source | None:
    call = call_at(function.unit, function.item, node, function)
    if call is None:
        return None
    if call.name in PARSERS:
        return Source(node, call.name, text_source(call.arg(0), function) is not None)
    if call.name in RANDOM | _NETWORK:
        return Source(node, call.name, call.name in _NETWORK)
    macro = function.unit.facts.function_macros.get(call.written)
    if macro is not None and any(f"{name}(" in macro.body for name in RANDOM):
        return Source(node, call.written, certain=False)
    return None


def _filler_source(call: Call, argument: Node) -> Source | None:
    """Return whether a call writes input into the argument that is given."""
    places = FILLERS.get(call.name, ())
    for index, candidate in enumerate(call.arguments):
        if candidate == argument:
            if index in places:
                return Source(call.node, call.name)
            if call.name in ("sscanf", "swscanf", "sscanf_s") and index >= 2:
                return Source(call.node, call.name, certain=False)
    return None


def _filled_text(node: Node, function: Function, at: int, fuel: int) -> Source | None:
    for event in contents_before(function, names_of(node, function), at):
        call = event.call
        if call is None:
            continue
        if event.argument in FILLERS.get(call.name, ()):
            return Source(call.node, call.name)
        if event.argument != -1 and (event.argument != 0 or call.name not in _COPIERS):
            continue
        for argument in call.arguments[event.argument + 1 : 6]:
            if (found := text_source(argument, function, fuel - 1)) is not None:
                return found
        region = region_at(function, call.node.start_byte)
        overwrites = (
            event.argument == 0
            and "cat" not in call.name
            and string_literal(call.arg(1), function) is not None
        )
        if overwrites and (region is None or region.holds(at)):
            return None
    return None


def _assigned_text(node: Node, function: Function, fuel: int) -> Source | None:
    for write in reaching(function, text(node), node.start_byte) or ():
        if write.operator == ">>":
            return Source(write.node, "cin")
        if write.call is not None:
            found = _filler_source(write.call, write.node)
        else:
            value = write.value if write.operator == "=" else field(write.node, "right")
            found = text_source(value, function, fuel - 1)
        if found is not None:
            return found
    return None


def _is_argv(node: Node | None, function: Function) -> bool:
    if node is None:
        return False
    name = text(bare(node))
    parameters = function.parameters
    return (
        function.name in ("main", "wmain", "_tmain")
        and len(parameters) > 1
        and (name in (parameters[1].name, *(["envp"] if len(parameters) > 2 else [])))
    )

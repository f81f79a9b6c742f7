"""How the analysis asks for what is outside of a function."""

from __future__ import annotations

from typing import Protocol

from jarvis_ls.jsec.flow.domain.call_summary import CallSummary
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR, GlobalIR, RecordIR
from jarvis_ls.jsec.flow.ir.types import FunctionType


class Lookup(Protocol):
    """The functions, variables and classes that a place in the program sees."""

    @property
    def is_watched(self) -> bool:
        """Return whether it is noted what is asked: then each run asks all it needs itself."""

    def function(self, name: str, from_file: str) -> FunctionIR | None:
        """Return the definition a name means in a file; `name` may be qualified
        (`Class::method`).
        """

    def overloads(self, name: str, from_file: str) -> list[FunctionIR]:
        """Return all definitions of that full name in the file that `function` finds it in, when
        they are several."""

    def overrides(self, record: str, method: str, from_file: str) -> list[FunctionIR]:
        """Return the definitions of a virtual method in a class and those derived from it."""

    def variable(self, name: str, from_file: str) -> GlobalIR | None:
        """Return the definition of a variable of file or program scope."""

    def record(self, name: str, from_file: str) -> RecordIR | None:
        """Return the definition of a struct, union or class."""

    def is_written(self, name: str, from_file: str) -> bool:
        """Return whether some function of the program may change a variable."""

    def decoded_members(self, record: str, from_file: str) -> frozenset[str]:
        """Return the members of a record that hold numbers decoded from bytes which no function of
        the program compares with a bound."""

    def untested_uses(self, function: FunctionIR) -> frozenset[str] | None:
        """Return the keys of what a function uses untested; None when that is not known."""

    def habit(self, key: str, from_file: str) -> tuple[int, int]:
        """Return how often the program tests a result or member before it uses it, and how often
        not; the key is one of `untested_uses`."""

    def summary(self, name: str, from_file: str) -> CallSummary | None:
        """Return the summary of the function that a name means in a file; None when only following
        it tells what it may do."""

    def comes_back(self, name: str, from_file: str) -> bool:
        """Return whether a way through the function that a name means in a file is known to come
        back; when it is not, following it may tell.
        """

    def stops(self, name: str, from_file: str) -> bool:
        """Return whether a function is declared not to return."""

    def ends(self, name: str) -> bool:
        """Return whether a library function of that name does not return."""

    def prototype(self, name: str, from_file: str) -> FunctionType | None:
        """Return the type of a function as a file, or one of its headers, declares it."""

    def is_cpp(self, file: str) -> bool:
        """Return whether a file is C++."""

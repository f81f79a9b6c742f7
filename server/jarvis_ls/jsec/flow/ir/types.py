"""Types of the values of a program: a class for each kind.

There is one object for each type: two are equal when they are the same object. So they are made by
the functions below, never by their classes. A type is kept on disk as plain values: `plain` is
those, `type_of` gives the type back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, final

Plain = tuple[Any, ...]
"""A word for the class, and the members: a type as it is kept on disk."""


class Type:
    """A type: one of the classes below."""

    __slots__ = ("plain",)

    def __init__(self, plain: Plain) -> None:
        self.plain: Final = plain
        """As plain values."""

    def __repr__(self) -> str:
        return repr(self.plain)

    def __reduce__(self) -> tuple[Callable[[Plain], Type], tuple[Plain]]:
        return type_of, (self.plain,)


@final
class Opaque(Type):
    """A type of which only the name counts, such as `void` and `str`, or the type not known."""

    __slots__ = ("name",)

    def __init__(self, plain: Plain, name: str) -> None:
        super().__init__(plain)
        self.name: Final = name


@final
class Integer(Type):
    """A whole number, a character or a truth value."""

    __slots__ = ("mark", "signed", "size")

    def __init__(self, plain: Plain, size: int, signed: bool, mark: str) -> None:
        super().__init__(plain)
        self.size: Final = size
        """Bytes."""
        self.signed: Final = signed
        self.mark: Final = mark
        """`truth`: what is given to it becomes 0 or 1. `written`: a number of Rust whose type is
        not said, which takes that of what it meets. Empty for any other."""


@final
class Float(Type):
    """A number with a fraction."""

    __slots__ = ("size",)

    def __init__(self, plain: Plain, size: int) -> None:
        super().__init__(plain)
        self.size: Final = size
        """Bytes."""


@final
class Record(Type):
    """A struct, union or class of C or C++; what has members in Rust, with an empty name."""

    __slots__ = ("name",)

    def __init__(self, plain: Plain, name: str) -> None:
        super().__init__(plain)
        self.name: Final = name


@final
class FunctionType(Type):
    """A function."""

    __slots__ = ("const", "parameters", "result", "variadic")

    def __init__(
        self,
        plain: Plain,
        result: Type,
        parameters: tuple[Type, ...] | None,
        variadic: bool,
        const: tuple[bool, ...],
    ) -> None:
        super().__init__(plain)
        self.result: Final = result
        self.parameters: Final = parameters
        """None when they are not said."""
        self.variadic: Final = variadic
        self.const: Final = const
        """Whether what each parameter leads to is declared `const`; empty when that is not said."""


@final
class Container(Type):
    """A container, a string or a stream of C++."""

    __slots__ = ("element", "kind")

    def __init__(self, plain: Plain, kind: str, element: Type) -> None:
        super().__init__(plain)
        self.kind: Final = kind
        """Its name, such as `vector`."""
        self.element: Final = element


class Derived(Type):
    """A type that leads to or holds values of another one: one of the classes below."""

    __slots__ = ("inner",)

    def __init__(self, plain: Plain, inner: Type) -> None:
        super().__init__(plain)
        self.inner: Final = inner


@final
class Pointer(Derived):
    """A pointer."""

    __slots__ = ("const",)

    def __init__(self, plain: Plain, inner: Type, const: bool) -> None:
        super().__init__(plain, inner)
        self.const: Final = const
        """Whether a function that is given it only reads what it leads to."""


@final
class Reference(Derived):
    """A reference of C++ or Rust."""

    __slots__ = ("const",)

    def __init__(self, plain: Plain, inner: Type, const: bool) -> None:
        super().__init__(plain, inner)
        self.const: Final = const
        """Whether a function that is given it only reads what it leads to."""


@final
class Array(Derived):
    """An array."""

    __slots__ = ("count",)

    def __init__(self, plain: Plain, inner: Type, count: int) -> None:
        super().__init__(plain, inner)
        self.count: Final = count
        """How many elements; -1 when that is not known."""


# types of Rust


@final
class Box(Derived):
    """A `Box`."""

    __slots__ = ()


@final
class Kept(Derived):
    """A `ManuallyDrop`."""

    __slots__ = ()


@final
class Vector(Derived):
    """A `Vec`."""

    __slots__ = ()


@final
class Slice(Derived):
    """A slice, behind a reference or pointer."""

    __slots__ = ()


@final
class Option(Derived):
    """An `Option`."""

    __slots__ = ()


@final
class Result(Derived):
    """A `Result`; `inner` is what is there without an error."""

    __slots__ = ()


@final
class Uninit(Derived):
    """A `MaybeUninit`."""

    __slots__ = ()


@final
class Tuple(Type):
    """A tuple."""

    __slots__ = ("members",)

    def __init__(self, plain: Plain, members: tuple[Type, ...]) -> None:
        super().__init__(plain)
        self.members: Final = members


@final
class Adt(Type):
    """Any other type with a name."""

    __slots__ = ("name",)

    def __init__(self, plain: Plain, name: str) -> None:
        super().__init__(plain)
        self.name: Final = name


@final
class Placeholder(Type):
    """Represents a type in what `library.rust_functions` says of results."""

    __slots__ = ("name",)

    def __init__(self, plain: Plain, name: str) -> None:
        super().__init__(plain)
        self.name: Final = name


_KNOWN: Final[dict[Plain, Type]] = {}
"""All types there are, by their plain values."""
_WORDS: Final[dict[type[Derived], str]] = {
    Box: "box",
    Kept: "keep",
    Vector: "vec",
    Slice: "slice",
    Option: "opt",
    Result: "res",
    Uninit: "mu",
}
_WRAPPERS: Final = {word: kind for kind, word in _WORDS.items()}
"""Types of Rust that have no members besides the type they hold, by the word in plain values."""


def opaque(name: str) -> Opaque:
    """Return the type of which only the name counts."""
    found = _KNOWN.get((name,))
    if not isinstance(found, Opaque):
        found = Opaque((name,), name)
        _KNOWN[found.plain] = found
    return found


def integer(size: int, signed: bool, mark: str = "") -> Integer:
    """Return the whole number of so many bytes."""
    plain = ("i", size, signed, mark) if mark else ("i", size, signed)
    found = _KNOWN.get(plain)
    if not isinstance(found, Integer):
        found = Integer(plain, size, signed, mark)
        _KNOWN[plain] = found
    return found


def float_of(size: int) -> Float:
    """Return the number with a fraction of so many bytes."""
    plain = ("f", size)
    found = _KNOWN.get(plain)
    if not isinstance(found, Float):
        found = Float(plain, size)
        _KNOWN[plain] = found
    return found


def record_type(name: str) -> Record:
    """Return the record of a name."""
    plain = ("r", name)
    found = _KNOWN.get(plain)
    if not isinstance(found, Record):
        found = Record(plain, name)
        _KNOWN[plain] = found
    return found


def pointer_to(inner: Type, *, const: bool = False) -> Pointer:
    """Return the pointer to a type."""
    plain = ("p", inner.plain, "const") if const else ("p", inner.plain)
    found = _KNOWN.get(plain)
    if not isinstance(found, Pointer):
        found = Pointer(plain, inner, const)
        _KNOWN[plain] = found
    return found


def reference_to(inner: Type, *, const: bool = False) -> Reference:
    """Return the reference to a type."""
    plain = ("&", inner.plain, "const") if const else ("&", inner.plain)
    found = _KNOWN.get(plain)
    if not isinstance(found, Reference):
        found = Reference(plain, inner, const)
        _KNOWN[plain] = found
    return found


def array_of(inner: Type, count: int) -> Array:
    """Return the array of so many elements; -1 when that is not known."""
    plain = ("a", inner.plain, count)
    found = _KNOWN.get(plain)
    if not isinstance(found, Array):
        found = Array(plain, inner, count)
        _KNOWN[plain] = found
    return found


def function_type(
    result: Type,
    parameters: tuple[Type, ...] | None,
    *,
    variadic: bool,
    const: tuple[bool, ...] = (),
) -> FunctionType:
    """Return the type of a function."""
    given = None if parameters is None else plain_types(parameters)
    plain = ("fn", result.plain, given, variadic, const)
    found = _KNOWN.get(plain)
    if not isinstance(found, FunctionType):
        found = FunctionType(plain, result, parameters, variadic, const)
        _KNOWN[plain] = found
    return found


def container_of(kind: str, element: Type) -> Container:
    """Return the container of C++ of a name."""
    plain = ("c", kind, element.plain)
    found = _KNOWN.get(plain)
    if not isinstance(found, Container):
        found = Container(plain, kind, element)
        _KNOWN[plain] = found
    return found


def wrapped(kind: type[Derived], inner: Type) -> Type:
    """Return the type of Rust of this class, such as `Box`, that holds another one."""
    plain = (_WORDS[kind], inner.plain)
    found = _KNOWN.get(plain)
    if found is None:
        found = kind(plain, inner)
        _KNOWN[plain] = found
    return found


def tuple_of(members: tuple[Type, ...]) -> Tuple:
    """Return the tuple of these members."""
    plain = ("tup", plain_types(members))
    found = _KNOWN.get(plain)
    if not isinstance(found, Tuple):
        found = Tuple(plain, members)
        _KNOWN[plain] = found
    return found


def adt(name: str) -> Adt:
    """Return the type of Rust of a name."""
    plain = ("adt", name)
    found = _KNOWN.get(plain)
    if not isinstance(found, Adt):
        found = Adt(plain, name)
        _KNOWN[plain] = found
    return found


def placeholder(name: str) -> Placeholder:
    """Return what represents a type by this name."""
    plain = ("<>", name)
    found = _KNOWN.get(plain)
    if not isinstance(found, Placeholder):
        found = Placeholder(plain, name)
        _KNOWN[plain] = found
    return found


def plain_types(types: tuple[Type, ...]) -> tuple[Plain, ...]:
    """Return types as plain values."""
    return tuple([each.plain for each in types])


def type_of(plain: Plain) -> Type:
    """Return the type that these values are of."""
    found = _KNOWN.get(plain)
    return _made(plain) if found is None else found


def function_of(plain: Plain) -> FunctionType:
    """Return the type of a function that these values are of."""
    found = type_of(plain)
    assert isinstance(found, FunctionType)
    return found


def types_of(plain: tuple[Plain, ...]) -> tuple[Type, ...]:
    """Return the types that these values are of."""
    return tuple([type_of(each) for each in plain])


def _made(plain: Plain) -> Type:
    kind: str = plain[0]
    if kind == "p":
        return pointer_to(type_of(plain[1]), const=len(plain) > 2)
    if kind == "&":
        return reference_to(type_of(plain[1]), const=len(plain) > 2)
    if kind == "r":
        return record_type(plain[1])
    if kind == "a":
        return array_of(type_of(plain[1]), plain[2])
    if kind == "fn":
        _, result, given, variadic, const = plain
        parameters = None if given is None else types_of(given)
        return function_type(type_of(result), parameters, variadic=variadic, const=const)
    if kind == "c":
        return container_of(plain[1], type_of(plain[2]))
    if kind == "i":
        return integer(plain[1], plain[2], plain[3] if len(plain) > 3 else "")
    if kind == "f":
        return float_of(plain[1])
    if kind == "tup":
        return tuple_of(types_of(plain[1]))
    if kind == "adt":
        return adt(plain[1])
    if kind == "<>":
        return placeholder(plain[1])
    return opaque(kind) if len(plain) == 1 else wrapped(_WRAPPERS[kind], type_of(plain[1]))

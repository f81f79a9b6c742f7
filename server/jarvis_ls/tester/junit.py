"""JUnit XML, as pytest, Maven, Gradle and many others write it.

https://github.com/testmoapp/junitxml. The XML comes from a sandbox: entities are refused, and
nothing outside of it is loaded.
"""

from __future__ import annotations

from xml.parsers import expat

from jarvis_ls.tester.results import Outcome, TestResult, cut_why, worst

_MOST_TESTS = 20_000
_MOST_TEXT = 20_000
_BAD = frozenset({"failure", "error"})


class _Reader:
    """Collects test cases while a document is parsed."""

    def __init__(self) -> None:
        self.found: list[TestResult] = []
        self._name = ""
        self._outcome = Outcome.PASSED
        self._text: list[str] = []
        self._room = 0
        self._inside = ""
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._refuse

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "testcase":
            self._name = _name_of(attributes)
            self._outcome, self._text, self._room = Outcome.PASSED, [], _MOST_TEXT
        elif tag in _BAD and self._name:
            self._outcome, self._inside = Outcome.FAILED, tag
            self._add(f"{attributes.get('message', '')}\n")
        elif tag == "skipped" and self._name and self._outcome is Outcome.PASSED:
            self._outcome = Outcome.SKIPPED

    def _end(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""
        elif tag == "testcase" and self._name:
            if len(self.found) < _MOST_TESTS:
                why = cut_why("".join(self._text).strip())
                self.found.append(TestResult(self._name, self._outcome, why))
            self._name = ""

    def _characters(self, text: str) -> None:
        if self._inside:
            self._add(text)

    def _add(self, text: str) -> None:
        if self._room > 0:
            self._text.append(text)
            self._room -= len(text)

    def _refuse(self, *_: object) -> None:
        raise ValueError("entities are not taken")


def read_junit(data: bytes) -> list[TestResult]:
    """Return the tests of a report. Raises `ValueError` when it is no XML."""
    reader = _Reader()
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ValueError(str(error)) from None
    return worst(reader.found)


def _name_of(attributes: dict[str, str]) -> str:
    """Return the name of a test as its runner takes it, where the report has what is needed."""
    name, around = attributes.get("name", ""), attributes.get("classname", "")
    file = attributes.get("file", "")
    if file.endswith(".py"):
        module = file.removesuffix(".py").replace("/", ".")
        inner = around.removeprefix(module).strip(".").replace(".", "::")
        return "::".join(part for part in (file, inner, name) if part)
    return f"{around}.{name}" if around else name

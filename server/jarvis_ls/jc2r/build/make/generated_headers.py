"""Headers that a makefile, or a `configure` that somebody wrote, makes of words: what `echo`,
`printf` and here documents of their commands would write. Nothing is run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.shell import tree
from jarvis_ls.core.files import replace_file
from jarvis_ls.jc2r.build.autoconf.config_headers import is_included
from jarvis_ls.jc2r.build.autoconf.configure_script import set_by_hand
from jarvis_ls.jc2r.build.make.variables import MAKEFILES, expander, is_of_the_system, shell_output
from jarvis_ls.jc2r.build.project_files import content

_RULE = re.compile(r"([^\t#=:\s][^#=:]*):(?![=:])")
_RECIPE = re.compile(r"^(?:\t(?:[^\n\\]|\\.|\\\n)*(?:\n|\Z))+", re.MULTILINE)
_WRITES = re.compile(r">[ \t]*[\"']?(?:\$@|[\w./-]+\.h\b)")
_INCLUDE = re.compile(r"\s*#\s*include\s*<([^>\n]+)>\s*")
_ESCAPED = re.compile(r"\\([nt\\\"])")
_QUOTED = re.compile(r"\\([\"\\$`])")
_MARK = re.compile(r"%[sdu%]")
_SIGNS = {"n": "\n", "t": "\t"}
_PARTIAL = (
    "if_statement",
    "case_statement",
    "while_statement",
    "for_statement",
    "function_definition",
)
_LONGEST = 65_536
"""Characters of a header that is made so."""


def echo_header_arguments(
    root: Path, files: Sequence[str], package: Mapping[str, str], made: Path
) -> list[str]:
    """Arguments with which the C files of the project at `root` find headers that commands write
    word by word; these are written to `made`. `package` says what the project is called."""
    there = {PurePosixPath(file).name for file in files}
    found: dict[PurePosixPath, str] = {}
    for file in files:
        folder = PurePosixPath(file).parent
        for name, text in _of_file(root, root / file, package).items():
            place = PurePosixPath(os.path.normpath(folder / name))
            inside = ".." not in place.parts and not place.is_absolute()
            if inside and text and place.name not in there:
                found.setdefault(place, text)
    sources = (
        [content(root / file) for file in files if file.endswith((".c", ".h"))] if found else []
    )
    folders: dict[str, None] = {}
    for place, text in found.items():
        if is_included(place.name, sources):
            target = made / place
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_file(target, text.encode())
            folders[f"-idirafter{target.parent}"] = None
    return list(folders)


def _of_file(root: Path, path: Path, package: Mapping[str, str]) -> dict[str, str | None]:
    """Return the headers that the commands of a makefile or a set-up write, by their names."""
    if path.name not in (*MAKEFILES, "configure"):
        return {}
    text = content(path).decode("utf-8", "replace")
    if _WRITES.search(text) is None:
        return {}
    if path.name == "configure":
        by_hand = set_by_hand(path.parent)
        shell = _Shell(by_hand, path.parent)
        if by_hand:
            shell.run(text)
        return shell.headers
    shell = _Shell({}, path.parent)
    fill = expander(root, path, package)
    for target, recipe in _rules(text):
        if _WRITES.search(recipe):
            lines = re.sub(r"^\t[@+-]*", "", recipe, flags=re.MULTILINE).replace("\\\n", " ")
            shell.run(fill(lines.replace("$@", target)).replace("$$", "$"))
    return shell.headers


def _rules(text: str) -> Iterator[tuple[str, str]]:
    """Yield the first targets and the recipes of a makefile."""
    for match in _RECIPE.finditer(text):
        end = match.start()
        while text[end - 1 : end] == "\n":
            end -= 1
        if (rule := _RULE.match(text[text.rfind("\n", 0, end) + 1 : end])) is not None:
            yield rule[1].split()[0], match[0]


class _Shell:
    """What commands write, read one after the other."""

    def __init__(self, known: Mapping[str, str], folder: Path) -> None:
        self._known, self._folder = known, folder
        self.headers: dict[str, str | None] = {}
        """Texts by the names of files; None when other programs than those for words write it."""

    def run(self, text: str) -> None:
        """Follow commands."""
        stack: list[tuple[Node, bool]] = [(tree(text), False)]
        while stack:
            node, partial = stack.pop()
            if node.type == "redirected_statement":
                self._add_redirect(node, partial)
            else:
                partial = partial or node.type in _PARTIAL
                stack.extend((child, partial) for child in reversed(node.children))

    def _add_redirect(self, node: Node, partial: bool) -> None:
        every = [
            *node.children,
            *(
                inner
                for child in node.children
                if child.type == "heredoc_redirect"
                for inner in child.children
            ),
        ]
        files = [child for child in every if child.type == "file_redirect"]
        where = files[0].child_by_field_name("destination") if len(files) == 1 else None
        name = "" if where is None else self._word(where)
        if not name.endswith(".h"):
            return
        text = self._output_of(node)
        appends = any(child.type == ">>" for child in files[0].children)
        before = self.headers.get(name, "") if appends else ""
        if partial and appends:  # of what depends on something only headers that are there count
            match = _INCLUDE.fullmatch(text or "")
            text = text if match is not None and is_of_the_system(match[1]) else ""
        if text is None or before is None or len(before) + len(text) > _LONGEST:
            self.headers[name] = None
        else:
            self.headers[name] = before + text

    def _output_of(self, node: Node) -> str | None:
        """Return what commands below a node write; None when that is unknown."""
        documents = [child for child in node.children if child.type == "heredoc_redirect"]
        said: list[str] = []
        stack = [child for child in node.children if "redirect" not in child.type]
        while stack:
            inner = stack.pop()
            if inner.type == "command":
                text = self._document(documents) if documents else self._command(inner)
                if text is None:
                    return None
                said.append(text)
            elif inner.is_named:
                if inner.type in (*_PARTIAL, "pipeline"):
                    return None
                stack.extend(reversed(inner.children))
        return "".join(said)

    def _command(self, node: Node) -> str | None:
        name, *words = self._words(node)
        if name == "echo":
            while words and re.fullmatch(r"-[neE]+", words[0]):
                words = words[1:]
            return f"{_plain(' '.join(words))}\n"
        if name == "printf" and words:
            form, left = _plain(words[0]), iter(words[1:])
            return _MARK.sub(lambda match: "%" if match[0] == "%%" else next(left, ""), form)
        return None

    def _document(self, documents: Sequence[Node]) -> str | None:
        bodies = [
            child
            for document in documents
            for child in document.children
            if child.type == "heredoc_body"
        ]
        return self._fill_in(bodies[0]) if len(bodies) == 1 else None

    def _words(self, node: Node) -> list[str]:
        """Return the words of a command; the grammar takes some apart that are written without a
        gap.
        """
        found: list[str] = []
        end = -1
        for named_child in node.named_children:
            before = found.pop() if named_child.start_byte == end else ""
            found.append(before + self._word(named_child))
            end = named_child.end_byte
        return found

    def _word(self, node: Node) -> str:
        """Return what a word represents; what only a run could tell is left out."""
        kind, written = node.type, (node.text or b"").decode("utf-8", "replace")
        if kind == "raw_string":
            return written[1:-1]
        if kind in ("simple_expansion", "expansion"):
            return self._known.get(written.strip("${}"), "")
        if kind == "command_substitution":
            return shell_output(written.strip("`$() "), self._folder) or ""
        if kind == "string":
            return _QUOTED.sub(r"\1", self._fill_in(node)[1:-1])
        if kind in ("concatenation", "command_name"):
            return "".join(map(self._word, node.children))
        return re.sub(r"\\(.)", r"\1", written)

    def _fill_in(self, node: Node) -> str:
        """Return a text with what is in it for something else filled in."""
        whole, start = node.text or b"", node.start_byte
        parts: list[str] = []
        at = 0
        for child in node.named_children:
            if child.type in ("simple_expansion", "expansion", "command_substitution"):
                parts += [
                    whole[at : child.start_byte - start].decode("utf-8", "replace"),
                    self._word(child),
                ]
                at = child.end_byte - start
        return "".join([*parts, whole[at:].decode("utf-8", "replace")])


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda match: _SIGNS.get(match[1], match[1]), text)

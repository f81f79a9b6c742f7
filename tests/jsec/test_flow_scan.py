"""Values followed through all files of a folder: what is told, and what is not done again."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from folders import Scan, write
from two_files import HEADER, LONG, PAST, SHORT, SINK

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.errors import ConfigError
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.flow.lower.c.file import lower
from jarvis_ls.jsec.flow.program.file_outline import outline_of
from jarvis_ls.jsec.flow.program.ir_store import Store, StoreFolder
from jarvis_ls.jsec.flow.program.runner import Runner
from jarvis_ls.jsec.scan.file_scanner import analysis_of
from jarvis_ls.jsec.scan.result import ScanResult
from jarvis_ls.jsec.settings.settings import load_settings

pytestmark = pytest.mark.watches()

BAD: dict[str, str | bytes] = {"a/sink.c": SINK, "a/sink.h": HEADER, "a/start.c": LONG}

GOOD: dict[str, str | bytes] = {**BAD, "a/start.c": SHORT}


def flaws(result: ScanResult) -> list[Finding]:
    return [one for one in result.findings if one.rule == PAST]


def test_a_place_on_the_way_is_told_once(tmp_path: Path, scan_folder: Scan) -> None:
    twice = "#include <stdlib.h>\nvoid f(char *p) {\n    free(p);\n    free(p);\n}\n"
    (one,) = scan_folder(write(tmp_path, {"a.c": twice})).findings
    assert [step.span.line for step in one.trace] == [3, 4] and one.related == ()


def test_a_flaw_is_told_where_it_hurts_with_the_way_there(
    tmp_path: Path, scan_folder: Scan
) -> None:
    (one,) = flaws(scan_folder(write(tmp_path, BAD)))
    assert (one.file, one.span.line, one.cwe[0]) == ("a/sink.c", 5, 121)
    assert one.confidence >= 0.55  # through calls: what a class proved to be worth
    places = [(step.file, step.span.line) for step in one.trace]
    assert ("a/start.c", 7) in places
    assert places[-1] == ("a/sink.c", 5)
    assert one.trace[-1].message == one.message


ORDERED = """#include <stdlib.h>
#include <string.h>
static void release(char *block, int fail) {
    if (fail)
        free(block);
}
void start(size_t count, int fail) {
    char *block = malloc(16);
    if (block == NULL)
        return;
    if (count > 16) {
        release(block, fail);
        goto done;
    }
    memset(block, 0, count);
done:
    free(block);
}
int main(int argc, char **argv) {
    if (argc > 1) {
        char room[8];
        strcpy(room, argv[1]);
    }
    return 0;
}
"""


def test_the_way_is_told_in_the_order_it_is_gone(tmp_path: Path, scan_folder: Scan) -> None:
    found = scan_folder(write(tmp_path, {"a.c": ORDERED})).findings
    ways = {one.rule: [step.span.line for step in one.trace] for one in found}
    assert ways["write-past-buffer"] == [19, 20, 21, 22]
    freed = ways["double-free"]
    assert freed[-1] == 17 and freed.index(8) < freed.index(9) < freed.index(11), freed


GROWING = """#include <stdio.h>
#include <stdlib.h>
struct article { char name[32]; long price; };
struct store { struct article *articles; size_t count, capacity; };
static int grow(struct store *store) {
    size_t capacity = store->capacity ? store->capacity * 2 : 16;
    void *bigger = realloc(store->articles, capacity * sizeof(struct article));
    if (bigger == NULL)
        return -1;
    store->articles = bigger;
    store->capacity = capacity;
    return 0;
}
int store_add(struct store *store, const char *name) {
    if (store->count == store->capacity && grow(store) != 0)
        return -1;
    snprintf(store->articles[store->count].name, 32, "%s", name);
    store->count++;
    return 0;
}
int import(struct store *store, FILE *file) {
    char name[32];
    while (fscanf(file, "%31s", name) == 1)
        if (store_add(store, name) != 0)
            return -1;
    return 0;
}
"""


def test_input_that_fits_does_not_say_where_it_goes(tmp_path: Path, scan_folder: Scan) -> None:
    assert flaws(scan_folder(write(tmp_path, {"a.c": GROWING}))) == []


def test_the_place_is_silent_when_only_good_values_get_there(
    tmp_path: Path, scan_folder: Scan
) -> None:
    result = scan_folder(write(tmp_path, GOOD))
    assert [one for one in result.findings if 121 in one.cwe] == []


HELD = """\
#include "sink.h"
void start(void) {
    void (*route)(const char *) = put;
    route("short");
}
"""

GIVEN_AWAY = """\
#include "sink.h"
void hand_on(void (*route)(const char *));
void start(void) {
    void (*route)(const char *) = put;
    hand_on(route);
    route("short");
}
"""


@pytest.mark.parametrize("start, told", [(HELD, 0), (GIVEN_AWAY, 1)])
def test_a_function_that_a_variable_holds_is_called_by_nobody_else(
    tmp_path: Path, scan_folder: Scan, start: str, told: int
) -> None:
    result = scan_folder(write(tmp_path, {**GOOD, "a/start.c": start}))
    assert len([one for one in result.findings if 121 in one.cwe]) == told


def test_a_guess_stands_with_little_confidence_where_nobody_calls(
    tmp_path: Path, scan_folder: Scan
) -> None:
    (guess,) = scan_folder(write(tmp_path, {"sink.c": SINK.replace('#include "sink.h"', "")})).shown
    assert guess.rule == "unbounded-string-copy"
    assert guess.confidence < 0.6


@pytest.mark.parametrize("size, wrong", [(20, True), (9, False)])
def test_a_call_without_arguments_is_told_what_lies_in_variables_of_the_program(
    tmp_path: Path, scan_folder: Scan, size: int, wrong: bool
) -> None:
    start = f"extern int size;\nvoid put(void);\nvoid start(void) {{ size = {size}; put(); }}\n"
    put = "int size;\nvoid put(void) { char room[10]; room[size] = 1; }\n"
    result = scan_folder(write(tmp_path, {"start.c": start, "put.c": put}))
    assert [one.cwe[0] for one in result.findings if one.confidence > 0.55] == [121] * wrong


def test_flow_can_be_switched_off(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {**BAD, ".jarvis/jsec.toml": "flow = false\n"})
    result = scan_folder(tmp_path, cached=True)
    assert {one.rule for one in result.shown} == {"unbounded-string-copy"}
    assert not (tmp_path / ".jarvis/cache/flow").exists()


@pytest.mark.parametrize("jobs", [1, 3])
def test_neither_processes_nor_the_order_of_files_change_what_is_told(
    tmp_path: Path, scan_folder: Scan, jobs: int
) -> None:
    files = {
        f"{where}/{name}": text
        for where in ("x", "y")
        for name, text in {**BAD, "more.c": MORE}.items()
    }
    names = list(files)
    random.Random(jobs).shuffle(names)
    write(tmp_path, {name: files[name] for name in names})
    told = [
        (one.file, one.span, one.fingerprint, one.trace)
        for one in scan_folder(tmp_path, jobs=jobs).findings
    ]
    assert told == [
        (one.file, one.span, one.fingerprint, one.trace)
        for one in scan_folder(tmp_path, jobs=2).findings
    ]
    assert sum("sink.c" in file for file, *_ in told) == 2


MORE = """\
#include "a/sink.h"
#include <stdlib.h>
void other(char *p) {
    free(p);
    free(p);
    put("ok");
}
"""


def test_names_of_two_programs_are_not_mixed(tmp_path: Path, scan_folder: Scan) -> None:
    bad = {f"bad/{name[2:]}": text for name, text in BAD.items()}
    good = {f"good/{name[2:]}": text for name, text in GOOD.items()}
    (one,) = flaws(scan_folder(write(tmp_path, {**good, **bad})))
    assert one.file == "bad/sink.c"


@pytest.mark.parametrize(("large", "small"), [("a.c", "b.c"), ("b.c", "a.c")])
def test_a_struct_of_another_file_is_not_meant(
    tmp_path: Path, scan_folder: Scan, large: str, small: str
) -> None:
    body = (
        "#include <string.h>\nstruct box { char text[%d]; };\n"
        "void %s(void) {\n    struct box one;\n    memset(&one, 0, 32);\n%s}\n"
    )
    files: dict[str, str | bytes] = {
        large: body % (64, "fits", "    spills();\n"),
        small: body % (4, "spills", ""),
    }
    (one,) = flaws(scan_folder(write(tmp_path, files)))
    assert (one.file, one.span.line) == (small, 5)


def test_a_struct_whose_members_have_no_known_size_has_none(
    tmp_path: Path, scan_folder: Scan
) -> None:
    files: dict[str, str | bytes] = {
        "types.h": "typedef unsigned long word;\n",
        "shape.h": "typedef struct { word input[16]; unsigned char rest[64]; } state;\n",
        "start.c": '#include "types.h"\n#include "shape.h"\n'
        "void start(state *st, word n) { st->input[12] = n; st->input[15] = n; }\n",
        "try.c": '#include "types.h"\n#include "shape.h"\nvoid start(state *st, word n);\n'
        "void attempt(void) { state st; start(&st, 1); }\n",
    }
    assert flaws(scan_folder(write(tmp_path, files))) == []


def test_records_without_a_name_are_those_of_the_header(tmp_path: Path, scan_folder: Scan) -> None:
    """Two structures have a member of one name; each is an array of a record without a name."""
    files: dict[str, str | bytes] = {
        "tiles.h": """#include <stdint.h>
typedef struct tiles tiles_t;
struct tiles {
    uint16_t count;
    struct { uint8_t row, column; } entry[512];
};
typedef struct {
    struct { uint32_t first; } entry[4];
} other_t;
""",
        "read.c": """#include "tiles.h"
uint32_t bit_reader_get_bits(void *reader, unsigned bits);
void read_list(void *reader, tiles_t *tiles) {
    tiles->count = bit_reader_get_bits(reader, 16);
    for (int at = 0; at <= tiles->count; at++)
        tiles->entry[at].row = 1;
}
void read_short(void *reader, tiles_t *tiles) {
    tiles->count = bit_reader_get_bits(reader, 16);
    for (int at = 0; at <= tiles->count && at < 512; at++)
        tiles->entry[at].row = 1;
}
""",
    }
    found = flaws(scan_folder(write(tmp_path, files)))
    assert [one.span.line for one in found] == [6]


def test_the_size_of_elements_comes_from_the_header(tmp_path: Path, scan_folder: Scan) -> None:
    files: dict[str, str | bytes] = {
        "part.h": "typedef struct part { char *base; unsigned long size; } part_t;\n",
        "use.c": """#include <stdlib.h>
#include "part.h"
static char WORD[] = "word\\n";
typedef struct { part_t part; int count; } kept_t;
part_t made(char *base);
void use(part_t *parts, long count);
void several(void) {
    part_t parts[sizeof WORD - 1];
    part_t *last = parts;
    parts[0] = made(WORD);
    last++;
    *last = made(WORD);
    use(parts, last - parts);
}
void too_many(void) {
    part_t parts[sizeof WORD - 1];
    parts[5] = made(WORD);
    use(parts, 5);
}
void given_away(part_t *out) {
    kept_t *kept = malloc(sizeof *kept + 8);
    if (!kept)
        abort();
    kept->part.base = (char *)(kept + 1);
    *out = kept->part;
}
""",
    }
    result = scan_folder(write(tmp_path, files))
    assert [one.span.line for one in flaws(result)] == [17]
    assert "memory-leak" not in [one.rule for one in result.shown]


def test_a_macro_for_builds_without_a_function_is_not_the_function(
    tmp_path: Path, scan_folder: Scan
) -> None:
    files: dict[str, str | bytes] = {
        "name.h": """struct name { char *text; };
#ifdef NAMES
struct name *name_new(void);
#else
extern struct name no_name;
#define name_new() (&no_name)
#endif
""",
        "name.c": """#include <stdlib.h>
#include "name.h"
struct name no_name;
struct name *name_new(void) {
    return calloc(1, sizeof(struct name));
}
""",
        "use.c": """#include <stdlib.h>
#include "name.h"
void use(void) {
    struct name *name = name_new();
    free(name);
}
""",
    }
    found = scan_folder(write(tmp_path, files)).shown
    assert "free-of-non-heap-memory" not in [one.rule for one in found]


def test_a_static_function_of_another_file_is_not_meant(tmp_path: Path, scan_folder: Scan) -> None:
    hidden = SINK.replace("void put", "static void put").replace('#include "sink.h"', "")
    result = scan_folder(write(tmp_path, {"sink.c": hidden, "start.c": LONG, "sink.h": HEADER}))
    assert flaws(result) == []


def test_comments_suppress_what_flow_proves(tmp_path: Path, scan_folder: Scan) -> None:
    marked = SINK.replace(
        "strcpy(room, data);", f"strcpy(room, data); // jsec-ignore: {PAST} known to be short"
    )
    result = scan_folder(write(tmp_path, {**BAD, "a/sink.c": marked}))
    assert [one.suppressed.partition(":")[0] for one in flaws(result)] == ["comment"]
    assert result.shown == []


class TestAgain:
    """A second scan of the same folder."""

    def test_nothing_is_done_again_when_nothing_changed(
        self, tmp_path: Path, scan_folder: Scan
    ) -> None:
        write(tmp_path, BAD)
        first, second = (scan_folder(tmp_path, cached=True) for _ in range(2))
        assert second.cached == 3
        assert second.findings == first.findings

    def test_a_change_in_one_file_changes_what_is_told_of_another(
        self, tmp_path: Path, scan_folder: Scan
    ) -> None:
        write(tmp_path, BAD)
        assert flaws(scan_folder(tmp_path, cached=True))
        write(tmp_path, GOOD)
        result = scan_folder(tmp_path, cached=True)
        assert (result.cached, flaws(result)) == (2, [])
        write(tmp_path, BAD)
        assert flaws(scan_folder(tmp_path, cached=True))

    def test_a_change_reaches_every_caller_in_another_file(
        self, tmp_path: Path, scan_folder: Scan
    ) -> None:
        callers = (
            "void put(char *p, int n);\nvoid wide(void) { char x[40]; put(x, 2); }\n"
            "void near(void) { char x[8]; put(x, 6); }\n"
        )
        sink = "void put(char *p, int n) { p[%s] = 0; }\n"
        write(tmp_path, {"callers.c": callers, "put.c": sink % "n"})
        assert flaws(scan_folder(tmp_path, cached=True)) == []
        write(tmp_path, {"put.c": sink % "n + 4"})
        assert len(flaws(scan_folder(tmp_path, cached=True))) == 1

    def test_a_release_that_comes_about_two_calls_below_reaches_the_caller(
        self, tmp_path: Path, scan_folder: Scan
    ) -> None:
        user = "void end(char *p);\nvoid use(char *p) { end(p); p[0] = 0; }\n"
        between = "void drop(char *p);\nvoid end(char *p) { if (p) drop(p); }\n"
        drop = "#include <stdlib.h>\nvoid drop(char *p) { %s; }\n"
        write(tmp_path, {"use.c": user, "end.c": between, "drop.c": drop % "p[1] = 2"})
        assert scan_folder(tmp_path, cached=True).findings == []
        write(tmp_path, {"drop.c": drop % "free(p)"})
        (one,) = scan_folder(tmp_path, cached=True).findings
        assert (one.file, one.cwe[0]) == ("use.c", 416)

    def test_a_way_ends_where_what_is_called_several_files_away_stops(
        self, tmp_path: Path, scan_folder: Scan
    ) -> None:
        text = "void fail(void);\nvoid use(char *p) { if (!p) { fail(); } p[0] = 0; }\n"
        fail = "void leave(void);\nvoid fail(void) { leave(); }\n"
        leave = "#include <stdlib.h>\n#include <stdio.h>\nvoid leave(void) { %s; }\n"
        write(tmp_path, {"use.c": text, "fail.c": fail, "leave.c": leave % "exit(1)"})
        assert scan_folder(tmp_path, cached=True).findings == []
        write(tmp_path, {"leave.c": leave % 'puts("no")'})
        found = scan_folder(tmp_path, cached=True).findings
        assert [one.file for one in found if one.cwe[0] == 476] == ["use.c"]

    def test_lines_above_move_the_way_with_them(self, tmp_path: Path, scan_folder: Scan) -> None:
        write(tmp_path, BAD)
        scan_folder(tmp_path, cached=True)
        write(tmp_path, {"a/start.c": "/* moved */\n\n" + LONG})
        (one,) = flaws(scan_folder(tmp_path, cached=True))
        assert ("a/start.c", 9) in [(step.file, step.span.line) for step in one.trace]

    @pytest.mark.parametrize("how", ["emptied", "torn", "replaced", "other key"])
    def test_kept_functions_that_are_not_ours_are_not_believed(
        self, tmp_path: Path, scan_folder: Scan, monkeypatch: pytest.MonkeyPatch, how: str
    ) -> None:
        write(tmp_path, BAD)
        first = scan_folder(tmp_path, cached=True)
        folder = tmp_path / ".jarvis/cache/flow"
        for file in sorted(folder.iterdir()):
            data = file.read_bytes()
            if how == "emptied":
                file.write_bytes(b"")
            elif how == "torn":
                file.write_bytes(data[: len(data) // 2])
            elif how == "replaced":
                file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        if how == "other key":
            monkeypatch.setenv("JARVIS_HOME", str(tmp_path / "another"))
        write(tmp_path, {"a/new.c": "int unused;\n"})
        again = scan_folder(tmp_path, cached=True)
        assert flaws(again) == [] or flaws(again) == flaws(first)
        write(
            tmp_path,
            {
                name: text + b"\n" if isinstance(text, bytes) else text + "\n"
                for name, text in BAD.items()
            },
        )
        assert len(flaws(scan_folder(tmp_path, cached=True))) == 1

    def test_what_is_kept_of_gone_files_is_removed(self, tmp_path: Path, scan_folder: Scan) -> None:
        write(tmp_path, {**BAD, "b.c": MORE})
        scan_folder(tmp_path, cached=True)
        folder = tmp_path / ".jarvis/cache/flow"
        before = len(list(folder.iterdir()))
        (tmp_path / "b.c").unlink()
        scan_folder(tmp_path, cached=True)
        assert len(list(folder.iterdir())) == before - 2


@pytest.mark.parametrize("declared", [True, False])
def test_a_function_for_systems_without_it_counts_where_it_is_declared(
    tmp_path: Path, scan_folder: Scan, declared: bool
) -> None:
    header = '#include "port.h"\n' * declared
    found = scan_folder(
        write(
            tmp_path,
            {
                "port.h": "int close(int handle);\n",
                "port.c": "int close(int handle) { return fclose((FILE *)handle); }\n",
                "use.c": header + "int use(void) { int s = socket(2, 1, 0); return close(s); }\n",
            },
        )
    ).findings
    wrong = [one.file for one in found if one.rule == "mismatched-release"]
    assert wrong == ["port.c"] * declared


TWO = """#include <stdlib.h>
void twice(char *p) { free(p); free(p); }
void after(char *p) { free(p); *p = 0; }
"""


def runner(folder: Path, *, lasting: bool) -> Runner:
    """Follows the functions of one file that are kept in a folder."""
    source = Source("a.c", TWO.encode())
    file = lower(Unit(source, "c", Facts()), parse(source.data, "c").root_node)
    place = StoreFolder(str(folder), b"k" * 32, "1", lasting=lasting)
    Store(place).put("unit", outline_of(file, source.data), file.functions)
    return Runner(place, {"a.c": "unit"}, analysis_of)


@pytest.mark.parametrize("lasting", [True, False])
def test_answers_are_kept_only_where_a_later_scan_finds_them(tmp_path: Path, lasting: bool) -> None:
    first = runner(tmp_path, lasting=lasting).follow("a.c")
    again = runner(tmp_path, lasting=lasting).follow("a.c")
    assert {fault.kind for fault in first.faults} >= {"double-free", "use-after-free"}
    assert (again.faults, again.decided, again.open) == (first.faults, first.decided, first.open)
    assert (first.analysed, again.analysed) == (2, 0 if lasting else 2)


def test_what_was_followed_alone_is_not_followed_again_with_the_others(tmp_path: Path) -> None:
    whole = runner(tmp_path / "whole", lasting=False).follow("a.c")
    following = runner(tmp_path / "alone", lasting=False)
    assert following.follow("a.c", ["twice"]).analysed == 1
    rest = following.follow("a.c")
    assert (rest.analysed, rest.faults) == (1, whole.faults)


def test_nothing_stays_without_a_cache(
    tmp_path: Path, scan_folder: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    spare = tmp_path / "spare"
    spare.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spare))
    assert flaws(scan_folder(write(tmp_path / "project", BAD)))
    assert list(spare.iterdir()) == []


OWN = """\
[[source]]
function = "read_packet"
argument = 1
size = 2

[[sink]]
function = "run_tool"
argument = 2
kind = "command"

[[sanitizer]]
function = "quoted"
"""

USES = """\
void read_packet(char *to, int size);
void run_tool(int how, const char *what);
char *quoted(const char *text);
void serve(void) {
    char line[64];
    read_packet(line, sizeof line);
    run_tool(1, line);
}
void serve_quoted(void) {
    char line[64];
    read_packet(line, sizeof line);
    run_tool(1, quoted(line));
}
"""


def test_sources_sinks_and_sanitizers_of_the_users_own(tmp_path: Path, scan_folder: Scan) -> None:
    write(tmp_path, {"serve.c": USES})
    assert scan_folder(tmp_path, cached=True).shown == []
    write(tmp_path, {".jarvis/jsec.toml": OWN})
    (one,) = scan_folder(tmp_path, cached=True).shown
    assert (one.rule, one.span.line, one.cwe) == ("command-from-variable", 7, (78,))
    assert any("read_packet()" in str(step.message) for step in one.trace)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[[source]]\nfunction = "a::b"\n', "source[1].function: must be the name of a function"),
        ("[[source]]\nargument = 1\n", "source[1].function: is missing"),
        ('[[source]]\nfunction = "f"\nreturns = "x"\n', "must be one of text, number"),
        ('[[sink]]\nfunction = "f"\nkind = "path"\n', "sink[1].argument: is missing"),
        ('[[sink]]\nfunction = "f"\nargument = 0\nkind = "path"\n', "number of an argument"),
        ('[[sink]]\nfunction = "f"\nargument = 1\nkind = "x"\n', "one of command, path, format"),
        ('[[sanitizer]]\nfunction = "f"\nkind = "x"\n', "sanitizer[1].kind: is not known"),
        ("flow = 1\n", "flow: must be true or false"),
    ],
)
def test_what_is_wrong_in_the_settings_is_named(tmp_path: Path, text: str, what: str) -> None:
    write(tmp_path, {".jarvis/jsec.toml": text})
    with pytest.raises(ConfigError, match=re.escape(what)):
        load_settings(tmp_path)


NUMBERS = """\
#include <stdio.h>
static void share(int total, int count) {
    printf("total %d", total);
    printf("part %d", total / count);
}
static void mark(int index) {
    int numbers[10] = {0};
    printf("index %d", index);
    if (index >= 0) numbers[index] = 1;
    printf("%d", numbers[0]);
}
static void show(const char *name) {
    printf("name");
    printf("%c", name[0]);
}
void bad(void) { share(100, 0); mark(12); show(NULL); }
void good(void) { share(100, 2); mark(9); show("a"); }
"""


def test_what_a_call_writes_out_is_followed(tmp_path: Path, scan_folder: Scan) -> None:
    found = scan_folder(write(tmp_path, {"a.c": NUMBERS})).findings
    firm = {(one.rule, one.span.line) for one in found if one.confidence >= 0.52}
    assert firm == {("division-by-zero", 4), (PAST, 9), ("null-dereference", 14)}


def test_a_number_of_one_function_is_none_of_another(tmp_path: Path, scan_folder: Scan) -> None:
    """24.0 and 24 are equal, and divide otherwise."""
    rows = """\
double hours(double n) { return n * 24.0; }
int look(const char *text, const char *pattern);
int main(int argc, char **argv) {
    struct row { void *run; const char *name; int time; } rows[] = { { 0, "a", 1 } };
    int i, n;
    for (n = 1; n < argc; n++) {
        const char *text = argv[n];
        if (text[0] == '-') {
        }
        for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            if (look(text, rows[i].name) == 0) break;
        }
    }
    return 0;
}
"""
    found = scan_folder(write(tmp_path, {"a.c": rows})).findings
    assert not [one for one in found if "buffer" in one.rule]


TABLE = """struct rgb { unsigned char r, g, b; };
struct row { int first; int far; };
static struct rgb names[] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
static const struct row table[] = {{0, 9000}, {1, 8000}, {2, 7000}};
static int at = 0;
void move(int to) { if (to >= 0 && to < 3) at = to; }
int good(void) { return names[table[at].first].g; }
int bad(void) { return names[table[at].far].g; }
"""


def test_a_member_of_any_element_of_a_table_is_not_another_member(
    tmp_path: Path, scan_folder: Scan
) -> None:
    found = scan_folder(write(tmp_path, {"a.c": TABLE})).findings
    assert [(one.rule, one.span.line) for one in found] == [("read-beyond-buffer", 8)]


FORMATTED = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {{
    char room[40];
    const char *home = getenv("HOME");
    if (argc < 2 || home == NULL)
        return 1;
    {statement}
    return puts(room);
}}
"""


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ('sprintf(room, "%s", argv[1]);', True),
        ('sprintf(room, "/srv/%s", argv[1]);', True),
        ('sprintf(room, "%d %s/x", argc, home);', True),
        ('sprintf(room, "%.20s", argv[1]);', False),
        ('sprintf(room, "%.20s %d", home, argc);', False),
        ('sprintf(room, "%.*s", 20, argv[1]);', False),
        ('sprintf(room, "%.*s%s", 2, home, argv[1]);', True),
        ('snprintf(room, sizeof room, "%s", argv[1]);', False),
        ('sprintf(room, "%s", argc > 2 ? "one" : "two");', False),
    ],
)
def test_text_of_any_length_is_formatted_into_a_buffer(
    tmp_path: Path, scan_folder: Scan, statement: str, told: bool
) -> None:
    result = scan_folder(write(tmp_path, {"a.c": FORMATTED.format(statement=statement)}))
    assert [one.span.line for one in flaws(result)] == [8] * told


WHOLLY_FOLLOWED = {
    "untrusted-search-path": """\
#include <stdlib.h>
int main(void) {
    setenv("PATH", ".:/usr/bin", 1);
    return 0;
}
""",
    "uninitialized-variable": """\
char *pointer(void) {
    char *text;
    return text;
}
""",
    "use-after-free": """\
#include <stdlib.h>
#include <string.h>
char *returned(void) {
    char *text = strdup("x"); if (!text) return 0; free(text);
    return text;
}
""",
    "path-from-input": """\
#include <fcntl.h>
#include <stdio.h>
int main(int argc, char **argv) {
    char path[300];
    if (argc < 2) return 1;
    snprintf(path, sizeof(path), "/srv/%s", argv[1]);
    return open(path, O_RDONLY);
}
""",
}


@pytest.mark.parametrize("rule", WHOLLY_FOLLOWED)
def test_what_flow_does_not_ask_it_does_not_refute(
    tmp_path: Path, scan_folder: Scan, rule: str
) -> None:
    """Also where a function is followed on all ways."""
    found = scan_folder(write(tmp_path, {"a.c": WHOLLY_FOLLOWED[rule]})).findings
    assert rule in {one.rule for one in found}

"""Fixes read as the maintainer of the file would write them: layout, error handling, cleanup.

Each program is shown before and after all fixes of one rule.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.source import decode
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.engine.rule_runner import Engine
from jarvis_ls.jsec.scan.apply_fixes import apply_fixes

pytestmark = pytest.mark.watches()

ENGINE = Engine()
FIXTURES = sorted((Path(__file__).parent / "rules").rglob("*.*"))
STYLE = 0.3
"""Confidence below which a finding is about style: for example that nothing notices a cut text."""
CRASHES = {"index-from-input", "unwrap-on-external-input"}
"""Rules of Rust about a panic, which may take the place of undefined behaviour."""


def analysed(name: str, raw: bytes) -> list[Finding]:
    source = decode(name, raw)
    language = language_of(name, source.data)
    assert language is not None
    return ENGINE.analyse(source, language).findings


def fixed(name: str, text: str, rule: str) -> str:
    source = decode(name, text.encode())
    language = language_of(name, source.data)
    assert language is not None
    found = [item for item in analysed(name, source.data) if item.rule == rule]
    return apply_fixes(source, language, found, unsafe=True).after.decode()


GNU = """#include <stdio.h>

int
header (const char *path, char *to)
{
  FILE *file = fopen (path, "rb");

  if (file == NULL)
    {
      perror (path);
      return -1;
    }
  fread (to, 1, 16, file);
  fclose (file);
  return 0;
}
"""

TABS = """#include <stdlib.h>

struct list { int *items; size_t count; };

int grow(struct list *list, size_t count)
{
	if(!list)
		return -1;

	list->items = realloc(list->items, count * sizeof(int));
	if(!list->items)
		return -1;
	list->count = count;
	return 0;
}
"""

OWN = """#include <stdlib.h>

int use(char *text);

int repeat(size_t count)
{
    char *text = malloc(8);
    int result = -1;

    if (text == NULL)
        return -1;
    for (size_t i = 8; i < count; i *= 2) {
        text = realloc(text, i);
        result = use(text);
    }
    free(text);
    return result;
}
"""

CLEANUP = """#include <stdlib.h>
#include <string.h>

struct pair { char *name; char *value; };

struct pair *make(const char *name, const char *value)
{
    struct pair *pair = malloc(sizeof *pair);
    char *copy;

    if (!pair)
        goto fail;
    pair->name = strdup(name);
    copy = strdup(value);
    copy[0] = '-';
    pair->value = copy;
    return pair;

fail:
    return NULL;
}
"""

OWNED = """#include <stdlib.h>
#include <string.h>

char *join(const char *name, const char *value)
{
    char *first = malloc(64);
    char *second;

    if (first == NULL) {
        return NULL;
    }
    second = malloc(64);
    second[0] = name[0];
    first[0] = value[0];
    free(second);
    return first;
}
"""

LOCKED = """#include <pthread.h>

static pthread_mutex_t lock;
int full(void);
int put(int item);

int add(int item)
{
\tint done;

\tpthread_mutex_lock(&lock);
\tif (full())
\t\treturn -1; /* try again */
\telse
\t\tdone = put(item);
\tpthread_mutex_unlock(&lock);
\treturn done;
}
"""

LATER = """#include <stdlib.h>

struct job { int state; char *name; };
void note(int state);

int finish(struct job *job)
{
    free(job->name);
    free(job); /* done */
    note(job->state);
    return 0;
}

int state_of(struct job *job)
{
    free(job);
    return job->state;
}
"""

LIST = """#include <stdlib.h>

struct item { struct item *next; char *name; };

void drop(struct item *item)
{
    for (; item != NULL; item = item->next) {
        free(item->name);
        free(item);
    }
}

void drop_all(struct item **head)
{
    struct item *item = *head;
    while (item) {
        free(item);
        item = item->next;
    }
    *head = NULL;
}
"""

PRODUCT = """#include <stdio.h>
#include <stdlib.h>

int *numbers(FILE *in)
{
    size_t count;
    int *numbers;

    if (fread(&count, sizeof count, 1, in) != 1)
        return NULL;
    numbers = malloc(count * sizeof(int) + 16);
    return numbers;
}
"""

ENDS = """#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char line[80];
    FILE *file = fopen(argv[1], "r");

    if (file == NULL) {
        perror("fopen");
        exit(1);
    }
    fgets(line, sizeof line, file);
    fclose(file);
    return line[0] == argc;
}
"""

EXPECTED = [
    (
        "unchecked-read",
        GNU,
        "  fread (to, 1, 16, file);\n",
        "  if (fread (to, 1, 16, file) != 16)\n    {\n      fclose (file);\n      return -1;\n"
        "    }\n",
    ),
    (
        "realloc-assign-back",
        TABS,
        "\tif(!list)\n\t\treturn -1;\n\n"
        "\tlist->items = realloc(list->items, count * sizeof(int));\n"
        "\tif(!list->items)\n\t\treturn -1;\n",
        "\tint *resized;\n\n\tif(!list)\n\t\treturn -1;\n\n"
        "\tresized = realloc(list->items, count * sizeof(int));\n"
        "\tif(!resized)\n\t\treturn -1;\n\tlist->items = resized;\n",
    ),
    (
        "realloc-assign-back",
        OWN,
        "        text = realloc(text, i);\n",
        "        char *resized = realloc(text, i);\n\n        if (resized == NULL) {\n"
        "            free(text);\n            return -1;\n        }\n        text = resized;\n",
    ),
    (
        "unchecked-allocation",
        CLEANUP,
        "    copy = strdup(value);\n",
        "    copy = strdup(value);\n    if (!copy)\n        goto fail;\n",
    ),
    (
        "unchecked-allocation",
        OWNED,
        "    second = malloc(64);\n",
        "    second = malloc(64);\n    if (second == NULL) {\n        free(first);\n"
        "        return NULL;\n    }\n",
    ),
    (
        "missing-unlock",
        LOCKED,
        "\tif (full())\n\t\treturn -1; /* try again */\n\telse\n",
        "\tif (full()) {\n\t\tpthread_mutex_unlock(&lock);\n\t\treturn -1; /* try again */\n"
        "\t} else\n",
    ),
    (
        "use-after-free",
        LATER,
        "    free(job); /* done */\n    note(job->state);\n    return 0;\n}\n\n"
        "int state_of(struct job *job)\n{\n    free(job);\n    return job->state;\n",
        "    note(job->state);\n    free(job); /* done */\n    return 0;\n}\n\n"
        "int state_of(struct job *job)\n{\n    int result = job->state;\n\n    free(job);\n"
        "    return result;\n",
    ),
    (
        "use-after-free",
        LIST,
        LIST.partition("void drop(")[2],
        "struct item *item)\n{\n    struct item *next;\n\n"
        "    for (; item != NULL; item = next) {\n        next = item->next;\n"
        "        free(item->name);\n        free(item);\n    }\n}\n\n"
        "void drop_all(struct item **head)\n{\n    struct item *item = *head;\n"
        "    while (item) {\n        struct item *next = item->next;\n\n        free(item);\n"
        "        item = next;\n    }\n    *head = NULL;\n}\n",
    ),
    (
        "allocation-size-overflow",
        PRODUCT,
        "    numbers = malloc(",
        "    if (count > (SIZE_MAX - 16) / sizeof(int))\n        return NULL;\n"
        "    numbers = malloc(",
    ),
    (
        "unchecked-read",
        ENDS,
        "    fgets(line, sizeof line, file);\n",
        '    if (fgets(line, sizeof line, file) == NULL) {\n        perror("fgets");\n'
        "        exit(1);\n    }\n",
    ),
]


@pytest.mark.parametrize(("rule", "text", "old", "new"), EXPECTED)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_fix_is_written_as_the_file_is(
    rule: str, text: str, old: str, new: str, ending: str
) -> None:
    assert old in text
    wanted = text.replace(old, new, 1)
    if "SIZE_MAX" in new:
        wanted = wanted.replace("<stdlib.h>\n", "<stdlib.h>\n#include <stdint.h>\n", 1)
    after = fixed("a.c", text.replace("\n", ending), rule)
    assert after == wanted.replace("\n", ending)


NOWHERE = [
    (  # the size that lasts is said before: it would be wrong for the old block
        "realloc-assign-back",
        "#include <stdlib.h>\nstruct s { char *p; size_t n; };\nint f(struct s *s) {\n"
        "    s->n *= 2;\n    s->p = realloc(s->p, s->n);\n    if (!s->p)\n        return -1;\n"
        "    return 0;\n}\n",
    ),
    (  # what fails is told to nobody, and the rest is left undone
        "unchecked-write",
        "#include <stdio.h>\nvoid f(FILE *f, char *s) {\n    if (s == NULL)\n        return;\n"
        "    fwrite(s, 1, 4, f);\n    s[0] = 0;\n}\n",
    ),
    (  # the second number may be missing
        "unchecked-read",
        "#include <stdio.h>\nint f(const char *s) {\n    int a = 0, b = 0;\n"
        '    sscanf(s, "%d/%d", &a, &b);\n    if (a < 0)\n        return -1;\n'
        "    return a + b;\n}\n",
    ),
    (  # exits that do not agree
        "unchecked-read",
        "#include <stdio.h>\nint f(FILE *f, char *s, int a) {\n    if (s == NULL)\n"
        "        return -1;\n    if (a < 0)\n        return -2;\n    fread(s, 1, 4, f);\n"
        "    return s[0] == 'a';\n}\n",
    ),
    (  # the label is behind the call: it would jump back for ever
        "unchecked-file-operation",
        "#include <stdio.h>\nint f(FILE *f, long at) {\n    if (fgetc(f) == EOF)\n"
        "        goto out;\n    return 1;\nout:\n    fseek(f, at, SEEK_SET);\n    return 0;\n}\n",
    ),
    (  # that texts are equal is no failure
        "unchecked-lookup-result",
        '#include <string.h>\nint f(char *s) {\n    char *end;\n    if (!strcmp(s, "OK"))\n'
        "        return 0;\n    end = strchr(s, ' ');\n    *end = 0;\n    return 1;\n}\n",
    ),
    (  # the end of a file is reached in this way
        "unchecked-read",
        "#include <stdio.h>\nint f(FILE *f, char *s) {\n    int n = 0;\n    if (s == NULL)\n"
        "        return -1;\n    while (!feof(f)) {\n        fgets(s, 80, f);\n        n++;\n"
        "    }\n    return n + s[0];\n}\n",
    ),
    (  # behind a call that has to be undone
        "unchecked-file-operation",
        "#include <stdio.h>\nint f(FILE *f, long at) {\n    if (f == NULL)\n        return -1;\n"
        "    block_signals();\n    fseek(f, at, SEEK_SET);\n    unblock_signals();\n"
        "    return fgetc(f) < 0;\n}\n",
    ),
    (  # the caller of a way that gave the lock back
        "missing-unlock",
        "#include <pthread.h>\nint f(pthread_mutex_t *m, int a) {\n    pthread_mutex_lock(m);\n"
        "    if (a)\n        goto end;\n    pthread_mutex_unlock(m);\nend:\n    return a;\n}\n",
    ),
    (  # a macro that declares a function
        "uninitialized-variable",
        "int f(char *a) {\n    int own P((char *));\n    return own(a);\n}\n",
    ),
    (  # a field of a file's header that is full
        "strncpy-without-terminator",
        "#include <string.h>\nstruct h { char kind[6]; };\nvoid f(struct h *h) {\n"
        '    strncpy(h->kind, "LM8953", 6);\n}\n',
    ),
]


@pytest.mark.parametrize(("rule", "text"), NOWHERE)
def test_no_fix_where_none_is_right(rule: str, text: str) -> None:
    assert rule in {item.rule for item in analysed("a.c", text.encode())}
    assert fixed("a.c", text, rule) == text


@pytest.mark.parametrize(
    "fixture", [path for path in FIXTURES if path.suffix != ".md"], ids=lambda path: path.name
)
def test_each_fix_silences_its_finding_and_brings_none(fixture: Path) -> None:
    raw = fixture.read_bytes()
    source = decode(fixture.name, raw)
    language = language_of(fixture.name, source.data)
    assert language is not None
    own = fixture.stem.replace("_", "-")
    found = analysed(fixture.name, raw)
    compiles = None
    for finding in found:
        if finding.fix is None or finding.rule != own:
            continue
        result = apply_fixes(source, language, [finding], unsafe=True)
        assert result.applied == [finding], f"{finding.span.line}: {result.refused}"
        assert sorted(told(found) - told(analysed(fixture.name, result.after))), finding.span
        more = firm(analysed(fixture.name, result.after)) - firm(found)
        assert not more, f"{finding.span.line}: {more}"
        if language != "rust":
            compiles = is_valid(fixture, raw) if compiles is None else compiles
            assert not compiles or is_valid(fixture, result.after), result.diff()


def told(findings: list[Finding]) -> Counter[tuple[str, str]]:
    return Counter((item.rule, item.evidence) for item in findings)


def firm(findings: list[Finding]) -> Counter[str]:
    return Counter(
        item.rule for item in findings if item.confidence >= STYLE and item.rule not in CRASHES
    )


def is_valid(fixture: Path, text: bytes) -> bool:
    """Whether a compiler takes it; where there is none, nothing is."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return False
    kind = "c++" if fixture.suffix == ".cpp" else "c"
    command = [compiler, "-fsyntax-only", "-w", "-x", kind, "-"]
    return not subprocess.run(command, input=text, capture_output=True).returncode

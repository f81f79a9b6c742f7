"""How the files of a crate come together: programs, libraries, names, headers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from project import jc2r, write
from toolchain import needs_cargo, run


def by_c(source: Path, folder: Path) -> tuple[int, str, str]:
    binary = folder / f"c-{source.stem}"
    subprocess.run(
        ["cc", "-w", "-O1", "-o", binary, source, "-lm", "-lpthread"], check=True, timeout=120
    )
    return run(binary)


def built_by_cc(binary: Path, *arguments: Path | str) -> None:
    subprocess.run(["cc", "-w", "-o", binary, *arguments], check=True, timeout=60)


@needs_cargo
def test_a_program_whose_main_stays_in_c_begins_all_the_same(tmp_path: Path) -> None:
    root = tmp_path / "jump"
    write(
        root,
        {
            "lib.h": "int half(int n);\ndouble root_of(double d);\n",
            "lib.c": '#include <math.h>\n#include "lib.h"\nint half(int n) { return n / 2; }\n'
            "double root_of(double d) { return sqrt(d); }\n",
            "jump.c": '#include <setjmp.h>\n#include <stdio.h>\n#include "lib.h"\n'
            "static jmp_buf back;\nstatic void leave(int n) { longjmp(back, half(n)); }\n"
            "int main(int c, char **v) { int n = setjmp(back); if (n == 0) leave(14);"
            ' printf("%d %d %s %.3f\\n", n, c, v[1], root_of(2)); return n; }\n',
            "Makefile": "jump: jump.o lib.o\n\tcc -o jump jump.o lib.o -lm\n",
        },
    )
    done = jc2r("run", "--baseline", "--build", root)
    assert done.returncode == 0, done.stderr
    assert "jump.c:6: main stays in C: setjmp" in done.stdout
    binary = tmp_path / "c-jump"
    sources = [root / "jump.c", root / "lib.c"]
    built_by_cc(binary, *sources, "-lm")
    assert run(tmp_path / "jump_rs" / "target" / "release" / "jump") == run(binary)
    assert '#[link(name = "m")]' in (tmp_path / "jump_rs" / "src" / "sys.rs").read_text()


@needs_cargo
def test_what_headers_and_threads_hold_is_not_doubled_beside_c(tmp_path: Path) -> None:
    root = tmp_path / "held"
    write(
        root,
        {
            "held.h": "static int kept[] = {1, 2, 3};\nint tentative;\nextern __thread int turns;\n"
            "static inline long twice(long n) { long r;"
            ' __asm__("lea (%1,%1), %0 #%=" : "=r"(r) : "r"(n));'
            " kept[0]++; turns++; return r; }\n"
            "static inline int more(int n) { kept[1] += n; return kept[1]; }\n"
            "int rust_turns(void);\nint both_turns(int n);\n",
            "turns.c": "__thread int turns = 5;\n__thread int quiet;\n"
            "int rust_turns(void) { quiet += 2; return ++turns + quiet; }\n",
            "both.c": "extern __thread int turns, quiet;\nint both_turns(int n);\n"
            "int both_turns(int n) { turns += n; quiet += n; return turns * quiet; }\n",
            "held.c": '#include <stdio.h>\n#include "held.h"\nint counted = 7;\n'
            "static int in_c(void) { long double d = kept[0]; tentative += 3;"
            " return (int)d + counted + more(1) + turns; }\n"
            'int main(void) { printf("%ld %d %d\\n", twice(4), more(3), rust_turns());'
            ' printf("%d\\n", in_c()); printf("%d %d %d %d %d %d\\n", kept[0], kept[1],'
            " counted, tentative, turns, both_turns(2)); return 0; }\n",
            "Makefile": "held: held.o turns.o both.o\n\tcc -o held held.o turns.o both.o\n",
        },
    )
    done = jc2r("run", "--baseline", "--build", root)
    assert done.returncode == 0, done.stderr
    left = set(re.findall(r": (\w+) stays in C", done.stdout))
    assert left == {"twice", "in_c", "kept", "turns"}
    binary = tmp_path / "c-held"
    built_by_cc(binary, *(root / f"{name}.c" for name in ("held", "turns", "both")))
    assert run(tmp_path / "held_rs" / "target" / "release" / "held") == run(binary)


@needs_cargo
def test_weak_functions_of_a_header_leave_the_rest_of_its_files(tmp_path: Path) -> None:
    """As frameworks for tests have them: who defines one of his own has that one called."""
    root = tmp_path / "frame"
    write(
        root,
        {
            "frame.h": "#ifdef FRAME\n__attribute__((weak)) int before(void) { return 1; }\n"
            "__attribute__((weak)) int after(void) { return 2; }\n#else\n"
            "int before(void);\nint after(void);\n#endif\nint run(int n);\n",
            "frame.c": '#define FRAME\n#include "frame.h"\nstatic int runs;\n'
            "int run(int n) { runs++; return before() * 100 + n * 10 + after() + runs; }\n",
            "main.c": '#include <stdio.h>\n#include "frame.h"\nint before(void) { return 7; }\n'
            'int main(void) { int n = run(3); printf("%d %d\\n", n, run(4)); return 0; }\n',
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(re.findall(r": (\w+) stays in C", done.stdout)) == {"before", "after"}
    said = run(tmp_path / "frame_rs" / "target" / "release" / "main")
    assert said == (0, "733 744\n", "")


@needs_cargo
def test_weak_functions_give_way_in_rust_as_they_do_in_c(tmp_path: Path) -> None:
    root = tmp_path / "weak"
    write(
        root,
        {
            "say.h": "#define WEAK __attribute__((weak))\nvoid say(int n, const char *form, ...);\n"
            "int ask(int n);\nint keep(int n);\nint work(int n);\nextern int level;\n",
            "say.c": '#include "say.h"\n#include <stdarg.h>\n#include <stdio.h>\nWEAK int level '
            "= 2;\n"
            "WEAK int ask(int n);\nWEAK int ask(int n) { return n + level; }\n"
            "WEAK int keep(int n) { return n * 3; }\n"
            "WEAK void say(int n, const char *form, ...) { va_list list; va_start(list, form);"
            ' printf("%d: ", n); vprintf(form, list); va_end(list); }\n'
            'int work(int n) { int (*f)(int) = ask; say(n, "%d %s\\n", f(keep(n)), "done");'
            " return ask(n); }\n",
            "one.c": '#include <stdio.h>\n#include "say.h"\nint ask(int n) { return n * 100; }\n'
            'int main(void) { printf("%d\\n", work(3) + keep(1)); return 0; }\n',
            "two.c": '#include <stdarg.h>\n#include <stdio.h>\n#include "say.h"\nint level = 40;\n'
            'void say(int n, const char *form, ...) { printf("two %d %s\\n", n, form); }\n'
            'int main(void) { printf("%d\\n", work(4)); return 0; }\n',
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r": (\w+) stays in C", done.stdout) == ["level"]
    for name in ("one", "two"):
        built_by_cc(tmp_path / name, root / f"{name}.c", root / "say.c")
        assert run(tmp_path / "weak_rs" / "target" / "release" / name) == run(tmp_path / name)
    main = tmp_path / "main.c"
    main.write_text(
        "#include <stdio.h>\nint work(int n);\nint keep(int n) { return -n; }\n"
        'int main(void) { printf("%d\\n", work(5)); return 0; }\n'
    )
    library = tmp_path / "weak_rs" / "target" / "release" / "libweak_rs.a"
    built_by_cc(tmp_path / "rust", main, library, "-lpthread", "-ldl", "-lm")
    built_by_cc(tmp_path / "plain", main, root / "say.c")
    assert run(tmp_path / "rust") == run(tmp_path / "plain")
    verified = jc2r("verify", root, "--cases", "20", "--mutants", "0")
    assert "4 of 8 functions behave like the C" in verified.stdout and "0 differ" in verified.stdout


@needs_cargo
def test_programs_have_actions_of_their_own_for_a_file_that_they_share(tmp_path: Path) -> None:
    """As parsers have: programs bring their actions themselves, another has them in a file of its
    own, which names what only that program has and defines what another file does, too."""
    root = tmp_path / "actions"
    files = {
        "actions.h": "void on_word(const char *s);\nvoid on_end(int n, const char *form, ...);\n"
        "int usage(void);\nint level(void);\nint parse(const char *s);\n"
        "extern int kind;\n",
        "parse.c": '#include "actions.h"\nint parse(const char *s) { int n = 0; void (*f)(const'
        " char *) = on_word; while (*s) { f(s++); on_word(s); n++; }"
        ' on_end(n, "%d %s", n, "at the end"); return n + usage()'
        " + kind++ + level(); }\n",
        "help.c": '#include "actions.h"\nint usage(void) { return 3; }\n',
        "plain.c": '#include "actions.h"\nint level(void) { return 20; }\n',
        "matched.c": '#include <stdarg.h>\n#include <stdio.h>\n#include "actions.h"\n'
        "extern char title[8];\nint kind = 5;\nint level(void) { return 50; }\n"
        "int matched(void) { on_word(title); return 2; }\n"
        'void on_word(const char *s) { title[0] = *s; printf("<%s>", s); }\n'
        "void on_end(int n, const char *form, ...) { va_list list;"
        " va_start(list, form); vprintf(form, list); va_end(list); }\n",
        "seek.c": '#include <stdio.h>\n#include "actions.h"\nint matched(void);\n'
        'char title[8] = "none";\nint main(void) { parse("abc"); puts(title);'
        " return matched() + usage(); }\n",
        **{
            f"{name}.c": '#include <stdio.h>\n#include "actions.h"\n'
            f"void on_word(const char *s) {{ printf({text}, s); }}\n"
            f'void on_end(int n, const char *form, ...) {{ printf("{name} %d\\n", n); }}\n'
            f'{used}int kind = 9;\nint main(void) {{ return parse("xy") + kind; }}\n'
            for name, text, used in (
                ("one", '"1%s "', ""),
                ("two", '"2%s\\n"', "int usage(void) { return 40; }\n"),
            )
        },
    }
    write(root, files)
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "15 of 15 functions in Rust" in done.stdout
    for name, more in (
        ("seek", ["matched", "help"]),
        ("one", ["plain", "help"]),
        ("two", ["plain"]),
    ):
        built_by_cc(tmp_path / name, *(root / f"{one}.c" for one in (name, "parse", *more)))
        assert run(tmp_path / "actions_rs" / "target" / "release" / name) == run(tmp_path / name)
    verified = jc2r("verify", root, "--cases", "20", "--mutants", "0")
    assert " 0 differ" in verified.stdout, verified.stdout + verified.stderr


@needs_cargo
def test_what_may_not_be_there_is_looked_for_when_the_program_runs(tmp_path: Path) -> None:
    root = tmp_path / "hooks"
    write(
        root,
        {
            "work.c": "#include <stdio.h>\nextern int hook(int, ...) __attribute__((weak));\n"
            "extern int level __attribute__((weak));\nvoid done(void);\n#pragma weak done\n"
            "#pragma weak puts\nstatic int (*hooks[])(int, ...) = {hook};\n"
            "static int call(int (*f)(int, ...)) { return f ? f(2, 5) : -1; }\n"
            "int work(int n) { if (hook) n = hook(n, 4); if (!done) n += 100; else done();\n"
            '  puts(puts ? "said" : ""); if (&level) n += level++;\n'
            "  return n + (hooks[0] == hook) + call(hook) + call(&hook); }\n",
            "plain.c": '#include <stdio.h>\nint work(int);\nint main(void) { printf("%d\\n",'
            " work(3) + work(4)); return 0; }\n",
            "hooked.c": "#include <stdarg.h>\n#include <stdio.h>\nint work(int);\nint level = 7;\n"
            "int hook(int n, ...) { va_list l; va_start(l, n); n *= va_arg(l, int);"
            ' va_end(l); return n; }\nvoid done(void) { puts("done"); }\n'
            'int main(void) { printf("%d\\n", work(3) + work(4)); return 0; }\n',
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r": (\w+) stays in C", done.stdout) == ["hooks"]
    for name in ("plain", "hooked"):
        built_by_cc(tmp_path / name, root / f"{name}.c", root / "work.c")
        assert run(tmp_path / "hooks_rs" / "target" / "release" / name) == run(tmp_path / name)


def _walked(root: Path) -> list[str]:
    """A project with tables that its files fill in together, one between two ends and one that the
    linker marks the ends of; gives its files as they are linked."""
    order = ["walk", "head", "zero", "one", "but", "tail"]
    step = (
        '#include "walk.h"\nSTEP {name} ENTRY = {{ "{name}" }};\n'
        "static const STEP *{name}_again NAMED = &{name};\n"
    )
    write(
        root,
        {
            "walk.h": '#define ENTRY __attribute__((used, section("steps")))\n'
            '#define NAMED __attribute__((used, section("names")))\n'
            "#define STEP struct step\nSTEP { const char *name; };\n"
            "extern STEP head, tail;\nint once(int);\n",
            "walk.c": '#include <stdio.h>\n#include "walk.h"\n'
            "extern const STEP *__start_names[], *__stop_names[];\n"
            '__attribute__((section("lone"))) int alone = 3;\n'
            "int main(void) {\n    STEP *volatile at = &head;\n"
            "    for (; at <= &tail; at++) puts(at->name);\n"
            "    for (const STEP **one = __start_names; one < __stop_names; one++)"
            " puts((*one)->name);\n    return once(alone);\n}\n",
            **{f"{name}.c": step.format(name=name) for name in order[1:]},
            "but.c": step.format(name="but") + "static int times = 2;\n"
            "int once(int n) { return times++ * n; }\n",
        },
    )
    return [f"{name}.c" for name in order]


@needs_cargo
@pytest.mark.parametrize("known_by", ["makefile", "build", "automake", "nothing"])
def test_tables_that_files_fill_in_together_keep_the_order_of_the_linker(
    tmp_path: Path, known_by: str
) -> None:
    root = tmp_path / "walked"
    files = _walked(root)
    makefile = (
        f"SOURCES = {' '.join(files)}\nOBJECTS = $(SOURCES:.c=.o)\n"
        "walk: $(OBJECTS)\n\t$(CC) -o $@ $(OBJECTS)\n"
    )
    if known_by == "automake":
        write(root, {"Makefile.am": f"bin_PROGRAMS = walk\nwalk_SOURCES = {' '.join(files)}\n"})
    elif known_by != "nothing":
        write(root, {"Makefile": makefile})
    done = jc2r("run", "--baseline", *(["--build"] if known_by == "build" else []), root)
    assert done.returncode == 0, done.stdout + done.stderr
    order = "an unknown" if known_by == "nothing" else "a fixed"
    beside = f"other variables of section steps are laid out around it in {order} order"
    assert f"zero.c:2: zero stays in C: {beside}" in done.stdout
    assert "alone stays in C" not in done.stdout and "2 of 2 functions in Rust" in done.stdout
    assert "times = 2" not in (tmp_path / "walked_rs" / "c" / "but.c").read_text()
    if known_by != "nothing":
        built_by_cc(tmp_path / "c-walked", *(root / one for one in files))
        rust = run(tmp_path / "walked_rs" / "target" / "release" / "walk")
        assert rust == run(tmp_path / "c-walked") and len(rust[1].split()) == 10


@needs_cargo
def test_names_of_the_c_library_are_seen_by_the_program_alone(tmp_path: Path) -> None:
    root = tmp_path / "watch"
    write(
        root,
        {
            "watch.c": "#include <setjmp.h>\n#include <stdio.h>\nint poll = 3;\nextern int "
            "sigaction;\n"
            "int told(void);\nstatic jmp_buf back;\nchar *optarg;\n"
            'int write(const char *text) { return printf("%s %d\\n", text, poll); }\n'
            "void wait(void) { longjmp(back, poll); }\n"
            "int main(int c, char **v) { int n = setjmp(back); if (!n) wait();\n"
            '  return write("told") + told() + n + sigaction; }\n',
            "tell.c": "#include <setjmp.h>\nint sigaction = 4;\nstatic jmp_buf here;\n"
            "int told(void) { int n = setjmp(here); if (!n) longjmp(here, 2);"
            " return n + sigaction; }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r": (\w+) stays in C: setjmp", done.stdout) == ["told", "main"]
    built_by_cc(tmp_path / "c", root / "watch.c", root / "tell.c")
    rust = tmp_path / "watch_rs" / "target" / "release" / "watch"
    assert run(rust) == run(tmp_path / "c") == (20, "told 3\n", "")


@needs_cargo
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="libraries are loaded before")
def test_what_takes_the_place_of_the_c_library_is_of_no_program(tmp_path: Path) -> None:
    root = tmp_path / "early"
    write(
        root,
        {
            "early.c": "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdarg.h>\n"
            "#include <stdio.h>\n#include <time.h>\n"
            "time_t time(time_t *to) { time_t (*real)(time_t *) = dlsym(RTLD_NEXT, "
            '"time"); time_t now = real(to); return now > 1000 ? 7 : -1; }\n'
            'int _init(void) { puts("begun"); fflush(stdout); return 0; }\n'
            '__attribute__((constructor)) static void made(void) { puts("made"); }\n'
            "int snprintf(char *to, size_t size, const char *form, ...) { to[0] = '!'; "
            "to[1] = 0; return 1; }\n",
            "ask.c": "#include <stdio.h>\n#include <time.h>\nint main(void) { char text[9];\n"
            '  snprintf(text, 9, "%d", 5); puts(text); return time(0) > 1000; }\n',
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    told = "early.c overrides functions of the C library (snprintf, time) in programs"
    assert told in done.stdout and told in jc2r("run", "--baseline", root).stdout
    crate = tmp_path / "early_rs"
    assert run(crate / "target" / "release" / "ask") == (1, "5\n", "")
    shutil.copy(crate / "target" / "release" / "ask", tmp_path)
    subprocess.run(
        ["cargo", "build", "--release", "--lib", "--features", "preload", "--offline", "--quiet"],
        cwd=crate,
        check=True,
        timeout=120,
    )
    library = crate / "target" / "release" / "libearly_rs.so"
    done = subprocess.run(
        [tmp_path / "ask"],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0 and sorted(done.stdout.split()) == ["!", "begun", "made"]


@needs_cargo
def test_what_may_not_be_there_may_be_of_the_crate(tmp_path: Path) -> None:
    root = tmp_path / "runner"
    write(
        root,
        {
            "runner.c": "#include <stdio.h>\nint set_up(int);\nint tear_down(int);\n"
            "#pragma weak set_up\n#pragma weak tear_down\n"
            'int main(void) { printf("%d %d\\n", set_up ? set_up(2) : 0,'
            " tear_down ? tear_down(3) : 0); return 0; }\n",
            "tests.c": "int set_up(int n) { return n + 40; }\n",
            "Makefile": "runner: runner.o tests.o\n\t$(CC) -o $@ $^\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert run(tmp_path / "runner_rs" / "target" / "release" / "runner") == (0, "42 0\n", "")


@needs_cargo
def test_a_program_that_does_not_link_leaves_the_rest(tmp_path: Path) -> None:
    root = tmp_path / "torn"
    write(
        root,
        {
            "torn.c": '#include "twice.c"\n'
            "int nowhere(int);\nint used(int n) { return n + 2; }\n"
            "int main(void) { return nowhere(used(3)); }\n",
            "whole.c": "int twice(int);\nint used(int n) { return n + 5; }\n"
            "int main(void) { return twice(used(1)); }\n",
            "twice.c": "int twice(int n) { return 2 * n; }\n",
            **dict.fromkeys(
                ("left.c", "right.c"),
                "#include <setjmp.h>\nint nowhere(int);\n"
                "int main(void) { jmp_buf back; return setjmp(back) ? 1 : nowhere(2); }\n",
            ),
            "other.c": "int never(void);\nint main(void) { return never(); }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 1, done.stderr
    assert "right.c: not translated: its program is not linked: nowhere is not there" in done.stdout
    assert "torn.c: not translated: its program is not linked: nowhere is not there" in done.stdout
    assert "other.c: not translated: its program is not linked: never is not there" in done.stdout
    assert "6 of 8 functions in Rust" in done.stdout
    assert run(tmp_path / "torn_rs" / "target" / "release" / "whole")[0] == 12


@needs_cargo
def test_libraries_that_no_header_tells_of_are_found_by_what_is_missing(tmp_path: Path) -> None:
    root = tmp_path / "secret"
    write(
        root,
        {
            "secret.c": "#define _GNU_SOURCE\n#include <stdio.h>\n#include <unistd.h>\n"
            "int main(void) {\n"
            '  printf("%.20s\\n", crypt("x", "$1$abcdefgh$")); return 0; }\n',
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    built_by_cc(tmp_path / "c-secret", root / "secret.c", "-lcrypt")
    rust = tmp_path / "secret_rs" / "target" / "release" / "secret"
    assert run(rust) == run(tmp_path / "c-secret")


@needs_cargo
def test_a_file_for_other_systems_stands_in_the_way_of_no_program(tmp_path: Path) -> None:
    """What it calls is nowhere, and the C library has what it offers."""
    root = tmp_path / "options"
    write(
        root,
        {
            "options.c": "#include <stdio.h>\n#include <unistd.h>\n"
            "int main(int c, char **v) { int n = 0;"
            ' while (getopt(c, v, "ab:") != -1) n++;\n'
            '  printf("%d %d\\n", n, optind); return n; }\n',
            "getopt.c": "int optind = 1;\nint strlwr_of_dos();\n"
            "int getopt(int c, char *const v[], const char *o)"
            " { optind = 40; return strlwr_of_dos(v, o) ? -1 : c; }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert (
        "getopt.c: not translated, with 1 function: nothing here needs it, and strlwr_of_dos is not"
        " there" in done.stdout
    )
    built_by_cc(tmp_path / "c-options", root / "options.c")
    rust = tmp_path / "options_rs" / "target" / "release" / "options"
    assert run(rust) == run(tmp_path / "c-options") == (0, "0 1\n", "")


@needs_cargo
def test_a_library_of_headers_gets_a_unit(tmp_path: Path) -> None:
    root = tmp_path / "stack"
    write(
        root,
        {
            "stack.h": "#ifndef S\n#define S\nstatic inline int twice(int n) { return 2 * n; }\n"
            "int pushed(int n);\n#ifdef STACK_IMPLEMENTATION\n"
            "int pushed(int n) { return twice(n) + 1; }\n#endif\n#endif\n",
            "test.c": '#define STACK_IMPLEMENTATION\n#include "stack.h"\n'
            "int main(void) { return pushed(3); }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    crate = tmp_path / "stack_rs"
    assert "fn pushed(" in (crate / "src" / "stack.rs").read_text()
    (program,) = (crate / "src" / "bin").iterdir()
    assert run(crate / "target" / "release" / program.stem)[0] == 7
    assert sorted(path.name for path in root.iterdir()) == [".jarvis", "stack.h", "test.c"]


@needs_cargo
def test_a_header_finds_what_programs_include_before_it(tmp_path: Path) -> None:
    """And one that they include for one type after the other gets no unit."""
    root = tmp_path / "rows"
    write(
        root,
        {
            "rows.h": "#ifdef ROWS_IMPLEMENTATION\nvoid rows(FILE *to, shade s)"
            ' { fprintf(to, "%d\\n", s); }\n#endif\n',
            "shade.h": "typedef int shade;\nstatic inline shade dark(shade s) { return s / 2; }\n",
            "all/most.h": "#ifndef T\n#error a type is wanted\n#endif\n"
            "#define NAMED_(T) most_##T\n#define NAMED(T) NAMED_(T)\n"
            "static T NAMED(T)(T a, T b) { return a > b ? a : b; }\n"
            "#undef NAMED\n#undef NAMED_\n#undef T\n",
            "test/all.c": "#include <no/such.h>\n#include <stdio.h>\n#include <string.h>\n"
            "#include <shade.h>\n#include <rows.h>\n"
            "int main(void) { return 1; }\n",
            "test/show.c": '#include <stdio.h>\n/* #include <no.h> */\n#include "../shade.h"\n'
            "#define T int\n#include <all/most.h>\n#define T double\n"
            "#include <all/most.h>\n#define ROWS_IMPLEMENTATION\n#include <rows.h>\n"
            "int main(void) { rows(stdout, most_int(dark(8), (int)most_double(2, 1)));"
            " return 0; }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert "test/all.c: not translated" in done.stdout
    assert done.stdout.startswith("5 of 6 functions in Rust")
    crate = tmp_path / "rows_rs"
    assert not (crate / "src" / "most.rs").exists()
    assert "fn rows(" in (crate / "src" / "rows.rs").read_text()
    assert run(crate / "target" / "release" / "show") == (0, "4\n", "")


@needs_cargo
def test_a_header_that_is_part_of_the_program_of_its_name_gets_none(tmp_path: Path) -> None:
    root = tmp_path / "modem"
    write(
        root,
        {
            "modem.h": 'char *code(int n) { if (n) return "CREG"; return NULL; }\n',
            "modem.c": '#include <stdio.h>\n#include "modem.h"\n'
            "int main(int n, char **v) { return puts(code(n)) < 0; }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("2 of 2 functions in Rust")
    assert run(tmp_path / "modem_rs" / "target" / "release" / "modem") == (0, "CREG\n", "")


@needs_cargo
def test_other_names_of_functions_are_there_too(tmp_path: Path) -> None:
    """Also where some of the file stays in C."""
    root = tmp_path / "names"
    said = (
        "int said(const char *f, ...) { va_list l; va_start(l, f); int n = vprintf(f, l);"
        " va_end(l); return n; }\n"
        'extern int told(const char *f, ...) __attribute__((alias("said")));\n'
    )
    write(
        root,
        {
            "more.c": "#include <stdarg.h>\n#include <stdio.h>\n"
            "#define ALIAS(a, b) extern __typeof(b) a __attribute__((__alias__(#b)))\n"
            "static int seen;\nint more(int n) { return n + 1 + seen++; }\n"
            "ALIAS(plus, more);\nALIAS(another, more);\n"
            f'{said}void none(void) {{ puts("none"); }} ALIAS(nothing, none);\n'
            'extern int soft(int) __attribute__((weak, alias("more")));\n'
            'extern int hard(int) __attribute__((weak, alias("more")));\n'
            'int kept(void) { __asm__("nop #%="); return plus(5) + soft(1) + hard(2); }\n',
            "main.c": "#include <stdio.h>\nint plus(int); int told(const char *, ...);"
            " void nothing(void); int kept(void); int another(int);\n"
            "int soft(int); int hard(int n) { return n * 50; }\n"
            'int main(void) { nothing(); int n = told("%d %s %g\\n", 3, "x", 2.5);'
            ' printf("%s %d\\n", __func__, n + plus(2) + kept() + soft(3) + hard(4));'
            " return another(3); }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 of 6 functions in Rust" in done.stdout and "kept stays in C" in done.stdout
    binary = tmp_path / "c-names"
    built_by_cc(binary, *root.glob("*.c"))
    assert run(tmp_path / "names_rs" / "target" / "release" / "main") == run(binary)


@needs_cargo
@pytest.mark.parametrize("rest", ["", 'int old(int a) { __asm__("nop #%="); return a; }\n'])
def test_assembly_of_a_file_is_kept_and_versions_of_names_are_names(
    tmp_path: Path, rest: str
) -> None:
    root = tmp_path / "versions"
    write(
        root,
        {
            "more.h": "int twice(int); extern const char told[]; int thrice(int);\n",
            "more.c": '#include "more.h"\n'
            '#define SYMVER(a, b) __asm__(".symver " a "," b);\n'
            'SYMVER("twice_v1", "twice@V1")\nint twice_v1(int x) { return x + 1; }\n'
            'SYMVER("twice_v2", "twice@@V2")\nint twice_v2(int x) { return 2 * x; }\n'
            f"int thrice(int x) {{ return twice_v2(x) + x; }}\n{rest}",
            "text.c": '__asm__(".pushsection .rodata\\n.globl told\\n"\n'
            '        "told: .asciz \\"of {1}\\"\\n.popsection");\n'
            "int one(void) { return 1; }\n",
            "main.c": '#include <stdio.h>\n#include "more.h"\n'
            "int main(void) { puts(told); return twice(4) * thrice(3); }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("stays in C" in done.stdout) == bool(rest), done.stdout
    binary = tmp_path / "c-versions"
    built_by_cc(binary, *root.glob("*.c"))
    wanted = run(binary)
    assert wanted == (72, "of {1}\n", "")
    assert run(tmp_path / "versions_rs" / "target" / "release" / "main") == wanted


@needs_cargo
def test_a_main_that_returns_nothing_in_strict_c(tmp_path: Path) -> None:
    root = tmp_path / "strict"
    write(
        root,
        {
            "Makefile": "CFLAGS = -std=c99\nstrict: strict.o\n",
            "strict.c": "#include <stdio.h>\n#include <stdlib.h>\n"
            "void main(int c, char **v) { puts(v[c - 1]); exit(3); }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert "1 of 1 functions in Rust" in done.stdout, done.stdout + done.stderr
    assert run(tmp_path / "strict_rs" / "target" / "release" / "strict") == (3, "x\n", "")


@needs_cargo
def test_what_an_old_main_and_old_definitions_take_is_of_other_types(tmp_path: Path) -> None:
    root = tmp_path / "older"
    write(
        root,
        {
            "older.c": "#include <stdio.h>\n#include <string.h>\ntypedef unsigned char byte;\n"
            "void bound(size_t (*)(char *), int);\nstatic size_t (*length)();\n"
            "void bound(f, n) size_t (*f)(); int n;\n"
            '{ if (f) printf("%zu %d\\n", f("text"), n); length = f; }\n'
            "static size_t twice(s) char *s; { return 2 * strlen(s); }\n"
            "int main(byte count, byte *words[])\n{ bound(twice, count);"
            ' printf("%zu %s\\n", length("ab"), (char *)words[count - 1]); return 4; }\n',
        },
    )
    done = jc2r("run", "--baseline", root)
    assert "3 of 3 functions in Rust" in done.stdout, done.stdout + done.stderr
    built_by_cc(tmp_path / "c-older", root / "older.c")
    said = run(tmp_path / "older_rs" / "target" / "release" / "older")
    assert said == run(tmp_path / "c-older") == (4, "8 2\n4 x\n", "")


@needs_cargo
def test_a_main_that_stays_in_c_is_called_main(tmp_path: Path) -> None:
    root = tmp_path / "called"
    write(
        root,
        {
            "plain.c": "#include <stdio.h>\n#include <setjmp.h>\nstatic jmp_buf b;\n"
            "int main(void) { if (setjmp(b)) return 3; puts(__func__); longjmp(b, 1); }\n",
            "old.c": "#include <stdio.h>\n#include <setjmp.h>\nstatic jmp_buf b;\n"
            "main(c, v) char **v; { if (setjmp(b)) return c; puts(__func__);"
            " puts(v[1]); longjmp(b, 1); }\n",
            "void.c": "#include <stdio.h>\n#include <setjmp.h>\nstatic jmp_buf b;\n#define M main\n"
            "void M(int c, char *v[]) { if (setjmp(b)) return; puts(__func__);"
            " puts(v[c - 1]); longjmp(b, 1); }\n",
            "again.c": "#include <stdio.h>\n#include <setjmp.h>\nstatic jmp_buf b; static int n;\n"
            "int main(int c, char **v) { if (setjmp(b)) return 4; puts(__func__);"
            " if (n++ < 2) return main(c, v); longjmp(b, 1); }\n",
        },
    )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("plain", "old", "again", "void"):
        built_by_cc(tmp_path / name, root / f"{name}.c")
        ended, said, told = run(tmp_path / "called_rs" / "target" / "release" / name)
        assert (said, told) == run(tmp_path / name)[1:], name
        assert ended == run(tmp_path / name)[0] or name == "void", name


@needs_cargo
def test_many_records_that_two_programs_see_differently_take_no_longer(tmp_path: Path) -> None:
    """Each leads to the next and back to the first; trying the names of one with those of all
    others would not end."""
    root = tmp_path / "deep"
    records = (
        "struct r0;\n"
        + "".join(
            f"struct r{n} {{ struct r{n + 1} *next, *other; struct r0 *first; struct b{n} *bag;"
            f" int n; }};\nstruct b{n} {{ struct r{n} *in; struct r{n + 1} *out; }};\n"
            for n in range(24)
        )
        + "struct r24 { struct r0 *first; NUMBER n; };\n"
    )
    for name, number in (("one", "int"), ("two", "long"), ("three", "short"), ("four", "char")):
        write(
            root,
            {
                f"{name}.c": f"#define NUMBER {number}\n{records}#include <stdio.h>\n"
                "static struct r24 last = { 0, 7 };\n"
                "int main(void) { struct r0 first = { .n = 3 }; last.first = &first;"
                ' printf("%d %d\\n", first.n + (int)last.n, (int)sizeof last.n);'
                " return 0; }\n"
            },
        )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    for name, size in (("one", 4), ("two", 8), ("three", 2), ("four", 1)):
        program = tmp_path / "deep_rs" / "target" / "release" / name
        assert run(program) == (0, f"10 {size}\n", "")
        assert run(program) == by_c(root / f"{name}.c", tmp_path)


@needs_cargo
def test_a_file_that_sees_less_of_a_record_takes_that_of_its_program(tmp_path: Path) -> None:
    root = tmp_path / "both"
    for name, number in (("client", "int"), ("server", "long")):
        write(
            root,
            {
                f"{name}/all.h": f"struct plan; typedef struct conf {{ {number} n; struct plan"
                " *plan; } conf; typedef struct asked { conf *conf; struct plan"
                f" *plan; }} asked;\nint {name}_first(asked *a);"
                f" int {name}_last(asked *a);\n",
                f"{name}/plan.h": f"struct plan {{ {number} size; int (*run)(asked *a); }};\n",
                f"{name}/auth.c": f'#include "all.h"\nint {name}_first(asked *a) {{ return'
                " (int)a->conf->n + (a->plan != 0); }\n",
                f"{name}/plan.c": '#include "all.h"\n#include "plan.h"\n'
                f"static struct plan plans[] = {{{{ 5, {name}_first }}}};\n"
                f"int {name}_last(asked *a) {{ a->plan = plans; a->conf->plan ="
                f" plans; return plans->run(a) + {name}_first(a)"
                " + (int)a->plan->size; }\n",
                f"{name}/{name}.c": '#include <stdio.h>\n#include "all.h"\n#include "plan.h"\n'
                "int main(void) { conf c = { 2, 0 }; asked a = { &c, 0 };"
                f" int n = {name}_last(&a);"
                ' printf("%d %d\\n", n, (int)a.plan->size);'
                " return 0; }\n",
            },
        )
    done = jc2r("run", "--baseline", root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 of 6 functions in Rust" in done.stdout, done.stdout
    for name in ("client", "server"):
        assert run(tmp_path / "both_rs" / "target" / "release" / name) == (0, "11 5\n", "")
    types = (tmp_path / "both_rs" / "src" / "types.rs").read_text()
    assert [types.count(f"struct {one}") for one in ("conf", "asked", "plan")] == [2, 2, 2]

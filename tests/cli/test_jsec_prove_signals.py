"""`jsec prove` of signal handlers and of privileges, as a process with real compilers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_jsec_prove import home, jsec, needs_compiler, prove  # noqa: F401

pytestmark = [pytest.mark.watches(), needs_compiler]

FLAWED = """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *name;
static volatile sig_atomic_t seen;

static void leave(void)
{
    free(name);
    _exit(2);
}

static void on_interrupt(int number)
{
    (void)number;
    leave();
}

static void on_hangup(int number)
{
    seen = number;
    if (seen == 1)
        fprintf(stderr, "hung up\\n");
}

static void say_end(void)
{
    puts("end");
}

int main(int argc, char **argv)
{
    struct sigaction action = {0};
    setgid(getgid());
    name = malloc(10);
    action.sa_handler = on_hangup;
    sigaction(SIGHUP, &action, NULL);
    if (argc > 1)
        signal(SIGINT, on_interrupt);
    atexit(say_end);
    puts(argv[0]);
    return 0;
}
"""
SOUND = """\
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static sigjmp_buf start;

static void say(int number)
{
    if (number < 0)
        printf("%d\\n", number);
}

static void jump(int number)
{
    siglongjmp(start, number);
}

static void never(int number)
{
    printf("%d\\n", number);
}

int main(int argc, char **argv)
{
    if (setgid(getgid()) != 0)
        return 1;
    signal(SIGTERM, say);
    if (sigsetjmp(start, 1) == 0)
        signal(SIGINT, jump);
    if (argc > 400)
        signal(SIGALRM, never);
    say(-1);
    never(-2);
    puts(argv[0]);
    return 0;
}
"""
RULE = "unsafe-call-in-signal-handler"


def test_a_handler_that_calls_what_none_may_is_shown_by_a_signal(
    tmp_path: Path,
    home: Path,  # noqa: F811
) -> None:
    (tmp_path / "work").mkdir()
    project = tmp_path / "work"
    (project / "a.c").write_text(FLAWED)
    found = {item["line"]: item for item in prove(project, home, "--all")["findings"]}
    calls = {line: item["proof"] for line, item in found.items() if item["rule"] == RULE}
    assert {line: proof["verdict"] for line, proof in calls.items()} == {
        18: "reproduced",
        25: "reproduced",
    }
    assert "'free'" in calls[18]["message"]["text"]
    assert calls[25]["report"]["kind"] == "signal-handler-calls-fprintf"
    assert (found[36]["rule"], found[36]["proof"]["verdict"]) == (
        "unchecked-privilege-change",
        "reproduced",
    )

    case = calls[25]["case_id"]
    jsec("replay", case, str(project), "--trust", "--save-test", home=home)
    assert (project / "tests" / f"jsec-{case}" / "run.sh").is_file()
    again = jsec("replay", case, str(project), "--trust", home=home)
    assert (again.returncode, "a.c:25" in again.stdout) == (1, True), again.stderr
    (project / "a.c").write_text(FLAWED.replace('fprintf(stderr, "hung up\\n")', "seen = 2"))
    assert jsec("replay", case, str(project), "--trust", home=home).returncode == 0


def test_calls_outside_of_handlers_and_in_handlers_that_never_run_are_not_reproduced(
    tmp_path: Path,
    home: Path,  # noqa: F811
) -> None:
    (tmp_path / "work").mkdir()
    project = tmp_path / "work"
    (project / "a.c").write_text(SOUND)
    told = prove(project, home, "--all")["findings"]
    verdicts = {item["line"]: item["proof"]["verdict"] for item in told if item["rule"] == RULE}
    assert verdicts == {12: "unproven", 17: "unproven", 22: "depends_on_caller"}


SERVER = """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int verbose;

static void stop(int number)
{
    printf("stopped by %d\\n", number); /* stopped */
    exit(1);
}

static void hang_up(int number)
{
    if (verbose > 3)
        printf("hung up by %d\\n", number); /* hung up */
}

int serve(const char *command)
{
    if (strcmp(command, "serve on 7000 as alice, aloud") != 0)
        return 1;
    signal(SIGINT, stop);
    signal(SIGHUP, hang_up);
    return getchar();
}
"""


def test_a_handler_that_no_program_installs_is_installed_alone(
    tmp_path: Path,
    home: Path,  # noqa: F811
) -> None:
    project = tmp_path / "work"
    project.mkdir()
    (project / "server.c").write_text(SERVER)
    lines = SERVER.splitlines()
    proofs = {
        lines[finding["line"] - 1].partition("/* ")[2].removesuffix(" */"): finding["proof"]
        for finding in prove(project, home, "--all", "--min-confidence", "0")["findings"]
        if finding["rule"] == "unsafe-call-in-signal-handler"
    }
    stopped = proofs["stopped"]
    assert stopped["verdict"] == "depends_on_caller"
    assert "for which 'stop' is installed: it called 'printf'" in stopped["message"]["text"]
    assert jsec("replay", stopped["case_id"], str(project), "--trust", home=home).returncode == 1
    assert proofs["hung up"]["verdict"] == "unproven"

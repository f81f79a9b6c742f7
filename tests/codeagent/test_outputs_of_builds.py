"""What is read of outputs that build tools have really printed, for machines without these tools.

`test_jca_code_checks.py` runs the tools themselves where they are there.
"""

from __future__ import annotations

import pytest

from jarvis_ls.codeagent.diagnostics import read_diagnostics

ROOT = "/src/x"
GO = """\
# x
./lib.go:4:13: undefined: b
"""
MAVEN = """\
\x1b[0m\x1b[0m[ERROR] COMPILATION ERROR :\x20
[ERROR] /src/x/src/main/java/Twice.java:[3,20] cannot find symbol
  symbol:   variable b
  location: class Twice
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.10.1:compile \
(default-compile) on project x: Compilation failure
[ERROR] /src/x/src/main/java/Twice.java:[3,20] cannot find symbol
[ERROR]   symbol:   variable b
[ERROR]   location: class Twice
[ERROR] -> [Help 1]
[ERROR]\x20
[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
[ERROR] For more information about the errors and possible solutions, please read the following \
articles:
[ERROR] [Help 1] http://cwiki.apache.org/confluence/display/MAVEN/MojoFailureException
"""
GRADLE = """\
/src/x/src/main/java/Twice.java:3: error: cannot find symbol
class Twice { static int twice(int a) { return a + b; } }
                                                   ^
  symbol:   variable b
  location: class Twice
1 error

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':compileJava'.
> Compilation failed; see the compiler error output for details.

* Try:
Run with --stacktrace option to get the stack trace. Run with --info or --debug option.

* Get more help at https://help.gradle.org

BUILD FAILED in 25s
"""
NODE = """\
warning package.json: No license field
/src/x/a.js:2
  return a + ;
             ^

SyntaxError: Unexpected token ';'
    at wrapSafe (node:internal/modules/cjs/loader:1464:18)
    at checkSyntax (node:internal/main/check_syntax:78:3)

Node.js v20.20.2
"""


@pytest.mark.parametrize(
    ("output", "complaints"),
    [
        (GO, ["lib.go:4: undefined: b"]),
        (MAVEN, ["src/main/java/Twice.java:3: cannot find symbol"]),
        (GRADLE, ["src/main/java/Twice.java:3: error: cannot find symbol"]),
        (NODE, ["a.js:2: SyntaxError: Unexpected token ';'"]),
    ],
    ids=["go", "maven", "gradle", "yarn and pnpm"],
)
def test_complaints_are_read_with_their_places(output: str, complaints: list[str]) -> None:
    assert [str(found) for found in read_diagnostics(output, ROOT)] == complaints

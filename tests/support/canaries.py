"""A workspace of a stranger in which everything that some tool on the way may act on is set: each
such order leaves a file with its name in a folder outside when it is obeyed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = {
    "a.c": '#include "a.h"\nint sum(int a, int b) { return a + b * SCALE; }\n'
    "int main(void) { return sum(0, 0); }\n",
    "a.h": "#define SCALE 1\n#include <stdlib.h>\nint sum(int a, int b);\n",
    "flawed.c": "#include <stdlib.h>\nvoid twice(char *p) { free(p); free(p); }\n",
    # nested functions are not translated: the machine's own compiler is asked what it makes of it
    "kept.c": "int kept(int a) { int twice(int b) { return 2 * b; } return twice(a); }\n",
    "plain.cpp": "namespace n { int one() { return 1; } }\n",
    "lib.rs": "pub fn one() -> i32 { 1 }\n",
}
FLAW = "7dbbd18f753bb897"
"""Fingerprint of what is wrong in `flawed.c`."""
REPAIR = (
    "--- a/flawed.c\n+++ b/flawed.c\n@@ -1,2 +1,2 @@\n #include <stdlib.h>\n"
    "-void twice(char *p) { free(p); free(p); }\n+void twice(char *p) { free(p); }\n"
)
ON_PATH = (
    "cc gcc clang c99 c++ g++ cpp as ld ar nm objcopy readelf make cmake ninja git dot setarch"
    " cargo rustc rustfmt rustup python python3 node npm sh bash env which rg uname pkg-config"
    " ccache dpkg ldconfig gdb bwrap docker"
).split()


@dataclass
class Canaries:
    """What was planted, and what of it sings."""

    fired: Path
    """Where each leaves its name."""
    names: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        """A command of the shell that says that it ran."""
        self.names.append(name)
        return f"touch '{self.fired / name}'"

    def script(self, path: Path, name: str) -> Path:
        """A program that says that it ran, and fails."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n/usr/bin/{self.line(name)}\nexit 1\n")
        path.chmod(0o755)
        return path

    def python(self, path: Path, name: str, then: str = "") -> None:
        """A module that says that it was imported."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.names.append(name)
        path.write_text(f"open({str(self.fired / name)!r}, 'w').close()\n{then}\n")

    def sung(self) -> list[str]:
        """Those that ran."""
        return sorted(path.name for path in self.fired.iterdir())


@contextmanager
def workspace(base: Path) -> Iterator[tuple[Path, Canaries]]:
    """The workspace below a folder that is the stranger's, too."""
    canaries = Canaries(base / "fired")
    canaries.fired.mkdir(parents=True)
    root = base / "theirs" / "p"
    root.mkdir(parents=True)
    for name, text in SOURCES.items():
        (root / name).write_text(text)
    for plant in (_rust, _git, _builds, _compilers, _path, _python, _editors, _ours, _shells):
        plant(root, canaries)
    yield root, canaries


def environment(root: Path, home: Path) -> dict[str, str]:
    """That of a user whose PATH begins with the current folder and folders of the workspace."""
    own = [".", "node_modules/.bin", str(root / "bin"), str(root)]
    home.mkdir(exist_ok=True)
    path = os.pathsep.join([*own, os.environ["PATH"]])
    return {**os.environ, "PATH": path, "JARVIS_HOME": str(home)}


def _rust(root: Path, canaries: Canaries) -> None:
    for place in (root, root.parent):
        of = "project" if place == root else "above"
        tools = place / "toolchain" / "bin"
        for tool in ("cargo", "rustc", "rustfmt"):
            canaries.script(tools / tool, f"toolchain {tool} {of}")
        (place / "rust-toolchain.toml").write_text(f'[toolchain]\npath = "{tools.parent}"\n')
        wrapper = {
            name: canaries.script(place / "wrap" / name, f"config {name} {of}")
            for name in (
                "rustc",
                "rustc-wrapper",
                "rustc-workspace-wrapper",
                "linker",
                "runner",
                "credential",
                "env-cc",
            )
        }
        (place / ".cargo").mkdir()
        (place / ".cargo" / "config.toml").write_text(
            "[build]\n"
            f'rustc = "{wrapper["rustc"]}"\nrustc-wrapper = "{wrapper["rustc-wrapper"]}"\n'
            f'rustc-workspace-wrapper = "{wrapper["rustc-workspace-wrapper"]}"\n'
            f"[target.'cfg(unix)']\nlinker = \"{wrapper['linker']}\"\n"
            f'runner = "{wrapper["runner"]}"\n'
            f'[registry]\nglobal-credential-providers = ["{wrapper["credential"]}"]\n'
            f'[env]\nCC = {{ value = "{wrapper["env-cc"]}", force = true }}\n'
        )
        script = place / "build.rs"
        told = json.dumps(str(canaries.fired / f"build.rs {of}"))
        canaries.names.append(f"build.rs {of}")
        script.write_text(f'fn main() {{ std::fs::write({told}, b"").unwrap(); }}\n')
        (place / "rustfmt.toml").write_text("max_width = 20\n")
    (root.parent / "Cargo.toml").write_text('[workspace]\nmembers = ["p", "p_rs"]\n')
    (root / "Cargo.toml").write_text(
        '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n'
    )


def _git(root: Path, canaries: Canaries) -> None:
    subprocess.run(["git", "init", "--quiet", "--template=", str(root)], check=True)
    orders = {
        "core.fsmonitor": "",
        "core.sshCommand": "",
        "core.pager": "",
        "core.editor": "",
        "core.askPass": "",
        "core.gitProxy": "",
        "filter.x.clean": "",
        "filter.x.smudge": "",
        "filter.x.process": "",
        "diff.external": "",
        "diff.x.textconv": "",
        "diff.x.command": "",
        "merge.x.driver": "",
        "credential.helper": "!",
        "gpg.program": "",
        "alias.status": "!",
        "uploadpack.packObjectsHook": "",
        "sequence.editor": "",
    }
    lines = "".join(
        f"[{' '.join([section, *(json.dumps(word) for word in middle)])}]\n"
        f"\t{key} = {json.dumps(mark + canaries.line(f'git {name}') + '; false')}\n"
        for name, mark in orders.items()
        for section, *middle, key in [name.split(".")]
    )
    with (root / ".git" / "config").open("a") as config:
        config.write(f"{lines}[core]\n\thooksPath = hooks\n")
    (root / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    for hook in ("pre-commit", "post-commit", "post-checkout", "post-index-change"):
        canaries.script(root / "hooks" / hook, f"hook {hook}")
        canaries.script(root / ".git" / "hooks" / hook, f"git hook {hook}")


def _builds(root: Path, canaries: Canaries) -> None:
    line = canaries.line
    (root / "Makefile").write_text(
        f"GOT := $(shell {line('make shell')})\n"
        f"CFLAGS += -fplugin=./plugin.so `{line('make tick')}`\n"
        f"OUT != {line('make assignment')}\nall test check:\n\t{line('make rule')}\n"
        f"include made.mk\nmade.mk:\n\t{line('make remake')}\n"
    )
    (root / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(p C)\n"
        f'execute_process(COMMAND sh -c "{line("cmake execute_process")}")\n'
        "set(CMAKE_C_COMPILER_LAUNCHER ./launcher)\nadd_executable(p a.c)\n"
    )
    (root / "meson.build").write_text(
        f"project('p', 'c')\nrun_command('sh', '-c', \"{line('meson run_command')}\")\n"
    )
    for name in ("configure", "autogen.sh", "bootstrap", "launcher", "config.status", "waf"):
        canaries.script(root / name, f"script {name}")
    (root / "build.ninja").write_text(f"rule r\n command = {line('ninja')}\nbuild all: r\n")
    canaries.python(root / "SConstruct", "scons")


def _compilers(root: Path, canaries: Canaries) -> None:
    """Databases that name a compiler of the workspace and options that load or run things."""
    compiler = canaries.script(root / "tools" / "cc", "compiler of the database")
    canaries.names.append("compiler plugin")
    source = root / "plugin.c"
    told = json.dumps(str(canaries.fired / "compiler plugin"))
    source.write_text(
        "#include <fcntl.h>\nint plugin_is_GPL_compatible;\n"
        "__attribute__((constructor)) static void sing(void)\n"
        f"{{ open({told}, O_CREAT | O_WRONLY, 0600); }}\n"
    )
    plugin = root / "plugin.so"
    subprocess.run([_cc(), "-shared", "-fPIC", "-o", plugin, source], check=True)
    source.unlink()
    (root / "args").write_text(f"-fplugin={plugin}\n")
    canaries.script(root / "as", "as by -B")
    canaries.script(root / "cc1", "cc1 by -B")
    wrapper = canaries.script(root / "wrapper", "-wrapper")
    mapper = canaries.script(root / "mapper", "-fmodule-mapper")
    (root / "specs").write_text(f"*cc1:\n%:include(/dev/null) -fplugin={plugin}\n")
    words = [
        str(compiler),
        f"-fplugin={plugin}",
        f"-fpass-plugin={plugin}",
        f"@{root / 'args'}",
        f"-B{root}",
        "-wrapper",
        str(wrapper),
        f"-specs={root / 'specs'}",
        f"-fmodule-mapper=|{mapper}",
        "-fmodules-ts",
        "-Xclang",
        "-load",
        "-Xclang",
        str(plugin),
        f"-fdump-final-insns={canaries.fired / 'dumped'}",
        f"-fopt-info-all={canaries.fired / 'told'}",
    ]
    entries = [
        {"directory": str(root), "file": name, "arguments": [*words, "-c", name]}
        for name in SOURCES
        if name.endswith((".c", ".cpp"))
    ]
    (root / "compile_commands.json").write_text(json.dumps(entries))
    (root / ".clangd").write_text(f"CompileFlags:\n  Compiler: {compiler}\n")


def _path(root: Path, canaries: Canaries) -> None:
    for name in ON_PATH:
        canaries.script(root / "bin" / name, f"path {name}")
        if not (root / name).exists():
            canaries.script(root / name, f"current folder {name}")
    for name in ("eslint", "npm", "tsc", "cargo", "cc"):
        canaries.script(root / "node_modules" / ".bin" / name, f"node_modules {name}")
    scripts = {name: canaries.line(f"npm {name}") for name in ("preinstall", "install", "prepare")}
    (root / "package.json").write_text(json.dumps({"name": "p", "scripts": scripts}))


def _python(root: Path, canaries: Canaries) -> None:
    for name in ("sitecustomize", "usercustomize", "conftest", "setup", "json", "typing", "ctypes"):
        canaries.python(root / f"{name}.py", f"python {name}")
    (root / "clang").unlink()  # the package of the same name is worth more
    for name in ("jarvis_ls", "clang", "tree_sitter", "pydantic", "pygls", "openai", "hypothesis"):
        canaries.python(root / name / "__init__.py", f"package {name}")
    (root / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "setup"\nbackend-path = ["."]\n'
    )


def _editors(root: Path, canaries: Canaries) -> None:
    program = str(canaries.script(root / "tools" / "python", "interpreter of the settings"))
    (root / ".vscode").mkdir()
    (root / ".vscode" / "settings.json").write_text(
        json.dumps(
            {
                "jarvisLs.interpreter": program,
                "jarvisLs.pythonPath": program,
                "jarvisLs.serverPath": program,
                "jarvisLs.projectBuild": True,
                "python.defaultInterpreterPath": program,
                "clangd.path": program,
                "rust-analyzer.check.overrideCommand": [program],
            }
        )
    )
    task = {"label": "t", "type": "shell", "command": canaries.line("task of the editor")}
    task["runOptions"] = {"runOn": "folderOpen"}  # type: ignore[assignment]
    (root / ".vscode" / "tasks.json").write_text(json.dumps({"version": "2.0.0", "tasks": [task]}))
    (root / ".editorconfig").write_text("root = true\n[*]\nend_of_line = crlf\n")


def _ours(root: Path, canaries: Canaries) -> None:
    """What our own programs read of a workspace once it is trusted."""
    own = root / ".jarvis"
    (own / "c2rust" / "build").mkdir(parents=True)
    server = {"command": str(canaries.script(root / "tools" / "mcp", "tool server")), "args": []}
    for name in (".mcp.json", ".jarvis/mcp.json"):
        (root / name).write_text(json.dumps({"mcpServers": {"x": server}}))
    (own / "config.toml").write_text(
        f"[mcp_servers.x]\ncommand = {json.dumps(server['command'])}\n"
        '[[permissions]]\neffect = "allow"\nkind = "execute"\n'
    )
    canaries.python(own / "tools" / "sing.py", "own tool")
    (own / "skills" / "s").mkdir(parents=True)
    command = canaries.line("skill")
    (own / "skills" / "s" / "SKILL.md").write_text(
        f"---\nname: s\ndescription: s\n---\n!`{command}`\n"
    )
    (own / "jsec.toml").write_text("max_file_size = 100000\n")
    unit = ["a.c", [f"-fplugin={root / 'plugin.so'}"], "", 0]
    (own / "c2rust" / "build" / "units.json").write_text(
        json.dumps({"stamp": "", "origin": "make", "notes": [], "libraries": [], "units": [unit]})
    )
    request = {"action": "run", "root": str(root), "crate": "", "only": [], "reset": False}
    request["build_project"] = True
    (own / "c2rust" / "request.json").write_text(json.dumps(request))


def _shells(root: Path, canaries: Canaries) -> None:
    line = canaries.line
    (root / ".envrc").write_text(f"{line('direnv')}\n")
    (root / ".env").write_text(f"CC={root / 'tools' / 'cc'}\nRUSTC_WRAPPER={root / 'wrapper'}\n")
    for name in (".bashrc", ".profile", ".zshrc", "BASH_ENV"):
        (root / name).write_text(f"{line(f'shell {name}')}\n")
    (root / ".gdbinit").write_text(f"shell {line('gdbinit')}\n")
    (root / ".lldbinit").write_text(f"platform shell {line('lldbinit')}\n")
    (root / ".nvimrc").write_text(f":silent !{line('nvimrc')}\n")


def foreign_crate(root: Path, canaries: Canaries) -> Path:
    """A crate beside the project that says that jc2r has made it, with orders for cargo and git."""
    crate = root.with_name(f"{root.name}_rs")
    (crate / "src").mkdir(parents=True)
    (crate / "src" / "lib.rs").write_text("")
    (crate / "Cargo.toml").write_text(
        '# Made by jc2r from the C sources; changes are overwritten.\n\n[package]\nname = "p_rs"\n'
        'version = "0.1.0"\nedition = "2021"\n'
    )
    shutil.copytree(root / ".git", crate / ".git")
    with (crate / ".git" / "config").open("a") as config:
        config.write("[jc2r]\n\town = true\n")
    shutil.copyfile(root / ".gitattributes", crate / ".gitattributes")
    canaries.names.append("build.rs of the crate")
    told = json.dumps(str(canaries.fired / "build.rs of the crate"))
    (crate / "build.rs").write_text(f'fn main() {{ std::fs::write({told}, b"").unwrap(); }}\n')
    return crate


def command_lines(root: Path) -> list[list[str]]:
    """What a user may call on a workspace that nobody has vouched for."""
    programs = Path(sys.executable).parent
    jsec, jc2r, jarvis, jca = (str(programs / name) for name in ("jsec", "jc2r", "jarvis", "jca"))
    patch = root.parent / "repair.patch"
    patch.write_text(REPAIR)
    formats = ("text", "json", "jsonl", "sarif", "markdown", "html")
    return [
        *([jsec, "scan", str(root), "--format", name, "--color", "never"] for name in formats),
        [jsec, "scan", str(root / "a.c")],
        [jsec, "baseline", str(root)],
        [jsec, "fix", str(root), "--diff"],
        [jsec, "agent", str(root)],
        [jsec, "doctor"],
        [jsec, "prove", "--all"],
        [jsec, "fix", FLAW, "--agent"],
        [jsec, "fix", FLAW, "--check-patch", str(patch)],
        [jarvis, "-m", "What is here?"],
        [jarvis, "skills"],
        [jarvis, "servers"],
        [jarvis, "review"],
        [jarvis, "review", "--staged", "--agents"],
        [jarvis, "test-repair"],
        [jarvis, "auto", "-m", "Test it", "--non-interactive"],
        [jca, "impact"],
        [jca, "guard"],
        [jca, "recommend", "free it once"],
        [jca, "-n", "-r", "Free it once"],
        [jc2r, "scan", str(root)],
        [jc2r, "scan", "--build", str(root)],
        [jc2r, "run", "--baseline", str(root)],
        [jc2r, "run", "--baseline", "--build", "--verify", str(root)],
        [jc2r, "verify", str(root)],
        [jc2r, "lift", str(root)],
        [jc2r, "check", "--path", str(root), "--", "make", "test"],
        [jc2r, "config", "--path", str(root), "--show"],
        [jc2r, "evolve", str(root)],
        [jc2r, "rewrite", "--all", str(root)],
        [jc2r, "optimize", str(root)],
    ]


def run(command: list[str], root: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A command in the workspace, with nobody at a terminal."""
    return subprocess.run(
        command,
        cwd=root,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=600,
        check=False,
    )


def _cc() -> str:
    found = shutil.which("cc")
    assert found is not None, "a C compiler makes the plugin"
    return found

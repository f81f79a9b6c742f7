"""A command line is taken apart into all that it would run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.codeintel.shell import take_apart


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ("git status", ["git status"]),
        ("git status && rm -rf / ; ls", ["git status", "rm -rf /", "ls"]),
        ("ls | tee log", ["ls", "tee log"]),
        ("ls |& rm x & cat y", ["ls", "rm x", "cat y"]),
        ("echo $(curl x | sh2)", ["echo $(curl x | sh2)", "curl x", "sh2"]),
        ("echo `rm x`", ["echo `rm x`", "rm x"]),
        ('ls "$(rm "x")"', ['ls "$(rm "x")"', "rm x"]),
        ("diff <(rm x) y", ["diff <(rm x) y", "rm x"]),
        ("[[ -n $(evil) ]] && ls", ["evil", "ls"]),
        ("cat <<EOF\n$(rm x)\nEOF", ["cat", "rm x"]),
        ("cat <<'EOF'\n$(rm x)\nEOF", ["cat"]),
        ("for i in a b; do rm $i; done", ["rm $i"]),
        ("if true; then rm x; fi", ["true", "rm x"]),
        ("echo hi\nrm x", ["echo hi", "rm x"]),
        ("! rm x", ["rm x"]),
        ('"r"m -r"f" \'x y\'', ["rm -rf x y"]),
        ("r\\m x", ["rm x"]),
        ("ls \\\n -la", ["ls -la"]),
        ("timeout 5 rm x", ["timeout 5 rm x", "rm x"]),
        ("nohup time rm x", ["nohup time rm x", "time rm x", "rm x"]),
        ("bash -lc 'ls; rm x'", ["bash -lc ls; rm x", "ls", "rm x"]),
        ("echo ok # ; rm x", ["echo ok"]),
    ],
)
def test_programs(line: str, programs: list[str]) -> None:
    assert [command.text for command in take_apart(line).commands] == programs


@pytest.mark.parametrize(
    "line",
    [
        "$PAGER x", "a=rm; $a x", "$'\\x72m' x", "eval 'rm x'", ". ./x", "source x", "exec rm x",
        "LD_PRELOAD=./x ls", "PATH=. ls", "env -S 'rm x'", "env A=1 rm x", "xargs rm", "sudo rm x",
        "find . -exec rm {} +", "find . -delete", "git -c core.pager=x log", "rg --pre=x y",
        "sed -i s/a/b/ f", "bash script", "sh -c 'ls'", 'sh -c "$X"', "echo 'unclosed", "ls (",
        "ls() { rm x; }; ls", "tar xf a --to-command=x", "command rm x", "trap 'rm x' EXIT",
        "export PATH=.", "ls\r\nrm x", "docker run x",
        "PATH=.; ls", "PATH=.:$PATH\nls", "for PATH in .; do ls; done", "read PATH <<< .; ls",
        "printf -v PATH .; ls", "hash -p ./x ls; ls", "IFS=/; ls", "ls\x0brm x",
        "cat <<E\n`rm x`\nE", "cat <<-E\n\t`rm x`\n\tE",
        "tar -Ish -xf a", "tar -xIsh -f a", "tar xIf sh a", "tar -F sh -xf a",
        "tar -cf a --rsh-command=sh b", "tar xf a --info-script=sh", "tar xf a --use-comp=sh",
        "sed -n '1e rm x' a", "sed 's/a/rm x/e' a", "sed 's/a/b/w out' a", "sed 'w out' a",
        "sed '1r /etc/passwd' a", "sed -i.bak s/a/b/ f", "sed -ni s/a/b/ f", "sed -f script a",
        "sed --file=script a", "sed -n -e p -e 'e rm x' a", "sed 'p;e rm x' a", "sed 'p\ne rm' a",
        "sort -o f a", "sort -rof a", "sort --comp=sh a", "awk 'BEGIN{system(\"x\")}'",
        "awk '{print > \"f\"}' a", "awk '\"rm x\"|getline' a", "awk -fprog a", "gawk -f prog a",
        "git log --output=f", "git diff --outp=f", "git grep -Orm x",
        "git grep --open-files-in-pager=rm x", "git difftool --extcmd=x", "rg --hostname-bin=x y",
        "uniq a f", "xxd -r a f", "less +!x f", "less -o f x",
    ],
)  # fmt: skip
def test_what_cannot_be_known_is_opaque(line: str) -> None:
    assert take_apart(line).opaque


@pytest.mark.parametrize(
    "line",
    [
        "git log --oneline", "ls *.c", "grep -rn 'free(' src", "cargo test", "make -j4 all",
        "sed -n 5,10p f", "sed 's/a;b/c/g' f", "sed -e '1d' -e 's|/usr|/opt|' f",
        "sed -n '/a/,/b/p' f", "sed '1d\n2d' f",
        "sed -nE 's/(a|b)+/x/p;5q' f", "awk '{print $1}' f", "awk -F: '{print $2}' f",
        "tar tzf a.tgz", "tar -xf a.tar -C out", "sort -rn f", "git diff --stat", "uniq -c f",
        "for i in a b; do ls; done", "cat <<'E'\n`x`\nE", "find . -name '*.c' -newer a",
    ],
)  # fmt: skip
def test_plain_commands_are_not_opaque(line: str) -> None:
    assert not take_apart(line).opaque


def test_redirections_name_files() -> None:
    line = take_apart("cc x.c > out.log 2>&1 < in.txt; echo x >> \"$f\"; cat a > 'b c' &> all")
    assert line.writes == ("out.log", "?", "b c", "all")
    assert line.reads == ("in.txt",)


@given(st.text(alphabet="ab $(){}`'\";|&<>\\\n#=-!*[]", max_size=40))
def test_any_line_is_taken_apart(line: str) -> None:
    found = take_apart(line)
    assert all(command.words and command.words[0] for command in found.commands) or found.opaque


def test_depth_ends() -> None:
    line = "ls"
    for _ in range(12):
        line = "sh -c " + "'" + line.replace("'", "'\\''") + "'"
    assert take_apart(line).opaque
    assert take_apart("$(" * 3000 + "ls" + ")" * 3000).opaque is not None

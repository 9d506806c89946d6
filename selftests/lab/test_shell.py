"""The lab's shell: what one-liners of the runbook need, with bash's own results."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.parser import parse
from lab.syntax import UnknownSyntax
from selftests.lab.world import ask, world_at

WORLD = world_at("c")

# The right-hand sides are what bash 5.2 prints for these lines.
SAID_BY_BASH = {
    "echo a  b": "a b\n",
    "echo 'a  b' \"c  d\" e\\ f": "a  b c  d e f\n",
    "x='1 2'; echo $x \"$x\"; echo '$x'": "1 2 1 2\n$x\n",
    'x="a   b"; echo $x; echo "$x"': "a b\na   b\n",
    "echo ${nothing:-fallback} ${HOME}": "fallback /home/ubuntu\n",
    "echo $(echo inner; echo two)x": "inner twox\n",
    "echo `echo old`": "old\n",
    "true && echo yes || echo no": "yes\n",
    "false && echo yes || echo no": "no\n",
    "false; echo $?": "1\n",
    "! false; echo $?": "0\n",
    "(exit 3); echo $?": "3\n",
    "x=1; (x=2; echo $x); echo $x": "2\n1\n",
    "{ echo a; echo b; } | wc -l": "2\n",
    "printf '%s-%s\\n' a b c d": "a-b\nc-d\n",
    "echo a >/dev/null; echo b": "b\n",
    "echo oops >&2 2>/dev/null; ls /nowhere 2>/dev/null; echo $?": "2\n",
    "ls /nowhere 2>&1 | wc -l": "1\n",
    "echo one > /tmp/f; echo two >> /tmp/f; cat < /tmp/f": "one\ntwo\n",
    "for w in a 'b c' d; do echo \"<$w>\"; done": "<a>\n<b c>\n<d>\n",
    "if [ -f /etc/passwd ]; then echo file; else echo none; fi": "file\n",
    "if false; then echo a; elif true; then echo b; fi": "b\n",
    'i=; while [ "$i" != xxx ]; do i=x$i; done; echo $i': "xxx\n",
    "bash -c 'echo $0 $1 $#' name one two": "name one 2\n",
    "sh -c 'exit 7'; echo $?": "7\n",
    "set -o pipefail; false | true; echo $?": "1\n",
    "set -e; false; echo never": "",
    "cat <<< 'here string'": "here string\n",
    "echo a # comment": "a\n",
    "echo a#b": "a#b\n",
    "A=1 env | grep ^A=": "A=1\n",
    "echo /etc/host*": "/etc/hostname /etc/hosts\n",
    "echo /nowhere/*": "/nowhere/*\n",
    "echo '*' \"*\"": "* *\n",
    "cd /etc && pwd": "/etc\n",
    "x=$(false); echo $?": "1\n",
    "x=1; echo $?": "0\n",
    "echo ~ ~/x '~'": "/home/ubuntu /home/ubuntu/x ~\n",
    "echo a |\n  cat": "a\n",
    "echo a \\\n  b": "a b\n",
    'echo "a\\"b\\$c\\d"': 'a"b$c\\d\n',
    "timeout 0.05 sleep 5; echo $?": "124\n",
    "echo b a | tr ' ' '\\n' | sort": "a\nb\n",
    "sleep 5 & kill -0 $!; echo $?": "0\n",
    "sleep 5 & kill $!; wait $! 2>/dev/null; echo $?": "143\n",
    "false & wait $!; echo $?": "1\n",
    "kill -0 99999 2>/dev/null; echo $?": "1\n",
    "{ echo early; sleep 0.05; echo late; } > /tmp/both & wait; cat /tmp/both": "early\nlate\n",
    "echo a & wait; echo b": "a\nb\n",
    "trap 'echo bye' EXIT; echo hi; exit 3": "hi\nbye\n",
    "trap 'echo bye' EXIT; (exit 1); x=$(exit 2); echo $?": "2\nbye\n",
    "f=$(mktemp) && stat -c %a,%s $f && rm $f; ls $f 2>/dev/null | wc -l": "600,0\n0\n",
    "(</dev/tcp/127.0.0.1/9345) 2>/dev/null; echo $?": "0\n",
    "(</dev/tcp/127.0.0.1/1) 2>/dev/null; echo $?": "1\n",
}


@pytest.mark.parametrize("line", SAID_BY_BASH)
def test_as_bash(line: str) -> None:
    said = ask(WORLD, "rke-cp01", line)
    assert said.out == SAID_BY_BASH[line]
    assert said.known


@pytest.mark.parametrize(
    ("line", "rc", "err"),
    [
        ("nonsense -x", 127, "bash: line 1: nonsense: command not found\n"),
        ("/nowhere/x", 127, "bash: line 1: /nowhere/x: No such file or directory\n"),
        ("/etc/passwd", 126, "bash: line 1: /etc/passwd: Permission denied\n"),
        ("/etc", 126, "bash: line 1: /etc: Is a directory\n"),
        ("cat < /nowhere", 1, "bash: line 1: /nowhere: No such file or directory\n"),
        ("echo x > /etc/x", 1, "bash: line 1: /etc/x: Permission denied\n"),
        ("cd /root", 1, "bash: line 1: cd: /root: Permission denied\n"),
        ("exit 255", 255, ""),
    ],
)
def test_complaints(line: str, rc: int, err: str) -> None:
    said = ask(WORLD, "rke-cp01", line)
    assert (said.rc, said.err) == (rc, err)


@pytest.mark.parametrize("line", ["case x in y) ;; esac", "echo $((1+1))", "echo 'a"])
def test_what_the_shell_does_not_know_is_said(line: str) -> None:
    said = ask(WORLD, "rke-cp01", line)
    assert said.rc == 2
    assert "syntax error" in said.err
    assert not said.known


@given(st.text(alphabet=" \t\na|&;<>()$`\\\"'#*?[]{}~=!0/-", max_size=40))
def test_any_line_parses_or_is_refused(line: str) -> None:
    with suppress(UnknownSyntax):
        parse(line)


@given(st.lists(st.text(alphabet=st.characters(codec="ascii", exclude_characters="\0'\r")),
                min_size=1, max_size=5))  # fmt: skip
def test_quoted_words_arrive_unchanged(words: list[str]) -> None:
    script = parse("x " + " ".join(f"'{word}'" for word in words))
    (pipeline,) = [chain.first for chain in script.chains]
    (command,) = pipeline.commands
    arrived = ["".join(piece.text for piece in word) for word in command.words[1:]]  # type: ignore[union-attr]
    assert arrived == words

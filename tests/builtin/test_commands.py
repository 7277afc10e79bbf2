"""Commands: none without leave; with it, no secret in their environment and nothing left behind."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

SECRET = "hunter2-the-secret-value"

LINES = [
    "touch {mark}",
    "true; touch {mark}",
    "true && touch {mark}",
    "false || touch {mark}",
    "true | touch {mark}",
    "touch {mark} &",
    "(touch {mark})",
    "{{ touch {mark}; }}",
    "$(touch {mark})",
    "`touch {mark}`",
    "echo $(touch {mark})",
    'echo "$(touch {mark})"',
    "echo `touch {mark}`",
    "echo x > {mark}",
    "echo x >> {mark}",
    ": > {mark}",
    "> {mark}",
    "cat < /dev/null > {mark}",
    "cat <<E > {mark}\nx\nE",
    "tee {mark} < /dev/null",
    "cp /etc/passwd {mark}",
    "ln -s /etc/passwd {mark}",
    "mkdir {mark}",
    "mkfifo {mark}",
    "dd if=/dev/zero of={mark} count=1",
    "install /dev/null {mark}",
    "sh -c 'touch {mark}'",
    "bash -c 'touch {mark}'",
    "/bin/sh -c 'touch {mark}'",
    "env touch {mark}",
    "env -i /bin/sh -c 'touch {mark}'",
    "exec touch {mark}",
    "eval 'touch {mark}'",
    "eval eval touch {mark}",
    "command touch {mark}",
    "nohup touch {mark}",
    "setsid touch {mark}",
    "timeout 1 touch {mark}",
    "nice touch {mark}",
    "xargs touch {mark} < /dev/null",
    "echo {mark} | xargs touch",
    "find . -exec touch {mark} ;",
    "find / -maxdepth 0 -exec touch {mark} \\;",
    "awk 'BEGIN{{system(\"touch {mark}\")}}'",
    "sed -n '1e touch {mark}' /etc/passwd",
    "python3 -c \"open('{mark}','w')\"",
    "perl -e 'open(F,\">{mark}\")'",
    "git -c core.pager='touch {mark}' log",
    "git -c alias.x='!touch {mark}' x",
    "tar cf /dev/null /etc/passwd --checkpoint=1 --checkpoint-action=exec='touch {mark}'",
    "X='touch {mark}'; $X",
    "IFS=,;X=touch,{mark};$X",
    "t''ouch {mark}",
    "t\\ouch {mark}",
    "$'touch' {mark}",
    "/usr/bin/touch {mark}",
    "/???/???/t?uch {mark}",
    "\ntouch {mark}\n",
    "#\ntouch {mark}",
    "touch {mark} #",
    "true\r\ntouch {mark}",
    "touch\t{mark}",
    "trap 'touch {mark}' EXIT",
    "f() {{ touch {mark}; }}; f",
    "if true; then touch {mark}; fi",
    "while true; do touch {mark}; break; done",
    "for x in 1; do touch {mark}; done",
    "case x in x) touch {mark};; esac",
    ". /dev/stdin <<< 'touch {mark}'",
]

NAMES = [
    "run_command",
    "Run_Command",
    "run-command",
    "run_command ",
    "functions.run_command",
    "bash",
    "sh",
    "shell",
    "execute",
    "exec",
    "system",
    "terminal",
    "python",
    "os.system",
    "",
]

LOOKS = [
    "env",
    "printenv",
    "printenv DB_PASSWORD",
    "set",
    "export -p",
    "echo $DB_PASSWORD $OPENAI_API_KEY $GITHUB_TOKEN $DATABASE_URL",
    "echo ${{DB_PASSWORD}}",
    "sh -c env",
    "cat /proc/self/environ",
    "cat /proc/$$/environ",
    "cat /proc/$PPID/environ",
    "tr '\\0' '\\n' < /proc/$PPID/environ",
    "python3 -c 'import os; print(os.environ)'",
    "awk 'BEGIN{{for (k in ENVIRON) print k, ENVIRON[k]}}'",
    "ps eww $$",
    "ps eww $PPID",
    "printenv | base64",
    "env | rev",
    "env | od -c",
    "env | xxd",
]

LEAVING_BEHIND = [
    "sleep {n} & echo on",
    "nohup sleep {n} >/dev/null 2>&1 & echo on",
    "setsid sleep {n} >/dev/null 2>&1 & echo on",
    "(setsid sleep {n} &) >/dev/null 2>&1; echo on",
    "sh -c 'setsid sh -c \"sleep {n} & exit\" &' >/dev/null 2>&1; echo on",
    "trap '' TERM HUP; sleep {n} & echo on",
    'python3 -c "import os; os.fork() or (os.setsid(), os.fork() or '
    "os.execvp('sleep', ['sleep', '{n}']))\"; echo on",
    "env -i setsid sleep {n} & echo on",
]


@pytest.mark.parametrize("line", LINES, ids=ascii)
def test_without_leave_no_command_runs(desk, line):
    mark = desk.outside / "mark"
    answered = desk.tool("run_command", command=line.format(mark=mark))
    assert answered.is_error and "allowShell" in answered.text
    assert answered.denied is not None
    assert not mark.exists()


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_no_name_of_a_tool_runs_a_command_without_leave(desk, name):
    mark = desk.work / "mark"
    assert desk.tool(name, command=f"touch {mark}").is_error
    assert not mark.exists()


def test_no_secret_is_in_the_environment_of_a_command(desk):
    """Whichever way it is looked at; all of them in one command, each in a shell of its own."""
    desk.env |= {
        "DB_PASSWORD": SECRET,
        "OPENAI_API_KEY": SECRET,
        "GITHUB_TOKEN": SECRET,
        "UWF_SOMETHING": SECRET,
        "DATABASE_URL": f"postgres://me:{SECRET}@db.example/x",
        "HARMLESS": "harmless",
    }
    looks = [f"echo look {number}; ({line.format()})" for number, line in enumerate(LOOKS)]
    context = desk.context(allow_shell="workspace")
    text = desk.tool("run_command", context, command="\n".join([*looks, "echo the end"])).text
    backwards = SECRET[::-1]
    for hidden in (SECRET, backwards, "SFVOVEVS", "h   u   n   t   e   r", "aHVudGVyMi"):
        assert hidden not in text
    assert text.count("HARMLESS=harmless") >= 5
    assert f"look {len(LOOKS) - 1}\n" in text and "the end" in text


def test_what_is_no_secret_is_there(desk):
    desk.env |= {"HARMLESS": "harmless"}
    answered = desk.tool(
        "run_command", desk.context(allow_shell="workspace"), command="echo $HARMLESS $PWD"
    )
    assert answered.text == f"harmless {desk.work}"


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("echo said", "said"),
        ("true", "[no output; exit code 0]"),
        ("false", "[no output; exit code 1]"),
        ("echo said; exit 7", "said\n[exit code 7]"),
        ("echo said; kill -9 $$", "said\n[exit code -9]"),
    ],
)
def test_an_exit_code_is_shown_unless_a_command_succeeded_with_output(desk, command, result):
    context = desk.context(allow_shell="workspace")
    assert desk.tool("run_command", context, command=command).text == result


def alive(number: str) -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [b"sleep", number.encode()]:
                found.append(folder.name)
    return found


def test_nothing_that_a_command_started_outlives_it(desk):
    """Whichever way it is started; all commands at once, since most of it is waiting."""
    context = desk.context(allow_shell="workspace")

    def left_by(line):
        number = f"7{os.getpid()}.{LEAVING_BEHIND.index(line):04d}"
        answered = desk.tool("run_command", context, command=line.format(n=number))
        return "on" in answered.text, alive(number)

    with ThreadPoolExecutor(len(LEAVING_BEHIND)) as pool:
        outcomes = dict(zip(LEAVING_BEHIND, pool.map(left_by, LEAVING_BEHIND), strict=True))
    assert outcomes == dict.fromkeys(LEAVING_BEHIND, (True, []))


def test_a_command_ends_with_its_time_and_its_whole_tree_with_it(desk):
    number = f"8{os.getpid()}"
    started = time.monotonic()
    context = desk.context(allow_shell="workspace")
    answered = desk.tool(
        "run_command",
        context,
        command=f"echo before; (sleep {number}) ; echo after",
        timeout_seconds=2,
    )
    assert answered.text.startswith("before\n[it was ended after")
    assert time.monotonic() - started < 30
    assert alive(number) == []


def test_of_a_long_output_head_and_tail_are_kept(desk):
    context = desk.context(allow_shell="workspace")
    answered = desk.tool(
        "run_command", context, command="echo first; seq 1 200000; echo last; exit 3"
    )
    assert answered.text.startswith("first\n1\n2\n")
    assert answered.text.endswith("\n200000\nlast\n[exit code 3]")
    assert "characters of output left out" in answered.text
    assert len(answered.text) < 31_000


def test_a_command_gets_no_input_and_no_terminal(desk):
    context = desk.context(allow_shell="workspace")
    answered = desk.tool("run_command", context, command="cat; test -t 0 || echo none; tty")
    assert "none" in answered.text


def test_errors_stand_between_what_belongs_to_them(desk):
    context = desk.context(allow_shell="workspace")
    answered = desk.tool("run_command", context, command="echo a; echo b >&2; echo c; exit 1")
    assert answered.text == "a\nb\nc\n[exit code 1]"

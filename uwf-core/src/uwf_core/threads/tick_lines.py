"""The lines with which cron, systemd or launchd runs `uwf tick` every five minutes, in the
environment that it needs there.
"""

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

from uwf_core.errors import UsageError
from uwf_core.process.own_python import own_python

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

MINUTES = 5


def lines_for(engine: "Engine", scheduler: str) -> str:
    """The lines for `cron`, `systemd` or `launchd`.

    Raises:
        UsageError: it is another word.
    """
    if scheduler not in _WRITERS:
        raise UsageError(f"unknown scheduler {scheduler!r}", hint=f"known: {', '.join(_WRITERS)}")
    names = ("PATH", "HOME")
    env = {name: engine.env[name] for name in names if name in engine.env}
    env["UWF_HOME"] = engine.home
    providers = engine.settings.providers.values()
    keys = sorted({each.api_key_env for each in providers if each.api_key_env is not None})
    remark = f"its environment also needs {', '.join(keys)}" if keys else ""
    return _WRITERS[scheduler](env, own_python("uwf_core", "tick"), remark)


def _cron(env: Mapping[str, str], words: tuple[str, ...], remark: str) -> str:
    given = [f"{name}={shlex.quote(value)}" for name, value in env.items()]
    line = " ".join((f"*/{MINUTES} * * * *", *given, shlex.join(words), ">/dev/null"))
    return "\n".join(filter(None, (remark and f"# {remark}", line.replace("%", "\\%"))))


def _systemd(env: Mapping[str, str], words: tuple[str, ...], remark: str) -> str:
    given = "\n".join(f"Environment={_unit_word(f'{name}={env[name]}')}" for name in env)
    command = " ".join(map(_unit_word, words))
    return f"""\
# ~/.config/systemd/user/uwf-tick.service{f" ({remark})" if remark else ""}
[Service]
Type=oneshot
KillMode=process
{given}
ExecStart={command}

# ~/.config/systemd/user/uwf-tick.timer
[Timer]
OnCalendar=*:0/{MINUTES}
[Install]
WantedBy=timers.target

# systemctl --user enable --now uwf-tick.timer"""


def _unit_word(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _launchd(env: Mapping[str, str], words: tuple[str, ...], remark: str) -> str:
    arguments = "".join(f"<string>{escape(word)}</string>" for word in words)
    given = "".join(
        f"<key>{name}</key><string>{escape(value)}</string>" for name, value in env.items()
    )
    return f"""\
<?xml version="1.0" encoding="UTF-8"?>
<!-- ~/Library/LaunchAgents/uwf.tick.plist{f" ({remark})" if remark else ""} -->
<plist version="1.0"><dict>
<key>Label</key><string>uwf.tick</string>
<key>ProgramArguments</key><array>{arguments}</array>
<key>EnvironmentVariables</key><dict>{given}</dict>
<key>StartInterval</key><integer>{MINUTES * 60}</integer>
<key>AbandonProcessGroup</key><true/>
</dict></plist>"""


_WRITERS: Final = {"cron": _cron, "systemd": _systemd, "launchd": _launchd}

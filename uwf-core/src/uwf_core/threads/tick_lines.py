"""The lines with which cron, systemd or launchd runs `uwf tick` every five minutes, in the
environment that it needs there.
"""

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

from uwf_core.config.keys import ENVIRONMENT
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
    names = needed_names(engine)
    remark = f"its environment also needs {', '.join(names)}" if names else ""
    return _WRITERS[scheduler](tick_env(engine), own_python("uwf_core", "tick"), remark)


def tick_env(engine: "Engine") -> dict[str, str]:
    """The environment that the lines give: of the variables of uwf those without a secret."""
    given = ("PATH", "HOME", *ENVIRONMENT)
    env = {name: engine.env[name] for name in given if name in engine.env}
    clean = {name: text for name, text in env.items() if engine.redactor.text(text) == text}
    return {**clean, "UWF_HOME": engine.home}


def needed_names(engine: "Engine") -> list[str]:
    """The variables that the configuration needs and that no line may give, since they are secret:
    the keys of model services.
    """
    providers = engine.settings.providers.values()
    keys = {each.api_key_env for each in providers if each.api_key_env is not None}
    secret = {name for name in ENVIRONMENT if name in engine.env} - {*tick_env(engine)}
    return sorted(keys | secret)


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

"""Select the environment variables of a program that a workflow or task names: those that every
program needs, and those that are declared for it. Pure.
"""

from collections.abc import Iterable, Mapping

USUAL = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "LANG", "LANGUAGE", "LC_*"),
    *("TZ", "TMPDIR", "TMP", "TEMP", "XDG_*", "UWF_HOME", "UWF_BLOCK_PLUGINS"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"),
)
"""The variables of every program. With `UWF_HOME` an agent can read its thread; plugins that
are blocked here are also blocked when it calls uwf."""


def passed_on(env: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The variables of `env` that are standard or that `names` declares; `*` at the end of a name
    matches any suffix.
    """
    wanted = (*USUAL, *names)
    exact = {name for name in wanted if not name.endswith("*")}
    prefixes = tuple(name[:-1] for name in wanted if name.endswith("*"))
    return {
        name: value for name, value in env.items() if name in exact or name.startswith(prefixes)
    }

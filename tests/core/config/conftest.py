"""A home, a project and an environment of their own for each test."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from uwf_core.config.settings import Settings, load_settings


class World:
    """A user's folder and a project below it."""

    def __init__(self, folder: Path) -> None:
        self.user = folder / "user"
        self.home = self.user / ".uwf"
        self.project = folder / "work" / "project"
        self.env = {"HOME": str(self.user)}
        self.home.mkdir(parents=True, mode=0o700)
        self.project.mkdir(parents=True)
        (self.project / ".git").mkdir()

    @property
    def file(self) -> Path:
        return self.home / "config.yaml"

    def config(self, text: str) -> None:
        self.file.write_text(text)
        self.file.chmod(0o600)

    def project_config(self, text: str, folder: Path | None = None) -> Path:
        file = (folder or self.project) / ".uwf" / "config.yaml"
        file.parent.mkdir()
        file.write_text(text)
        return file

    def dotenv(self, text: str) -> None:
        file = self.home / ".env"
        file.write_text(text)
        file.chmod(0o600)

    def settings(
        self,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        flags: Mapping[str, str] | None = None,
    ) -> Settings:
        environment = {**self.env, **(env or {})}
        return load_settings(str(self.home), str(cwd or self.project), environment, flags)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)

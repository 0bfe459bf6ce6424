from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dlpctl.cli.main import run
from dlpctl.config import SETTINGS, Allow, Config, Layer, load_config, locate
from dlpctl.errors import ConfigError
from dlpctl.types import Destination

Load = Callable[..., Config]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "config").mkdir(parents=True)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def load(home: Path, project: Path) -> Load:
    def load(
        flags: dict[str, object] | None = None, working: Path = project, **variables: str
    ) -> Config:
        environ = {
            "DLPCTL_HOME": str(home),
            **{f"DLPCTL_{key}": text for key, text in variables.items()},
        }
        return load_config(flags, environ=environ, working=working)

    return load


def write(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def message(load: Load, **given: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        load(**given)
    assert "\n" not in caught.value.message
    return caught.value.message


class TestLayers:
    def test_defaults_hold_where_nothing_is_set(self, load: Load) -> None:
        config = load()
        assert config.min_score == 0.5
        assert config.patterns == ()
        assert config.allow == Allow()
        assert config.destination is Destination.AI_TOOL
        assert config.policy == "default"
        assert config.operator is None
        assert {config.origin(key).name for key in SETTINGS} == {"default"}

    def test_each_layer_beats_those_before_it(self, load: Load, home: Path, project: Path) -> None:
        in_project = write(
            project / "dlpctl.toml",
            "min_score = 0.1\npolicy = 'a'\ncolor = 'always'\noperator = 'hash'",
        )
        of_user = write(
            home / "config" / "config.toml", "min_score = 0.2\npolicy = 'b'\ncolor = 'never'"
        )
        config = load({"min_score": 0.4, "color": None}, MIN_SCORE="0.3", POLICY="c")

        assert (config.operator, config.color, config.policy, config.min_score) == (
            "hash",
            "never",
            "c",
            0.4,
        )
        origins = [config.origin(key) for key in ("operator", "color", "policy", "min_score")]
        assert [origin.layer for origin in origins] == [
            Layer.PROJECT,
            Layer.USER,
            Layer.ENVIRONMENT,
            Layer.FLAG,
        ]
        assert [origin.name for origin in origins] == [
            str(in_project),
            str(of_user),
            "DLPCTL_POLICY",
            "--min-score",
        ]

    def test_a_list_is_replaced_as_a_whole_and_its_neighbours_stay(
        self, load: Load, home: Path, project: Path
    ) -> None:
        write(project / "dlpctl.toml", "[allow]\nvalues = ['a', 'b']\npaths = ['tests/*']")
        write(home / "config" / "config.toml", "[allow]\nvalues = []")
        assert load().allow == Allow(values=(), paths=("tests/*",))

    def test_the_nearest_project_file_upwards_is_the_one(self, load: Load, project: Path) -> None:
        inner = project / "a" / "b" / "c"
        inner.mkdir(parents=True)
        write(project / "dlpctl.toml", "min_score = 0.1\ncolor = 'never'")
        assert load(working=inner).min_score == 0.1
        nearer = write(project / "a" / "dlpctl.toml", "min_score = 0.2")
        config = load(working=inner)
        assert (config.min_score, config.color) == (0.2, "auto")
        assert config.origin("min_score").name == str(nearer)

    def test_a_folder_of_that_name_is_no_file(self, load: Load, project: Path) -> None:
        inner = project / "inner"
        (inner / "dlpctl.toml").mkdir(parents=True)
        write(project / "dlpctl.toml", "min_score = 0.1")
        assert load(working=inner).min_score == 0.1

    def test_dotted_keys_and_byte_order_marks_are_toml_too(self, load: Load, project: Path) -> None:
        (project / "dlpctl.toml").write_bytes(b"\xef\xbb\xbfallow.values = ['x']\nmin_score = 1\n")
        config = load()
        assert config.get("allow.values") == ("x",)
        assert config.min_score == 1.0
        assert isinstance(config.min_score, float)


class TestValues:
    def test_files_are_relative_to_the_file_that_names_them(
        self, load: Load, home: Path, project: Path, tmp_path: Path
    ) -> None:
        inner = project / "inner"
        inner.mkdir()
        absolute = str(tmp_path / "x.toml")
        write(
            project / "dlpctl.toml",
            f"patterns = ['a.toml', {json.dumps(absolute)}]\npolicy = 'rules/p.yaml'",
        )
        config = load(working=inner)
        assert config.patterns == (project / "a.toml", tmp_path / "x.toml")
        assert config.policy == str(project / "rules" / "p.yaml")
        write(home / "config" / "config.toml", "patterns = ['b.toml']")
        assert load(working=inner).patterns == (home / "config" / "b.toml",)
        assert load(working=inner, PATTERNS=os.pathsep.join(["c.toml", absolute])).patterns == (
            inner / "c.toml",
            tmp_path / "x.toml",
        )
        assert load({"patterns": [Path("d.toml")]}, working=inner).patterns == (inner / "d.toml",)

    def test_a_tilde_is_the_home_folder(
        self, load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        for name in ("HOME", "USERPROFILE"):
            monkeypatch.setenv(name, str(tmp_path))
        assert load(PATTERNS="~/p.toml").patterns == (tmp_path / "p.toml",)

    @pytest.mark.parametrize("name", ["default", "strict-2", "gdpr"])
    def test_a_policy_by_name_stays_a_name(self, load: Load, name: str) -> None:
        assert load(POLICY=name).policy == name

    @pytest.mark.parametrize("spelling", ["VENDOR", "vendor", "Vendor"])
    def test_case_does_not_count_in_names(self, load: Load, spelling: str) -> None:
        assert load(DESTINATION=spelling).destination is Destination.VENDOR

    def test_lists_in_the_environment_have_an_item_a_line(self, load: Load) -> None:
        assert load(ALLOW_VALUES="a, b:c\n\nd\n").allow.values == ("a, b:c", "d")

    def test_an_empty_variable_is_not_set(self, load: Load) -> None:
        assert load(POLICY="", ALLOW_VALUES="").policy == "default"


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("min_scor = 0.3", "1: min_scor: is not a setting; did you mean 'min_score'?"),
            ("min-score = 0.3", "1: min-score: is not a setting; did you mean 'min_score'?"),
            (
                "[allow]\nvalue = []",
                "2: allow.value: is not a setting; did you mean 'allow.values'?",
            ),
            ("[alow]\nvalues = []", "1: alow: is not a setting; did you mean 'allow'?"),
            ("zzz = 1", "1: zzz: is not a setting; 'dlpctl config show' lists them all"),
            ("allow = ['x']", "1: allow: must be a table; write [allow]"),
            ("\nmin_score = '0.3'", "2: min_score: must be a number from 0 to 1"),
            ("min_score = true", "1: min_score: must be a number from 0 to 1"),
            ("min_score = 1.01", "1: min_score: must be a number from 0 to 1"),
            ("min_score = nan", "1: min_score: must be a number from 0 to 1"),
            ("[min_score]\nx = 1", "1: min_score: must be a number from 0 to 1"),
            ("patterns = 'a.toml'", "1: patterns: must be a list"),
            ("patterns = ['a.toml', 3]", "1: patterns[1]: must be text"),
            ("patterns = ['']", "1: patterns[0]: must not be empty"),
            ("allow.regexes = ['a', ' ']", "1: allow.regexes[1]: must not be empty"),
            ("destination = 'MOON'", "1: destination: must be one of AI_TOOL, VENDOR, CUSTOMER"),
            ("color = 'red'", "1: color: must be one of auto, always, never"),
            ("policy = 3", "1: policy: must be text"),
        ],
    )
    @pytest.mark.parametrize("layer", ["project", "user"])
    def test_carry_file_line_and_key(
        self, load: Load, home: Path, project: Path, text: str, expected: str, layer: str
    ) -> None:
        file = project / "dlpctl.toml" if layer == "project" else home / "config" / "config.toml"
        write(file, text)
        assert message(load) == f"{file}:{expected}"

    def test_are_all_listed_at_once(self, load: Load, project: Path) -> None:
        file = project / "dlpctl.toml"
        write(file, "min_score = 2\n\n[serve]\nprt = 1\nburst = inf\n")
        with pytest.raises(ConfigError) as caught:
            load(COLOR="red")
        assert sorted(caught.value.problems) == [
            f"{file}:1: min_score: must be a number from 0 to 1",
            f"{file}:4: serve.prt: is not a setting; did you mean 'serve.port'?",
            f"{file}:5: serve.burst: must be a whole number from 1 to 1,000,000,000",
            "DLPCTL_COLOR: must be one of auto, always, never",
        ]

    @pytest.mark.parametrize(
        ("variable", "text", "expected"),
        [
            ("MIN_SCORE", "high", "DLPCTL_MIN_SCORE: must be a number from 0 to 1"),
            ("MIN_SCORE", "nan", "DLPCTL_MIN_SCORE: must be a number from 0 to 1"),
            ("COLOR", "red", "DLPCTL_COLOR: must be one of auto, always, never"),
            (
                "MIN_SCOER",
                "1",
                "DLPCTL_MIN_SCOER: is not a variable of dlpctl; did you mean 'DLPCTL_MIN_SCORE'?",
            ),
        ],
    )
    def test_carry_the_variable(self, load: Load, variable: str, text: str, expected: str) -> None:
        assert message(load, **{variable: text}) == expected

    def test_never_repeat_a_value(self, load: Load, project: Path) -> None:
        write(project / "dlpctl.toml", "policy = 'default'\ndestination = 'my-private-words'")
        assert "private" not in message(load)
        assert "private" not in message(load, MIN_SCORE="my-private-words")
        assert "private" not in repr(Config(allow=Allow(values=("my-private-words",))))

    def test_variables_of_kubernetes_for_a_service_called_dlpctl_are_ignored(
        self, load: Load
    ) -> None:
        load(
            SERVICE_HOST="10.0.0.1",
            SERVICE_PORT="8686",
            SERVICE_PORT_HTTP="8686",
            PORT="tcp://10.0.0.1:8686",
            PORT_8686_TCP_ADDR="10.0.0.1",
            DAEMON_SERVICE_HOST="10.0.0.1",
            DAEMON_PORT_8686_TCP="tcp://10.0.0.1:8686",
        )

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            (b"min_score = ", "is not TOML: Invalid value (at end of document)"),
            (b"policy = '\xff'", "is not UTF-8 at byte 10"),
            (b"#" * (1 << 20) + b"#", "is larger than 1,048,576 bytes; is it a settings file?"),
            (b"x = " + b"[" * 100_000, "is not TOML: "),
        ],
    )
    def test_say_what_is_wrong_with_a_file(
        self, load: Load, project: Path, content: bytes, expected: str
    ) -> None:
        file = project / "dlpctl.toml"
        file.write_bytes(content)
        assert message(load).startswith(f"{file}: {expected}")

    def test_a_user_file_that_cannot_be_read_is_an_error(self, load: Load, home: Path) -> None:
        (home / "config" / "config.toml").mkdir()
        assert message(load).startswith(f"{home / 'config' / 'config.toml'}: cannot be read: ")

    @pytest.mark.skipif(os.name != "posix", reason="owners and modes")
    def test_files_of_others_in_shared_folders_are_ignored(
        self, load: Load, project: Path, become: Callable[[int], None]
    ) -> None:
        shared = project / "shared"
        shared.mkdir()
        shared.chmod(0o1777)
        write(shared / "dlpctl.toml", "min_score = 0.9")
        write(project / "dlpctl.toml", "min_score = 0.1")
        if os.geteuid() == 0:
            os.chown(shared / "dlpctl.toml", 4321, -1)
        else:
            assert load(working=shared).min_score == 0.9
            become(4321)
        assert load(working=shared).min_score == 0.1

    @pytest.mark.skipif(
        os.name != "posix", reason="elsewhere the folder one works in cannot be removed"
    )
    def test_a_working_folder_that_is_gone(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(project)
        project.rmdir()
        with pytest.raises(ConfigError, match="no longer exists"):
            load_config(environ={})


class TestPlaces:
    def test_one_folder_holds_all_if_it_is_named(self, tmp_path: Path) -> None:
        places = locate({"DLPCTL_HOME": "all"}, tmp_path)
        assert (places.config, places.data, places.cache) == tuple(
            tmp_path / "all" / name for name in ("config", "data", "cache")
        )
        assert places.user == tmp_path / "all" / "config" / "config.toml"

    def test_else_they_are_where_the_platform_has_them(self, tmp_path: Path) -> None:
        places = locate({}, tmp_path)
        assert all(folder.is_absolute() for folder in places[3:])
        assert all("dlpctl" in folder.parts for folder in places[3:])
        assert tmp_path not in places.config.parents

    @pytest.mark.parametrize("folder", ["", "relative", "/srv/settings", "/srv/settings/"])
    def test_the_environment_sets_the_folders(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
    ) -> None:
        from platformdirs import PlatformDirs

        monkeypatch.setenv("XDG_CONFIG_HOME", folder)
        monkeypatch.delenv("DLPCTL_HOME", raising=False)
        places, usual = locate(os.environ, tmp_path), PlatformDirs("dlpctl", appauthor=False)
        assert places[3:] == (usual.user_config_path, usual.user_data_path, usual.user_cache_path)

    @pytest.mark.skipif(os.name != "posix", reason="HOME")
    @pytest.mark.usefixtures("unknown_home")
    def test_an_unknown_home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("CONFIG", "DATA", "CACHE"):
            monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
        with pytest.raises(ConfigError, match="set HOME, or DLPCTL_HOME"):
            locate({}, tmp_path)


class TestConfig:
    def test_cannot_change_and_can_go_to_another_process(self, load: Load, project: Path) -> None:
        write(project / "dlpctl.toml", "[allow]\nvalues = ['a']")
        config = load()
        with pytest.raises(AttributeError):
            config.min_score = 0.1  # what a type checker would not let pass
        hash(config)
        assert pickle.loads(pickle.dumps(config)) == config

    def test_a_start_pays_for_no_reader_that_it_does_not_need(
        self, home: Path, project: Path
    ) -> None:
        program = (
            "import sys; from dlpctl.config import load_config; load_config(); print(*sys.modules)"
        )
        environ = {**os.environ, "DLPCTL_HOME": str(home)}
        loaded = subprocess.run(
            [sys.executable, "-c", program],
            cwd=project,
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        )
        assert {"tomllib", "platformdirs", "difflib", "typer"}.isdisjoint(loaded.stdout.split())


@pytest.fixture
def inside(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command line that runs in the project."""
    for name in [name for name in os.environ if name.startswith("DLPCTL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DLPCTL_HOME", str(home))
    monkeypatch.chdir(project)
    return project


class TestCommands:
    def test_show_prints_values_and_where_they_come_from(
        self, inside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = write(inside / "dlpctl.toml", "[allow]\nvalues = ['Zoë', 'b']")
        monkeypatch.setenv("DLPCTL_MIN_SCORE", "0.7")
        assert run(["config", "show"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in lines] == ["setting", *SETTINGS]
        by_key = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines}
        assert by_key["allow.values"] == f'["Zoë", "b"]  {file}'
        assert by_key["min_score"].split() == ["0.7", "DLPCTL_MIN_SCORE"]
        assert by_key["operator"].split() == ["-", "default"]

    def test_show_as_json(self, inside: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = write(inside / "dlpctl.toml", "patterns = ['a.toml']")
        assert run(["config", "show", "--format", "json"]) == 0
        settings = {each["key"]: each for each in json.loads(capsys.readouterr().out)["settings"]}
        assert list(settings) == list(SETTINGS)
        assert settings["patterns"]["value"] == [str(inside / "a.toml")]
        assert settings["patterns"]["layer"] == "project"
        assert settings["patterns"]["origin"] == str(file)
        assert settings["min_score"]["value"] == 0.5
        assert settings["min_score"]["variable"] == "DLPCTL_MIN_SCORE"
        assert settings["operator"]["value"] is None

    def test_show_fails_as_every_command_would(
        self, inside: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(inside / "dlpctl.toml", "min_scor = 1")
        assert run(["config", "show"]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err == (
            f"dlpctl: {inside / 'dlpctl.toml'}:1: min_scor: is not a setting; did you mean 'min_score'?\n"
        )

    def test_path_works_whatever_the_settings_say(
        self, inside: Path, home: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = write(inside / "dlpctl.toml", "min_scor = 1")
        assert run(["config", "path", "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out) == {
            "project": str(file),
            "user": str(home / "config" / "config.toml"),
            "config": str(home / "config"),
            "data": str(home / "data"),
            "cache": str(home / "cache"),
        }
        assert run(["config", "path", "user"]) == 0
        assert capsys.readouterr().out == f"{home / 'config' / 'config.toml'}\n"
        assert run(["config", "path"]) == 0
        assert str(file) in capsys.readouterr().out

    def test_path_of_a_project_file_that_is_not_there(
        self, inside: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["config", "path", "project"]) == 2
        assert "there is no dlpctl.toml" in capsys.readouterr().err
        assert run(["config", "path"]) == 0
        assert capsys.readouterr().out.splitlines()[0].split()[:2] == ["project", "-"]

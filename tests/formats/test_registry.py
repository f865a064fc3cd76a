"""Names, aliases, inheritance, plug-ins and combining."""

from __future__ import annotations

import importlib
import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest

from syntagma import formats
from syntagma.errors import ArgumentError, FormatError
from syntagma.format_schema import FormatFile
from syntagma.formats import ChatFormat
from syntagma.formats.registry import PLUGIN_GROUP, FormatRegistry, registry
from syntagma.formats.usable import check_usable

DATA = Path(formats.__file__).parent / "data"
DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference"
CALLS = '[tools]\ncall = "<c>{envelope}</c>"\nenvelope = \'{"n": "{name}", "a": {arguments}}\'\n'
REASONING = '[reasoning]\nblock = "<t>{reasoning}</t>"\n'
HEADERS = (
    '[messages]\nfields = ["<to>"]\nbody = "<b>"\n'
    '[content]\nblock = "<to>user<b>{content}"\n[tools]\ncall = "<to>{name}<b>{arguments}"\n'
)


@pytest.mark.parametrize("name", formats.names())
def test_every_format_prints_and_reads_back(name: str) -> None:
    fmt = formats.get(name)
    assert fmt.name == name
    assert ChatFormat.from_toml(fmt.to_toml()) == fmt


@pytest.mark.parametrize("path", sorted(DATA.glob("*.toml")), ids=lambda path: path.stem)
def test_every_file_is_usable(path: Path) -> None:
    FormatFile.parse(path.read_text(encoding="utf-8"), str(path)).spec(registry.tables, check_usable)


def test_an_alias_is_the_same_format() -> None:
    with_alias = next(formats.get(name) for name in formats.names() if formats.get(name).spec.aliases)
    alias = with_alias.spec.aliases[0]
    assert alias not in formats.names()
    assert formats.get(alias) == with_alias
    assert formats.get(alias).name == with_alias.name


def test_an_unknown_name_lists_near_ones() -> None:
    near = formats.names()[-1]
    with pytest.raises(FormatError) as caught:
        formats.get(near + "x")
    assert caught.value.code == "E-FORMAT-UNKNOWN"
    assert near in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["acme/vole-7b", "ACME_2", "the acme2 model"])
def test_an_unknown_name_suggests_the_formats_of_its_family(name: str) -> None:
    registry = FormatRegistry()
    registry.register('families = ["acme"]\n' + CALLS, name="vole")
    with pytest.raises(FormatError) as caught:
        registry.canonical(name)
    assert caught.value.hint == "similar names: vole"


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (part, name)
        for registry in tomllib.loads((DOCS / "format-names.toml").read_text(encoding="utf-8")).values()
        for part, listed in registry.items()
        for name in listed
    ],
)
def test_a_name_that_other_programs_know_is_known_with_its_part(part: str, name: str) -> None:
    assert getattr(formats.get(name).spec, part) is not None


def test_a_file_registers_under_its_name(tmp_path: Path) -> None:
    registry = FormatRegistry()
    path = tmp_path / "homemade.toml"
    path.write_text('aliases = ["own"]\n' + CALLS)
    assert registry.register(path) == "homemade"
    assert "homemade" in registry.names()
    assert registry.spec("own") == registry.spec("homemade")
    with pytest.raises(ArgumentError) as caught:
        registry.register(path)
    assert caught.value.code == "E-FORMAT-DUPLICATE"


def test_text_needs_a_name_or_an_alias() -> None:
    registry = FormatRegistry()
    with pytest.raises(ArgumentError) as caught:
        registry.register(CALLS)
    assert caught.value.code == "E-FORMAT-NAME"
    assert registry.register(CALLS, name="given") == "given"
    assert registry.register('aliases = ["first"]\n' + REASONING) == "first"


def test_a_part_inherits_and_replaces() -> None:
    registry = FormatRegistry()
    registry.register(CALLS, name="base")
    registry.register('[tools]\nfrom = "base"\nseparator = ";"\n', name="heir")
    base, heir = registry.spec("base").tools, registry.spec("heir").tools
    assert base is not None
    assert heir is not None
    assert heir.call == base.call
    assert (base.separator, heir.separator) == ("", ";")


def test_inheriting_from_nowhere_is_refused() -> None:
    with pytest.raises(FormatError) as caught:
        ChatFormat.from_toml('[tools]\nfrom = "no-such-format"\n')
    assert (caught.value.code, caught.value.line) == ("E-FORMAT-FROM", 2)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        FormatRegistry().register(tmp_path / "missing.toml")
    assert caught.value.code == "E-FORMAT-READ"


def test_threads_share_one_registry() -> None:
    registry = FormatRegistry()
    names = registry.names()
    seen: list[object] = []

    def read() -> None:
        seen.extend(registry.spec(name) for name in names)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4 * len(names)
    assert len({id(spec) for spec in seen}) == len(names)


class _Entry:
    name, value = "extra", "extra_formats"

    def __init__(self, loaded: Any) -> None:
        self._loaded = loaded

    def load(self) -> Any:
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


def test_packages_bring_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "extra_formats").mkdir()
    (tmp_path / "extra_formats" / "__init__.py").touch()
    (tmp_path / "extra_formats" / "brought.toml").write_text(CALLS)
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = _Entry(importlib.import_module("extra_formats"))
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry] if group == PLUGIN_GROUP else [])
    registry = FormatRegistry()
    assert registry.spec("brought").tools is not None
    assert "brought" in registry.names()


def test_a_package_that_does_not_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [_Entry(ImportError("gone"))])
    registry = FormatRegistry()
    assert registry.spec(formats.names()[0])
    with pytest.raises(FormatError) as caught:
        registry.names()
    assert caught.value.code == "E-FORMAT-PLUGIN"
    assert "extra" in caught.value.message


def test_combining_takes_parts() -> None:
    calls, thinker = ChatFormat.from_toml(CALLS), ChatFormat.from_toml(REASONING)
    both = calls.combine(reasoning=thinker)
    assert both.spec.tools == calls.spec.tools
    assert both.spec.reasoning == thinker.spec.reasoning
    assert thinker.combine(tools=calls) == both


def test_combining_unites_what_is_dropped() -> None:
    first = ChatFormat.from_toml(CALLS + '[content]\ndrop = ["<x>"]\n')
    second = ChatFormat.from_toml(REASONING + '[content]\ndrop = ["<y>", "<x>"]\n')
    content = first.combine(reasoning=second).spec.content
    assert content is not None
    assert content.drop == ("<x>", "<y>")


def test_header_formats_are_whole() -> None:
    with pytest.raises(FormatError) as caught:
        ChatFormat.from_toml(HEADERS).combine(reasoning=ChatFormat.from_toml(REASONING))
    assert caught.value.code == "E-FORMAT-COMBINE"


def test_what_follows_from_the_literals() -> None:
    fmt = ChatFormat.from_toml('end_of_turn = ["<e>", "\\n"]\n' + CALLS + REASONING)
    assert fmt.triggers == ("<c>",)
    assert fmt.preserved_tokens == ("<t>", "</t>", "<c>", "</c>", "<e>")
    assert fmt.stop_strings == ("<e>",)

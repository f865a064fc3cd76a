"""What a source stands for, and how packages add backends."""

from __future__ import annotations

import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path

import pytest

import syntagma as sg
from syntagma import backends
from syntagma.backends import registry

PLUGIN = '''
"""A backend of another package."""

import syntagma as sg


def load(rest, *, loudly=False):
    text = (rest or "nothing").upper() if loudly else rest or "nothing"
    template = sg.ChatTemplate("{% for m in messages %}{{ m.content }}<end>{% endfor %}")
    fmt = sg.ChatFormat.from_toml('end_of_turn = ["<end>"]')
    return sg.testing.ScriptedBackend(text), sg.ChatCodec.from_format(fmt, template)
'''
QUESTION = [{"role": "user", "content": "Well?"}]


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that adds the backend `parrot`, and one that is called like one of the library's."""
    facts = tmp_path / "parrot-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: parrot\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(
        f"[{registry.GROUP}]\nparrot = parrot_backend:load\nembedded = parrot_backend:load\n"
    )
    (tmp_path / "parrot_backend.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "parrot_backend", raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shipped model under another name."""
    with as_file(files("syntagma.embedded") / "data") as data:
        return Path(shutil.copytree(data, tmp_path / "mine"))


def test_the_shipped_model_and_folders() -> None:
    backend, codec = backends.load("embedded")
    assert backend.model_name == "syntagma-2m"
    assert codec.format.spec.tools is not None


def test_a_folder_is_a_source(folder: Path) -> None:
    asked = {"max_tokens": 8, "temperature": 0.0}
    said = sg.load("embedded").chat(QUESTION, **asked)  # type: ignore[arg-type]
    model = sg.load(f"embedded:{folder}")
    assert model.backend.model_name == "mine"
    assert model.chat(QUESTION, **asked) == said  # type: ignore[arg-type]


def test_the_first_backend_whose_libraries_are_there_loads_a_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: name == "tokenizers" or None)
    assert sg.load(folder).backend.model_name == "mine"
    # Asked for by name, what is missing is said.
    for name in ("transformers", "mlx"):
        with pytest.raises(sg.ModelError) as caught:
            sg.load(f"{name}:{folder}")
        assert caught.value.code == "E-MODEL-DEPENDENCY"
        assert f"syntagma[{name}]" in (caught.value.hint or "")


def test_a_gguf_file_is_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda _: None)
    (tmp_path / "small.GGUF").write_bytes(b"GGUF")
    with pytest.raises(sg.ModelError) as caught:
        sg.load(tmp_path / "small.GGUF")
    assert caught.value.code == "E-MODEL-DEPENDENCY"
    assert "syntagma[llama-cpp]" in (caught.value.hint or "")


@pytest.mark.parametrize("source", ["embedded:nowhere", "mlx:nowhere", "llama_cpp:nowhere.gguf", "llama_cpp:.", "mlx"])
def test_a_folder_or_file_that_is_not_there(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: name)
    with pytest.raises(sg.ModelError) as caught:
        sg.load(source)
    assert caught.value.code == "E-MODEL-FILE"
    assert caught.value.source == source.partition(":")[2]


@pytest.mark.usefixtures("plugin")
def test_packages_add_backends() -> None:
    assert "parrot" in backends.names()
    assert list(backends.names()) == sorted({*backends.names()})
    for source, said in (("parrot:hello: you", "hello: you"), ("parrot", "nothing")):
        assert sg.load(source).chat(QUESTION, temperature=0).content == said
    assert sg.load("parrot:hello", loudly=True).chat(QUESTION, temperature=0).content == "HELLO"
    # What comes with the library cannot be taken over.
    assert backends.load("embedded")[0].model_name == "syntagma-2m"


@pytest.mark.usefixtures("plugin")
def test_an_option_that_a_backend_lacks_is_named() -> None:
    for source, known in (("parrot", "loudly"), ("embedded", "no options")):
        with pytest.raises(sg.ArgumentTypeError) as caught:
            sg.load(source, softly=True)
        assert (caught.value.code, caught.value.pointer) == ("E-ARGUMENT-TYPE", "/softly")
        assert known in (caught.value.hint or "")


@pytest.mark.parametrize(
    "source", ["models/mine", "model.bin", "https://models.test/mine", "", "embedded:", "nobody:x"]
)
def test_what_is_no_source_is_said(source: str) -> None:
    with pytest.raises(sg.ModelError) as caught:
        backends.load(source)
    assert caught.value.code == "E-MODEL-SOURCE"
    assert "embedded" in (caught.value.hint or "")


def test_a_missing_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda _: None)
    with pytest.raises(sg.ModelError) as caught:
        backends.load("embedded")
    assert caught.value.code == "E-MODEL-DEPENDENCY"
    assert "pip install 'tokenizers'" in (caught.value.hint or "")

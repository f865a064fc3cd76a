"""Templates come from files, model folders and GGUF metadata, with their special tokens."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from syntagma.errors import LimitError, ModelError, TemplateError
from syntagma.limits import Limits
from syntagma.templates import ChatTemplate

SHOWN = "{{ bos_token }}|{{ eos_token }}|{{ pad_token }}|{{ messages[0].content }}"
USER = [{"role": "user", "content": "hi"}]


def _folder(path: Path, config: dict[str, Any], **files: str) -> Path:
    (path / "tokenizer_config.json").write_text(json.dumps(config))
    for name, text in files.items():
        target = path / name.replace("__", "/").replace("_jinja", ".jinja").replace("_json", ".json")
        target.parent.mkdir(exist_ok=True)
        target.write_text(text)
    return path


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.jinja"
    path.write_text("ü" + SHOWN)
    template = ChatTemplate.from_file(path, bos_token="<s>", special_tokens={"pad_token": "<p>"})
    assert template.render(USER) == "ü<s>||<p>|hi"
    assert template.name == str(path)
    assert template.source == "ü" + SHOWN


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.jinja").write_bytes(b"abc\xff")
    for name in ("missing.jinja", "latin.jinja", "."):
        with pytest.raises(TemplateError) as raised:
            ChatTemplate.from_file(tmp_path / name)
        assert raised.value.code == "E-TEMPLATE-LOAD"
        assert str(tmp_path) in str(raised.value.source)
    (tmp_path / "long.jinja").write_text("x" * 11)
    with pytest.raises(LimitError):
        ChatTemplate.from_file(tmp_path / "long.jinja", limits=Limits(template_bytes=10))


def test_an_error_in_a_file_names_it(tmp_path: Path) -> None:
    (tmp_path / "bad.jinja").write_text("a\n{% if %}")
    with pytest.raises(TemplateError) as raised:
        ChatTemplate.from_file(tmp_path / "bad.jinja")
    assert raised.value.place == f"{tmp_path / 'bad.jinja'}:2"


@pytest.mark.parametrize("token", ["<s>", {"content": "<s>", "lstrip": False, "__type": "AddedToken"}])
def test_tokens_are_text_or_dictionaries(tmp_path: Path, token: Any) -> None:
    config = {"chat_template": SHOWN, "bos_token": token, "eos_token": None, "pad_token": token}
    assert ChatTemplate.from_pretrained(_folder(tmp_path, config)).render(USER) == "<s>||<s>|hi"


def test_named_templates(tmp_path: Path) -> None:
    listed = [{"name": "default", "template": "one"}, {"name": "tool_use", "template": "two"}]
    folder = _folder(tmp_path, {"chat_template": listed}, additional_chat_templates__rag_jinja="three")
    assert [ChatTemplate.from_pretrained(folder, name).render(USER) for name in ("default", "tool_use", "rag")] == [
        *("one", "two", "three")
    ]
    with pytest.raises(TemplateError) as raised:
        ChatTemplate.from_pretrained(folder, "other")
    assert raised.value.code == "E-TEMPLATE-LOAD"
    assert raised.value.hint == "its templates: default, rag, tool_use"


def test_files_win_over_the_configuration(tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"chat_template": "config", "eos_token": "</s>"})
    assert ChatTemplate.from_pretrained(folder).render(USER) == "config"
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": "json"}))
    assert ChatTemplate.from_pretrained(folder).render(USER) == "json"
    (folder / "chat_template.jinja").write_text("file{{ eos_token }}")
    template = ChatTemplate.from_pretrained(folder)
    assert (template.render(USER), template.name) == ("file</s>", "default")


def test_tokens_from_the_special_tokens_map(tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_text(SHOWN)
    (tmp_path / "special_tokens_map.json").write_text('{"bos_token": {"content": "<b>"}, "pad_token": "<p>"}')
    assert ChatTemplate.from_pretrained(tmp_path).render(USER) == "<b>||<p>|hi"


@pytest.mark.parametrize(
    "config",
    [
        "",
        "[",
        "[]",
        "7",
        '{"chat_template": 7}',
        '{"chat_template": [1]}',
        '{"chat_template": [{"name": "x"}]}',
        "{}",
        "\xff",
    ],
)
def test_a_broken_folder(tmp_path: Path, config: str) -> None:
    (tmp_path / "tokenizer_config.json").write_bytes(config.encode("latin-1"))
    with pytest.raises(TemplateError) as raised:
        ChatTemplate.from_pretrained(tmp_path)
    assert raised.value.code == "E-TEMPLATE-LOAD"
    assert str(tmp_path) in str(raised.value.source)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(TemplateError) as raised:
        ChatTemplate.from_pretrained(tmp_path / "missing")
    assert raised.value.code == "E-TEMPLATE-LOAD"


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def _gguf(path: Path, **pairs: str | int | list[str]) -> Path:
    data = b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs))
    for name, value in pairs.items():
        data += _text(name.replace("__", "."))
        if isinstance(value, int):
            data += struct.pack("<II", 4, value)
        elif isinstance(value, str):
            data += struct.pack("<I", 8) + _text(value)
        else:
            data += struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))
    (path / "model.gguf").write_bytes(data)
    return path / "model.gguf"


def test_gguf(tmp_path: Path) -> None:
    path = _gguf(
        tmp_path,
        general__name="m",
        tokenizer__ggml__tokens=["<unk>", "<s>", "</s>", "a"],
        tokenizer__ggml__bos_token_id=1,
        tokenizer__ggml__eos_token_id=2,
        tokenizer__ggml__padding_token_id=99,
        tokenizer__chat_template=SHOWN,
        tokenizer__chat_template__tool_use="tools {{ unk_token }}",
        tokenizer__ggml__unknown_token_id=0,
    )
    assert ChatTemplate.from_gguf(path).render(USER) == "<s>|</s>||hi"
    assert ChatTemplate.from_gguf(path, "tool_use").render(USER) == "tools <unk>"
    with pytest.raises(TemplateError) as raised:
        ChatTemplate.from_gguf(path, "rag")
    assert raised.value.hint == "its templates: default, tool_use"


def test_gguf_without_a_template_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(TemplateError) as raised:
        ChatTemplate.from_gguf(_gguf(tmp_path, general__name="m"))
    assert (raised.value.code, raised.value.source) == ("E-TEMPLATE-LOAD", str(tmp_path / "model.gguf"))
    (tmp_path / "model.gguf").write_bytes(b"GGUF\x03")
    with pytest.raises(ModelError):
        ChatTemplate.from_gguf(tmp_path / "model.gguf")

"""Reads chat templates from files, model folders and GGUF metadata."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from syntagma import gguf
from syntagma.errors import ArgumentTypeError, TemplateError
from syntagma.limits import Limits
from syntagma.templates.sandbox import limit_error

__all__ = ["Loaded", "read_folder", "read_gguf", "read_text", "read_tokenizer"]

_CONFIG: Final = "tokenizer_config.json"
_FOLDER_HINT: Final = f"a folder has it in chat_template.jinja or in {_CONFIG}; without it, name a format instead"
_MAX_CONFIG_BYTES: Final = 64 * 1024 * 1024
_TOKENS: Final = ("unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


@dataclass(frozen=True)
class Loaded:
    """A template's text, with the special tokens of its model."""

    source: str
    bos_token: str = ""
    eos_token: str = ""
    special_tokens: dict[str, str] = field(default_factory=dict)


def read_text(path: str | os.PathLike[str], limits: Limits) -> str:
    """The text of a template file, without a byte order mark.

    Raises:
        TemplateError: `E-TEMPLATE-LOAD`, the file cannot be read or is not UTF-8.
        LimitError: `E-LIMIT-TEMPLATE-SOURCE`, the file is larger than `limits.template_bytes`.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(limits.template_bytes + 1)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    if len(data) > limits.template_bytes:
        message = f"the template has more than {limits.template_bytes:,} bytes"
        raise limit_error(limits, "template_bytes", message, source=os.fspath(path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"byte {error.start} is not UTF-8") from None


def read_folder(directory: str | os.PathLike[str], name: str, limits: Limits) -> Loaded:
    """The template `name` of a model folder.

    Files take precedence over the configuration, as in transformers: `chat_template.jinja` and
    `additional_chat_templates/NAME.jinja`, then `chat_template.json`, then `tokenizer_config.json`.

    Raises:
        TemplateError: `E-TEMPLATE-LOAD`, the folder or template does not exist, or a file cannot be read.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise _unreadable(folder, "the folder does not exist", hint="from_file reads a single template")
    config = _json_object(folder / _CONFIG)
    tokens = {**_json_object(folder / "special_tokens_map.json"), **config}
    sources = _templates_of(config, folder / _CONFIG)
    sources |= _templates_of(_json_object(folder / "chat_template.json"), folder / "chat_template.json")
    files = {path.stem: path for path in sorted((folder / "additional_chat_templates").glob("*.jinja"))}
    if (folder / "chat_template.jinja").is_file():
        files["default"] = folder / "chat_template.jinja"
    known = sorted(sources.keys() | files.keys())
    if name not in known:
        raise _missing(folder, "folder", name, known, _FOLDER_HINT)
    return Loaded(
        source=read_text(files[name], limits) if name in files else sources[name],
        bos_token=_token(tokens.get("bos_token")),
        eos_token=_token(tokens.get("eos_token")),
        special_tokens=_special_tokens(tokens),
    )


def read_gguf(path: str | os.PathLike[str], name: str) -> Loaded:
    """The template `name` in the metadata of a GGUF file.

    Raises:
        TemplateError: `E-TEMPLATE-LOAD`, there is no such template.
        ModelError: `E-MODEL-GGUF`, the file is not a GGUF file or is damaged.
    """
    prefix = "tokenizer.chat_template"
    ids = {"bos_token": "bos_token_id", "eos_token": "eos_token_id", "unk_token": "unknown_token_id"}
    ids |= {"sep_token": "seperator_token_id", "pad_token": "padding_token_id"}
    wanted = {f"tokenizer.ggml.{key}" for key in ids.values()} | {"tokenizer.ggml.tokens"}
    found = gguf.read_metadata(path, lambda key: key in wanted or key.startswith(prefix))
    templates = {
        "default" if key == prefix else key.removeprefix(prefix + "."): value
        for key, value in found.items()
        if isinstance(value, str) and (key == prefix or key.startswith(prefix + "."))
    }
    if name not in templates:
        raise _missing(
            path, "file", name, sorted(templates), "give the template as a file of its own, or name a format"
        )
    vocabulary = found.get("tokenizer.ggml.tokens")
    texts: dict[str, str] = {}
    for token, key in ids.items():
        number = found.get(f"tokenizer.ggml.{key}")
        if isinstance(vocabulary, list) and isinstance(number, int) and 0 <= number < len(vocabulary):
            texts[token] = str(vocabulary[number])
    return Loaded(templates[name], texts.pop("bos_token", ""), texts.pop("eos_token", ""), texts)


def read_tokenizer(tokenizer: Any, name: str) -> Loaded:
    """The template `name` of a tokenizer object of Hugging Face transformers, without importing that library.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, the object is not a tokenizer of transformers.
        TemplateError: `E-TEMPLATE-LOAD`, there is no such template.
    """
    if not hasattr(tokenizer, "chat_template"):
        raise ArgumentTypeError(
            "E-ARGUMENT-TYPE",
            f"tokenizer must be a tokenizer of transformers, not a {type(tokenizer).__name__}",
            hint="tokenizers of the tokenizers library have no chat template; pass the template's text to ChatTemplate",
            pointer="/tokenizer",
        )
    source = f"{type(tokenizer).__name__}.chat_template"
    sources = _templates_of({"chat_template": tokenizer.chat_template}, source)
    if name not in sources:
        raise _missing(source, "tokenizer", name, sorted(sources), "give the template as text to ChatTemplate")
    tokens = getattr(tokenizer, "special_tokens_map", None)
    texts = {str(key): str(text) for key, text in tokens.items() if text} if isinstance(tokens, Mapping) else {}
    for key in ("bos_token", "eos_token"):
        texts[key] = str(getattr(tokenizer, key, None) or "")
    named = {key: text for key, text in texts.items() if key in _TOKENS}
    return Loaded(sources[name], texts["bos_token"], texts["eos_token"], named)


def _templates_of(config: Mapping[str, Any], path: str | Path) -> dict[str, str]:
    value = config.get("chat_template")
    if value is None:
        return {}
    if isinstance(value, str):
        return {"default": value}
    if isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values()):
        return dict(value)
    if isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value):
        found = {entry.get("name"): entry.get("template") for entry in value}
        if all(isinstance(name, str) and isinstance(text, str) for name, text in found.items()):
            return {str(name): str(text) for name, text in found.items()}
    raise _unreadable(path, "chat_template is neither text nor a list of named templates")


def _json_object(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > _MAX_CONFIG_BYTES:
            raise _unreadable(path, f"the file is larger than {_MAX_CONFIG_BYTES:,} bytes")
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, f"the file is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise _unreadable(path, "the file is not a JSON object")
    return value


def _special_tokens(config: Mapping[str, Any]) -> dict[str, str]:
    found = {name: _token(config[name]) for name in _TOKENS if config.get(name) is not None}
    for place in (config.get("extra_special_tokens"), config.get("model_specific_special_tokens")):
        if isinstance(place, Mapping):
            found |= {str(name): _token(value) for name, value in place.items()}
    return {name: text for name, text in found.items() if text and name.isidentifier()}


def _token(value: Any) -> str:
    if isinstance(value, Mapping):
        value = value.get("content")
    return value if isinstance(value, str) else ""


def _missing(path: str | os.PathLike[str], kind: str, name: str, known: list[str], otherwise: str) -> TemplateError:
    """No template has the name. `otherwise` is the hint where there is none at all."""
    if not known:
        return _unreadable(path, f"the {kind} has no chat template", hint=otherwise)
    return _unreadable(path, f"there is no chat template {name!r}", hint=f"its templates: {', '.join(known)}")


def _unreadable(path: str | os.PathLike[str], why: str, hint: str | None = None) -> TemplateError:
    return TemplateError("E-TEMPLATE-LOAD", f"cannot read the template: {why}", hint=hint, source=os.fspath(path))

"""The YAML header of a transcript: a small safe subset, read and written (§2).

Mappings, lists and plain scalars are allowed; anchors, aliases, merge keys, tags and a second document are not. Depth
and size are bounded. Scalars have the types of PyYAML's safe loader, except that dates and `version` stay text.
"""

from __future__ import annotations

from typing import Any

import yaml

from syntagma.entry import entry
from syntagma.errors import LimitError
from syntagma.limits import Limits
from syntagma.openchatml.errors import HEADER, OpenChatMLError, error_for
from syntagma.openchatml.transcript import DocumentHeader, is_version

__all__ = ["read_header", "shared_capabilities", "write_header"]

_PREFIX = "tag:yaml.org,2002:"
_CONSTRUCTORS = {
    _PREFIX + "bool": yaml.constructor.SafeConstructor.construct_yaml_bool,
    _PREFIX + "int": yaml.constructor.SafeConstructor.construct_yaml_int,
    _PREFIX + "float": yaml.constructor.SafeConstructor.construct_yaml_float,
    _PREFIX + "null": yaml.constructor.SafeConstructor.construct_yaml_null,
}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Scalar:
    """A scalar's text and value, until it is known which of the two is needed."""

    __slots__ = ("text", "value")

    def __init__(self, text: str, value: Any) -> None:
        self.text = text
        self.value = value


def read_header(text: str, *, limits: Limits | None = None) -> DocumentHeader:
    """Read the YAML text of a header, without its delimiters.

    Raises:
        HeaderError: `E-PARSE-HEADER`, the text is not a mapping, its version is missing or not supported, or it uses
            YAML outside the subset.
        LimitError: `E-LIMIT-OPENCHATML-HEADER`, the text is longer than `limits.openchatml_header_bytes`.
    """
    limits = limits or Limits()
    size = len(text.encode("utf-8", "replace"))
    if size > limits.openchatml_header_bytes:
        raise LimitError(
            "E-LIMIT-OPENCHATML-HEADER",
            f"the document header has {size} bytes; {limits.openchatml_header_bytes} are allowed",
            limit="openchatml_header_bytes",
            given=size,
            allowed=limits.openchatml_header_bytes,
        )
    try:
        data = _build(text, limits.openchatml_header_depth)
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        if isinstance(error, OpenChatMLError):
            raise
        said = " ".join(str(getattr(error, "problem", None) or error).split())
        raise error_for(HEADER, f"the document header is not YAML of the supported subset: {said}") from error
    if not isinstance(data, dict):
        raise error_for(
            HEADER, "the document header is not a mapping", hint="a transcript begins with its header or <|start|>"
        )
    return _header(data)


def _build(text: str, depth: int) -> Any:
    """The value of a YAML text, with top-level scalars as `_Scalar`. Iterative, so deep nesting cannot overflow."""
    stack: list[tuple[Any, list[Any]]] = []
    root: list[Any] = []
    resolver: Any = yaml.SafeLoader("")
    constructor = yaml.constructor.SafeConstructor()
    documents = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise error_for(HEADER, "the document header holds an anchor or alias")
        if getattr(event, "tag", None) is not None:
            raise error_for(HEADER, "the document header holds a tag")
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise error_for(HEADER, "the document header holds a second YAML document")
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if len(stack) >= depth:
                raise error_for(HEADER, f"the document header is nested deeper than {depth}")
            stack.append(({} if isinstance(event, yaml.MappingStartEvent) else [], []))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            value, _ = stack.pop()
            _add(stack, root, value)
        elif isinstance(event, yaml.ScalarEvent):
            tag = resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
            if tag == _PREFIX + "merge":
                raise error_for(HEADER, "the document header holds a merge key")
            make = _CONSTRUCTORS.get(tag)
            value = event.value if make is None else make(constructor, yaml.ScalarNode(tag, event.value))
            _add(stack, root, _Scalar(event.value, value))
    return root[0] if root else None


def _add(stack: list[tuple[Any, list[Any]]], root: list[Any], value: Any) -> None:
    if not stack:
        root.append(value)
        return
    container, key = stack[-1]
    if isinstance(container, list):
        container.append(value.value if isinstance(value, _Scalar) else value)
    elif not key:
        if not isinstance(value, _Scalar):
            raise error_for(HEADER, "a key of the document header is not a scalar")
        key.append(value.text)
    else:
        name = key.pop()
        if name in container:
            raise error_for(HEADER, f"the document header has the key {name!r} twice")
        keep = len(stack) == 1 and name in ("version", "model")
        container[name] = value.value if isinstance(value, _Scalar) and not keep else value


def _header(data: dict[str, Any]) -> DocumentHeader:
    given = data.pop("version", None)
    version = given.text if isinstance(given, _Scalar) else ""
    if isinstance(given, _Scalar) and isinstance(given.value, int):
        # A whole number: the minor one is 0.
        version += ".0"
    if not is_version(version):
        said = "no version" if given is None else "a version that is not major.minor"
        raise error_for(HEADER, f"the document header has {said}", hint="version: 2.2")
    if int(version.split(".")[0]) > 2:
        raise error_for(HEADER, f"version {version} is not supported", hint="versions up to 2.x are supported")
    model = data.pop("model", None)
    if model is not None and not isinstance(model, _Scalar):
        raise error_for(HEADER, "model is not a scalar")
    parts: dict[str, dict[str, Any]] = {}
    for name in ("generation_settings", "capabilities", "profiles"):
        value = data.pop(name, None)
        if value is not None and not isinstance(value, dict):
            raise error_for(HEADER, f"{name} is not a mapping")
        parts[name] = value or {}
    named = None if model is None or model.value is None else model.text
    return DocumentHeader(version=version, model=named, extra=data, **parts)


def write_header(header: DocumentHeader) -> str:
    """The header as text: its delimiters, the YAML between them, and a line break at the end.

    Raises:
        HeaderError: `E-PARSE-HEADER`, the header contains a value that would not read back equal.
    """
    if not is_version(header.version):
        raise error_for(HEADER, f"version {header.version!r} is not major.minor")
    data: dict[str, Any] = {} if header.model is None else {"model": header.model}
    for name in ("generation_settings", "capabilities", "profiles"):
        if getattr(header, name):
            data[name] = getattr(header, name)
    data |= header.extra
    text = f"version: {header.version}\n"
    try:
        if data:
            text += yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=2**20)
        same = read_header(text) == header
    except (yaml.YAMLError, OpenChatMLError, ValueError, RecursionError) as error:
        raise error_for(HEADER, "the document header cannot be written as YAML") from error
    if not same or any(line.rstrip(" \t\r") in ("---", "...") for line in text.split("\n")):
        raise error_for(HEADER, "the document header would not read back equal")
    return f"---\n{text}---\n"


@entry
def shared_capabilities(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, list[str]]:
    """The capabilities that both sides have: for each list in both mappings, the common entries, ours first.

    An entry that ends in `*` covers every entry with that prefix. A list that only one side has is left out.
    """
    shared: dict[str, list[str]] = {}
    for name, values in ours.items():
        others = theirs.get(name)
        if isinstance(values, list) and isinstance(others, list):
            mine = [value for value in values if isinstance(value, str)]
            their = [value for value in others if isinstance(value, str)]
            both = [value for value in mine if any(_covers(other, value) for other in their)]
            both += [value for value in their if value not in both and any(_covers(own, value) for own in mine)]
            shared[name] = both
    return shared


def _covers(pattern: str, value: str) -> bool:
    return value.startswith(pattern[:-1]) if pattern.endswith("*") else pattern == value

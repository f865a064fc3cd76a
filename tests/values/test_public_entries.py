"""Public entries take wrong values with an exception: where their arguments are checked, with one of the library.

The entries are found: what `syntagma.__all__` names, with the modules in it, the constructors and the methods. For each
argument in turn a wrong value is given, with right ones for the others.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import math
import random
import types
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syntagma as sg
from syntagma.analysis import Capabilities

TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<c>{{ c.function | tojson }}</c>{% endfor %}<|end|>{% endfor %}<|assistant|>"
)
FORMAT = (
    'end_of_turn = ["<|end|>"]\n[reasoning]\nblock = "<t>{reasoning}</t>"\n'
    '[tools]\ncall = "<c>{envelope}</c>"\nenvelope = \'{"name": "{name}", "arguments": {arguments}}\'\n'
)
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
MESSAGES = [{"role": "user", "content": "Hello"}]
TRANSCRIPT = "<|im_start|>user\nHello<|im_end|>\n"
INFO = sg.testing.byte_vocabulary()
COMPILER = sg.GrammarCompiler(INFO)

WRONG: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "a number": lambda: 3,
    "a negative number": lambda: -7,
    "a huge number": lambda: 10**30,
    "true": lambda: True,
    "a fraction": lambda: 1.5,
    "not a number": lambda: math.nan,
    "bytes": lambda: b"\xff",
    "an object": object,
    "a type": lambda: int,
    "a lone surrogate": lambda: "a\ud800",
    "a word": lambda: "odd",
    "nothing": lambda: "",
    "a list of objects": lambda: [object()],
    "a list of numbers": lambda: [3],
    "a list of huge numbers": lambda: [10**30],
    "a list of nothing": lambda: [None],
    "a list of lone surrogates": lambda: ["\ud800"],
    "a list of dictionaries": lambda: [{}],
    "a dictionary of objects": lambda: {"a": object(), "type": object(), "role": object(), "function": object()},
    "a dictionary of lone surrogates": lambda: {"\ud800": "\ud800", "type": "\ud800", "role": "\ud800"},
    "a dictionary of numbers": lambda: {1: 2},
    "a dictionary": dict,
    "a set": lambda: {1, 2},
}


def _codec() -> sg.ChatCodec:
    return sg.ChatCodec(sg.ChatFormat.from_toml(FORMAT), sg.ChatTemplate(TEMPLATE), Capabilities(tool_calls=True))


def _model() -> sg.Model:
    return sg.Model(sg.testing.ScriptedBackend("Yes."), _codec())


def _grammar() -> sg.Grammar:
    return sg.Grammar.from_regex("a*")


def _compiled() -> sg.CompiledGrammar:
    return COMPILER.compile(_grammar())


def _message() -> sg.openchatml.Message:
    return sg.openchatml.Message(role="user", body="Hello")


def _place() -> sg.openchatml.SourceLocation:
    return sg.openchatml.SourceLocation(0, 1)


RIGHT: dict[str, Callable[[], Any]] = {
    "backend": lambda: sg.testing.ScriptedBackend("Yes."),
    "bitmask": lambda: sg.allocate_token_bitmask(1, INFO.vocab_size),
    "chunk": lambda: "Hello",
    "analysis": lambda: ANALYSIS,
    "codec": _codec,
    "compiled": _compiled,
    "data": lambda: "Hello",
    "capabilities": Capabilities,
    "encoding": object,
    "tokenizer": object,
    "fmt": lambda: sg.ChatFormat.from_toml(FORMAT),
    "format": lambda: sg.ChatFormat.from_toml(FORMAT),
    "grammar": _grammar,
    "grammars": _grammar,
    "info": lambda: INFO,
    "limits": sg.Limits,
    "logits": lambda: np.zeros((1, INFO.vocab_size), np.float32),
    "matchers": lambda: [sg.GrammarMatcher(_compiled())],
    "message": _message,
    "messages": lambda: MESSAGES,
    "options": sg.GenerationOptions,
    "policies": sg.Policies,
    "problem": lambda: sg.openchatml.Problem("E-X", "odd"),
    "prompt": lambda: "user: ",
    "bundle": lambda: sg.recording.record(RIGHT["fmt"]()).bundle(),
    "request": lambda: _turn().request,
    "sampling": sg.Sampling,
    "schema": dict,
    "spec": lambda: sg.ChatFormat.from_toml(FORMAT).spec,
    "source": lambda: TEMPLATE,
    "span": lambda: (0, 1),
    "template": lambda: sg.ChatTemplate(TEMPLATE),
    "text": lambda: "Hello",
    "tools": lambda: [TOOL],
    "transcript": lambda: sg.openchatml.parse(TRANSCRIPT),
    "turn": lambda: _codec().prepare(MESSAGES),
    "place": _place,
    "ids": lambda: [97],
    "token_ids": lambda: [97],
    "token_id": lambda: 97,
    "decode": lambda: lambda _: b"a",
    "control": dict,
    "segments": list,
    "encode_text": lambda: lambda _: [],
    "special": dict,
    "conversation": lambda: {"messages": []},
    "run": lambda: lambda _: None,
    "dialect": lambda: "gbnf",
    "stage": lambda: sg.batch.Parse(sg.ChatFormat.from_toml(FORMAT)),
    "row": lambda: {"generated_text": "Hello"},
}
"""right values of arguments, by the argument's name; any other gets a word"""


def _turn() -> sg.Turn:
    return _codec().prepare(MESSAGES, tools=[TOOL])


ocm = sg.openchatml
SUBJECTS: dict[type, Callable[[], Any]] = {
    sg.Analysis: lambda: ANALYSIS,
    sg.ChatCodec: _codec,
    sg.ChatFormat: RIGHT["fmt"],
    sg.ChatTemplate: RIGHT["template"],
    sg.CompiledGrammar: _compiled,
    sg.Generator: lambda: sg.Generator(RIGHT["backend"]()),
    sg.Grammar: _grammar,
    sg.GrammarCompiler: lambda: sg.GrammarCompiler(INFO),
    sg.GrammarMatcher: lambda: sg.GrammarMatcher(_compiled()),
    sg.Message: lambda: sg.Message(content="Yes."),
    sg.Model: _model,
    sg.Prompt: lambda: sg.Prompt("Hello", 0),
    sg.Resolution: lambda: sg.Resolution.of(ANALYSIS),
    sg.StreamParser: lambda: RIGHT["fmt"]().parser(),
    sg.TokenizerInfo: lambda: INFO,
    sg.Tool: lambda: sg.Tool(name="f"),
    sg.ToolCall: lambda: sg.ToolCall(id="1", name="f", arguments="{}"),
    sg.Turn: _turn,
    ocm.Message: _message,
    ocm.Problem: RIGHT["problem"],
    ocm.ReadWarning: lambda: ocm.ReadWarning("E-X", "odd", _place()),
    ocm.Reply: lambda: ocm.Reply(call_id="1", name="f", ok=True),
    ocm.ToolRouter: lambda: ocm.ToolRouter({}),
    ocm.harmony.TokenReader: lambda: ocm.harmony.TokenReader(lambda _: b"a", {}),
    sg.recording.Bundle: lambda: sg.recording.record(RIGHT["fmt"]()).bundle(),
    sg.recording.Recorder: lambda: sg.recording.record(RIGHT["fmt"]()),
    sg.testing.ScriptedBackend: RIGHT["backend"],
    sg.testing.TemplateTester: lambda: sg.testing.TemplateTester(TEMPLATE, RIGHT["fmt"]()).output("Hello"),
    sg.batch.Constrain: lambda: sg.batch.Constrain(RIGHT["fmt"](), "gbnf"),
    sg.batch.Parse: lambda: sg.batch.Parse(RIGHT["fmt"]()),
    sg.batch.Transcript: lambda: sg.batch.Transcript(_codec(), INFO),
    sg.batch.Render: lambda: sg.batch.Render(RIGHT["template"]()),
}
"""values whose methods are called; any other class is called without arguments"""

ANALYSIS = sg.analyze(sg.ChatTemplate(TEMPLATE), certify=False)


def _modules(module: types.ModuleType) -> Iterator[types.ModuleType]:
    yield module
    for name in module.__all__:
        inner = getattr(module, name)
        if isinstance(inner, types.ModuleType):
            yield from _modules(inner)


def _entries() -> dict[str, Callable[[], Callable[..., Any]]]:
    """Every public callable by its name, and how it is got: functions, constructors, and methods of a fresh value."""
    found: dict[str, Callable[[], Callable[..., Any]]] = {}
    for module in _modules(sg):
        for name in module.__all__:
            value, path = getattr(module, name), f"{module.__name__}.{name}".removeprefix("syntagma.")
            if inspect.isroutine(value):
                found[path] = lambda value=value: value
            elif inspect.isclass(value) and value.__module__.startswith("syntagma"):
                if issubclass(value, BaseException) or getattr(value, "_is_protocol", False):
                    continue
                found[path] = lambda value=value: value
                found |= {f"{path}.{method}": got for method, got in _methods(value)}
    return found


def _methods(kind: type) -> Iterator[tuple[str, Callable[[], Callable[..., Any]]]]:
    for base in (kind, *(base for base in kind.__mro__[1:] if base.__module__.startswith("syntagma"))):
        for name, raw in vars(base).items():
            if name.startswith("_"):
                continue
            if isinstance(raw, classmethod | staticmethod):
                yield name, lambda name=name: getattr(kind, name)
            elif inspect.isroutine(raw) and not isinstance(raw, functools.cached_property):
                yield name, lambda name=name: getattr(SUBJECTS.get(kind, kind)(), name)


def _parameters(call: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """The parameters; keys of a `TypedDict` in place of `**options` that it types."""
    inner = inspect.unwrap(call.__init__ if inspect.isclass(call) else getattr(call, "__func__", call))
    for parameter in inspect.signature(call).parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            yield parameter
        elif str(parameter.annotation).startswith("Unpack["):
            names = {**vars(sg.testing), **inner.__globals__}
            for key in names[parameter.annotation[len("Unpack[") : -1]].__annotations__:
                yield inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None)


def _call(call: Callable[..., Any], wrong: str, value: Any, *, transcripts: bool) -> None:
    args: list[Any] = []
    options: dict[str, Any] = {}
    for parameter in _parameters(call):
        if parameter.name == wrong:
            given = value
        elif parameter.default is not parameter.empty or parameter.kind is parameter.VAR_POSITIONAL:
            continue
        elif transcripts and parameter.name == "messages":
            given = [_message()]
        else:
            given = RIGHT.get(parameter.name, lambda: "odd")()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            args.append(given)
        else:
            options[parameter.name] = given
    result = call(*args, **options)
    if inspect.isgenerator(result):
        next(result, None)
    elif inspect.iscoroutine(result):
        asyncio.run(result)
    elif inspect.isasyncgen(result):
        asyncio.run(_first(result))


def _is_checked(call: Callable[..., Any]) -> bool:
    """Whether a decorator checks its arguments, or its constructor checks its fields."""
    made = call.__init__ if inspect.isclass(call) else getattr(call, "__func__", call)
    return hasattr(made, "__wrapped__") or hasattr(call, "__post_init__")


async def _first(events: AsyncIterator[Any]) -> None:
    async for _ in events:
        break


CHECKED_FIRST = {
    "ChatCodec": ("fmt", "template", "capabilities"),
    "Generator": ("compiler",),
    "TokenizerInfo.with_encoder": ("encode_text",),
    "batch.Constrain": ("fmt",),
    "batch.Parse": ("fmt", "info"),
    "batch.Render": ("codec", "info"),
    "batch.Transcript": ("codec", "info"),
    "testing.ScriptedBackend": ("script", "context_length", "on_step"),
    "testing.TemplateTester": ("template", "fmt"),
    "testing.TemplateTester.messages": ("messages",),
    "testing.TemplateTester.request": ("tool_choice", "reasoning", "template_kwargs", "budgets"),
    "testing.TemplateTester.tools": ("tools",),
}
"""arguments that are used only later, by the entry"""

ENTRIES = _entries()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # older names take wrong values in the same way
@pytest.mark.parametrize("count", [5, pytest.param(len(WRONG), marks=pytest.mark.long)], ids=["some", "all"])
@pytest.mark.parametrize("name", ENTRIES)
def test_wrong_values_are_refused_and_with_errors_of_the_library_where_they_are_checked(
    name: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Some of the values are names of folders that can be written to.
    monkeypatch.chdir(tmp_path)
    found = []
    for parameter in _parameters(ENTRIES[name]()):
        for what in random.Random(f"{name} {parameter.name}").sample(list(WRONG), count):
            call = ENTRIES[name]()
            try:
                _call(call, parameter.name, WRONG[what](), transcripts=name.startswith("openchatml."))
            except sg.SyntagmaError:
                continue
            except Exception as error:  # a panic of the extension is no `Exception`
                if _is_checked(call) and name not in CHECKED_FIRST:
                    found.append(f"{parameter.name}: {what}: {type(error).__name__}: {error}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", CHECKED_FIRST)
def test_a_wrong_type_is_refused_before_anything_is_done_with_it(name: str) -> None:
    for parameter in _parameters(ENTRIES[name]()):
        if parameter.name in CHECKED_FIRST[name]:
            with pytest.raises(sg.ArgumentTypeError) as caught:
                _call(ENTRIES[name](), parameter.name, object(), transcripts=False)
            assert caught.value.pointer == f"/{parameter.name}"


@pytest.mark.parametrize("name", ENTRIES)
def test_help_names_every_option(name: str) -> None:
    call = ENTRIES[name]()
    named = inspect.signature(call).parameters
    options = [parameter.name for parameter in _parameters(call) if parameter.name not in named]
    text = inspect.getdoc(call) or ""
    assert not [option for option in options if f"`{option}`" not in text]

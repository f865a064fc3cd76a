"""LangChain: a chat model that uses a loaded model, in this process or on a running engine.

chat = chat_model(sg.load("embedded"), temperature=0)
chat.bind_tools([search]).invoke("Where is Rome?")
chat.with_structured_output(Reminder).invoke("Emma at nine")
"""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from syntagma.entry import check_argument
from syntagma.generation import Model
from syntagma.integrations.answers import Answer

__all__ = ["chat_model"]


def chat_model(model: Model, **options: Any) -> Any:
    """A `BaseChatModel` of LangChain, with `bind_tools`, `with_structured_output`, streaming and asyncio.

    Args:
        model: the model.
        **options: default options of every call, such as `temperature`, `max_tokens` and `template_kwargs`; see
            `syntagma.integrations.answers.Answer`.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, `model` is not a `Model`.
    """
    check_argument("model", model, Model)
    return _chat_class()(model=model, options=options)


@functools.cache
def _chat_class() -> Any:
    """The class, which is defined when LangChain is first needed."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, AIMessageChunk
    from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
    from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
    from langchain_core.runnables import RunnableGenerator, RunnableLambda, RunnablePassthrough
    from langchain_core.utils.function_calling import convert_to_json_schema, convert_to_openai_tool

    class ChatSyntagma(BaseChatModel):  # type: ignore[misc,unused-ignore]
        """A chat model that answers with a model of Syntagma."""

        model: Any
        options: dict[str, Any]

        @property
        def _llm_type(self) -> str:
            return "syntagma"

        @property
        def _identifying_params(self) -> dict[str, Any]:
            return {"model": repr(self.model), **self.options}

        def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **options: Any) -> Any:
            """The model with tools. `tool_choice` is `auto`, `none`, `any`, `required`, or the name of a tool."""
            declared = [convert_to_openai_tool(tool) for tool in tools]
            choice = "required" if tool_choice in ("any", True) else tool_choice or None
            return self.bind(tools=declared, tool_choice=choice, **options)

        def with_structured_output(self, schema: Any, *, include_raw: bool = False, **options: Any) -> Any:
            """The model constrained to a schema. Its answer is returned as a dictionary, or as the pydantic class."""
            shape = convert_to_json_schema(schema)
            named = {"name": shape.get("title") or "answer", "schema": shape}
            bound = self.bind(response_format={"type": "json_schema", "json_schema": named}, **options)
            is_class = isinstance(schema, type) and hasattr(schema, "model_validate")
            parser = PydanticOutputParser(pydantic_object=schema) if is_class else JsonOutputParser()
            reader = RunnableGenerator(_whole, _awhole) | parser
            if not include_raw:
                return bound | reader
            read = RunnableLambda(lambda found: {"parsed": reader.invoke(found["raw"]), "parsing_error": None})
            failed = RunnableLambda(lambda found: {"parsed": None, "parsing_error": found["parsing_error"]})
            whole = read.with_fallbacks([failed], exception_key="parsing_error")
            return (
                {"raw": bound} | RunnablePassthrough() | RunnableLambda(lambda found: {**found, **whole.invoke(found)})
            )

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> Any:  # noqa: ARG002
            answer = self._answer(messages, stop, options)
            for _delta in answer:
                pass
            message = AIMessage(**_message_fields(answer.message()), usage_metadata=_usage_fields(answer.usage))
            message.response_metadata = {"finish_reason": answer.finish_reason}
            return ChatResult(generations=[ChatGeneration(message=message)])

        def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> Iterator[Any]:
            answer = self._answer(messages, stop, options)
            for delta in answer:
                chunk = ChatGenerationChunk(message=AIMessageChunk(**_chunk_fields(delta)))
                if run_manager is not None:
                    run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk
            last = AIMessageChunk(content="", usage_metadata=_usage_fields(answer.usage), chunk_position="last")
            last.response_metadata = {"finish_reason": answer.finish_reason}
            yield ChatGenerationChunk(message=last)

        def _answer(self, messages: Any, stop: Any, options: Mapping[str, Any]) -> Answer:
            given = {**self.options, **options, **({"stop": stop} if stop else {})}
            # LangChain adds these options for tracing.
            given = {name: value for name, value in given.items() if not name.startswith("ls_")}
            return Answer(self.model, _to_openai(messages), given)

    return ChatSyntagma


def _whole(messages: Iterator[Any]) -> Iterator[Any]:
    """Pass messages on, and raise if one was cut: LangChain's parsers would complete cut JSON."""
    for message in messages:
        yield _checked(message)


async def _awhole(messages: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for message in messages:
        yield _checked(message)


def _checked(message: Any) -> Any:
    from langchain_core.exceptions import OutputParserException

    if message.response_metadata.get("finish_reason") == "length":
        raise OutputParserException("the answer was cut off at its length limit: raise max_tokens")
    return message


def _to_openai(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """LangChain messages as OpenAI dictionaries, including reasoning."""
    from langchain_core.messages import convert_to_openai_messages

    found: list[dict[str, Any]] = []
    for message in messages:
        written: dict[str, Any] = convert_to_openai_messages(message)  # type: ignore[assignment,unused-ignore]
        reasoning = message.additional_kwargs.get("reasoning_content")
        found.append({**written, "reasoning_content": reasoning} if reasoning else written)
    return found


def _message_fields(message: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an `AIMessage`. Calls that were cut off become `invalid_tool_calls`."""
    calls: dict[str, list[dict[str, Any]]] = {"tool_calls": [], "invalid_tool_calls": []}
    for call in message.get("tool_calls") or ():
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        if call.get("complete", True):
            calls["tool_calls"].append({"name": name, "args": json.loads(arguments), "id": call["id"]})
        else:
            cut = {"name": name, "args": arguments, "id": call["id"], "error": "the call was cut off"}
            calls["invalid_tool_calls"].append(cut)
    return {"content": message.get("content") or "", "additional_kwargs": _reasoning(message), **calls}


def _chunk_fields(delta: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an `AIMessageChunk`."""
    calls = [
        {"name": call["function"].get("name"), "args": call["function"]["arguments"], "id": call.get("id")}
        | {"index": call["index"]}
        for call in delta.get("tool_calls", ())
    ]
    return {"content": delta.get("content", ""), "additional_kwargs": _reasoning(delta), "tool_call_chunks": calls}


def _reasoning(part: Mapping[str, Any]) -> dict[str, str]:
    text = part.get("reasoning_content")
    return {"reasoning_content": text} if text else {}


def _usage_fields(usage: Mapping[str, int]) -> dict[str, int]:
    """The `usage_metadata` of a message."""
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "total_tokens": "total_tokens"}
    return {name: usage[ours] for name, ours in names.items()}

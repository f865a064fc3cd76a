"""Renders an assistant's turn: the text from the user's message to the next one, or to the end."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.analysis.render.bounded_renderer import BoundedRenderer
from syntagma.analysis.render.conversation import (
    Inputs,
    SampleCall,
    SampleTurn,
    Sentinels,
    assistant_message,
    declared_tools,
    reasoning_part,
)
from syntagma.templates import ChatTemplate

__all__ = ["Context", "RenderedTurn", "TurnRenderer"]

Context: TypeAlias = Literal["last", "middle"]
"""whether a turn is the last message, or is followed by a user's message"""

_MAX_TURN = 8_192
"""the most code points of a turn; a longer text is not the turn of a probe"""


class RenderedTurn(msgspec.Struct, frozen=True):
    """A rendered assistant's turn: `text` is all text after the user's sentinel."""

    turn: SampleTurn
    context: Context
    text: str

    def shows(self, *texts: str) -> bool:
        """Whether all these texts stand in it."""
        return all(text in self.text for text in texts)


class TurnRenderer:
    """Renders conversations around one assistant's turn, always with the same two user messages.

    Args:
        template: the template.
        seed: the seed of made-up words.

    Attributes:
        bounded: renders the template, without a beginning-of-sequence token.
        sentinels: gives the words of the messages.
        eos: the sentinel that stands for the end-of-sequence token.
    """

    def __init__(self, template: ChatTemplate, seed: int = 0) -> None:
        self.sentinels = sentinels = Sentinels(seed)
        self.eos = sentinels.word("z")
        self.bounded = BoundedRenderer(template.variant(bos_token="", eos_token=self.eos), template.limits)
        self._users = (sentinels.word("w"), sentinels.word("w"))
        self._spare = (SampleCall(sentinels.word("n"), {sentinels.word("k"): sentinels.word("v")}),)
        self._lists_tools_late: dict[tuple[str, bool], bool] = {}

    def new_call(self, arguments: int = 2, id_form: str = "{word}", index: int = 0) -> SampleCall:
        """A call made of new sentinels; `id_form` may have `{word}`, `{name}`, `{index}`."""
        words = self.sentinels
        name = words.word("n")
        # A template may sort keys: sorted ones stand in the same order in any case.
        keys = sorted(words.word("k") for _ in range(arguments))
        made: dict[str, Any] = {key: words.word("v") for key in keys}
        identity = id_form.replace("{word}", words.word("d")).replace("{name}", name).replace("{index}", str(index))
        return SampleCall(name, made, identity)

    def turn(
        self,
        turn: SampleTurn,
        inputs: Inputs,
        context: Context = "last",
        *,
        tools: list[dict[str, Any]] | None = None,
    ) -> RenderedTurn | None:
        """Render a turn as the last message or between two users; None if that fails.

        Without `tools`, the tools that the turn calls are declared.
        """
        messages = [self._user(0), assistant_message(turn, inputs)]
        if context == "middle":
            messages.append(self._user(1))
        declared = self._tools(inputs, turn) if tools is None else tools
        text = self.bounded.render(messages, inputs, tools=declared)
        if text is None:
            return None
        found = self._cut(turn, context, text)
        if declared and context == "last" and found is not None and self._tools_come_last(inputs):
            bare = self.bounded.render(messages, inputs)
            without = None if bare is None else self._cut(turn, context, bare)
            return without if without is not None and _is_one_insertion(without.text, found.text) else found
        return found

    def turn_after(self, before: SampleTurn, turn: SampleTurn, inputs: Inputs) -> RenderedTurn | None:
        """A turn as the last message, with another one in the history; None if that fails."""
        messages = [self._user(1), assistant_message(before, inputs), self._user(0), assistant_message(turn, inputs)]
        tools = declared_tools((*before.calls, *turn.calls)) or self._tools(inputs, None)
        text = self.bounded.render(messages, inputs, tools=tools)
        return None if text is None else self._cut(turn, "last", text)

    def earlier(self, turn: SampleTurn, inputs: Inputs) -> str | None:
        """A conversation in which the turn is not the assistant's last one; None if that fails."""
        later = SampleTurn(content=self.sentinels.word("c"))
        messages = [self._user(1), assistant_message(turn, inputs), self._user(0), assistant_message(later, inputs)]
        return self.bounded.render(messages, inputs, tools=self._tools(inputs, turn))

    def _cut(self, turn: SampleTurn, context: Context, text: str) -> RenderedTurn | None:
        """The turn, cut out of a whole render; None if the users' sentinels are not found."""
        end = text.rfind(self._users[1]) if context == "middle" else len(text)
        begin = text.rfind(self._users[0], 0, end) if end >= 0 else -1
        begin += len(self._users[0])
        if begin < len(self._users[0]) or end - begin > _MAX_TURN:
            return None
        return RenderedTurn(turn, context, text[begin:end])

    def in_any_context(self, turn: SampleTurn, inputs: Inputs) -> RenderedTurn | None:
        """The turn as the last message, or between two users if its calls are not shown there; None if both fail."""
        last = self.turn(turn, inputs)
        names = [call.name for call in turn.calls]
        if last is not None and last.shows(*names):
            return last
        middle = self.turn(turn, inputs, "middle")
        return middle if middle is not None and (last is None or middle.shows(*names)) else last

    def prompt(
        self, inputs: Inputs, settings: dict[str, Any] | None = None, *, tools: bool = False, generation: bool = True
    ) -> str | None:
        """The text after the user's sentinel in a prompt; None if rendering fails.

        Args:
            inputs: what the template wants.
            settings: template variables in place of `inputs.settings`.
            tools: whether a tool is declared.
            generation: whether the generation prompt is added.
        """
        declared = declared_tools(self._spare) if tools else self._tools(inputs, None)
        text = self.bounded.render([self._user(0)], inputs, tools=declared, prompt=generation, settings=settings)
        if text is None:
            return None
        begin = text.rfind(self._users[0]) + len(self._users[0])
        return None if begin < len(self._users[0]) or len(text) - begin > _MAX_TURN else text[begin:]

    def instructions(self, inputs: Inputs, settings: dict[str, Any]) -> str | None:
        """The text before the user's sentinel in a prompt; None if rendering fails."""
        text = self.bounded.render(
            [self._user(0)], inputs, tools=self._tools(inputs, None), prompt=True, settings=settings
        )
        return None if text is None else text[: max(text.rfind(self._users[0]), 0)]

    def user_openers(self, inputs: Inputs) -> tuple[str, str] | None:
        """The texts before the first user's sentinel, and between content and the second; None if rendering fails."""
        content = self.sentinels.word("c")
        messages = [self._user(0), assistant_message(SampleTurn(content=content), inputs), self._user(1)]
        text = self.bounded.render(messages, inputs, tools=self._tools(inputs, None))
        if text is None or self._users[1] not in text or content not in text:
            return None
        second = text.rfind(self._users[1])
        return text[: text.find(self._users[0])], text[text.rfind(content, 0, second) + len(content) : second]

    def result_opener(self, call: SampleCall, inputs: Inputs) -> str:
        """The text between a turn of one call and the text of its result; empty if no result is rendered."""
        turn, result = SampleTurn(calls=(call,)), self.sentinels.word("c")
        answer = {"role": "tool", "name": call.name, "tool_call_id": call.id, "content": result}
        messages = [self._user(0), assistant_message(turn, inputs)]
        texts = (
            self.bounded.render(one, inputs, tools=self._tools(inputs, turn)) for one in (messages, [*messages, answer])
        )
        before, text = (text or "" for text in texts)
        return text[len(before) :].partition(result)[0] if text.startswith(before) else ""

    def shows_tools(self, inputs: Inputs, variable: str | None = None) -> bool:
        """Whether the name of a declared tool appears in the prompt; `variable`: that has the tools, not `tools`."""
        tools = declared_tools(self._spare)
        if variable is None:
            text = self.bounded.render([self._user(0)], inputs, tools=tools, prompt=True)
        else:
            text = self.bounded.render([self._user(0)], inputs, prompt=True, settings={variable: tools})
        return text is not None and self._spare[0].name in text

    def tools_prompt(
        self, inputs: Inputs, calls: tuple[SampleCall, ...], result: str, variable: str | None = None
    ) -> tuple[str, list[dict[str, Any]]] | None:
        """A prompt that declares a tool for each call, after a result of the first one, and the tools.

        A message with a call, or a result, that does not render is left out; None if nothing renders.

        Args:
            inputs: what the template wants.
            calls: the calls whose tools are declared.
            result: the text of the result; empty: there is no call yet.
            variable: the variable that has the tools, too.
        """
        tools = declared_tools(calls)
        call = assistant_message(SampleTurn(content=self.sentinels.word("c"), calls=calls[:1]), inputs)
        plain = assistant_message(SampleTurn(content=self.sentinels.word("c")), inputs)
        answer = {"role": "tool", "name": calls[0].name, "tool_call_id": calls[0].id, "content": result}
        for turns in ([call, answer], [plain, answer], []) if result else ([],):
            settings = None if variable is None else {variable: tools}
            text = self.bounded.render([self._user(0), *turns], inputs, tools=tools, prompt=True, settings=settings)
            if text is not None:
                return text, tools
        return None

    def shows_roles(self, inputs: Inputs, *roles: str) -> bool:
        """Whether a conversation of messages with these roles renders and shows each of them.

        The role `call` means an assistant's message that calls a tool.
        """
        messages: list[dict[str, Any]] = []
        shown = []
        call = self.new_call()
        for role in roles:
            content = self.sentinels.word("c")
            shown.append(content)
            if role == "call":
                messages.append(assistant_message(SampleTurn(calls=(call,)), inputs))
                shown[-1] = call.name
            elif role == "tool":
                messages.append({"role": "tool", "name": call.name, "tool_call_id": call.id, "content": content})
            else:
                messages.append({"role": role, "content": content})
        tools = declared_tools((call,)) if "call" in roles else None
        text = self.bounded.render(messages, inputs, tools=tools)
        return text is not None and all(word in text for word in shown)

    def shows_unknown_key(self, turn: SampleTurn, inputs: Inputs, part_type: str) -> bool:
        """Whether an unknown key of a content block is rendered: then blocks are printed, not understood."""
        extra = self.sentinels.word("x")
        message = assistant_message(turn, inputs)
        message["content"][0] = reasoning_part(part_type, turn.reasoning or "", {"note": extra})
        text = self.bounded.render([self._user(0), message], inputs, tools=self._tools(inputs, turn))
        return text is None or extra in text

    def _tools_come_last(self, inputs: Inputs) -> bool:
        """Whether declared tools are listed after the conversation, so after the last turn."""
        key = (inputs.tools, inputs.system)
        if key not in self._lists_tools_late:
            text = self.prompt(inputs, tools=True, generation=False)
            self._lists_tools_late[key] = text is not None and self._spare[0].name in text
        return self._lists_tools_late[key]

    def _user(self, which: int) -> dict[str, Any]:
        return {"role": "user", "content": self._users[which]}

    def _tools(self, inputs: Inputs, turn: SampleTurn | None) -> list[dict[str, Any]] | None:
        if turn is not None and turn.calls:
            return declared_tools(turn.calls)
        return declared_tools(self._spare) if inputs.tools == "declared" else None


def _is_one_insertion(short: str, long: str) -> bool:
    """Whether the long text is the short one with one insertion."""
    shared = 0
    while shared < len(short) and short[shared] == long[shared : shared + 1]:
        shared += 1
    return len(short) < len(long) and long.endswith(short[shared:])

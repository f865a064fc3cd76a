"""What a render shows of the assistant's turn: the text behind the user's sentinel, to the next user's or the end."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.analysis.conversations import Call, Inputs, Turn, assistant_message, declare, thought_block
from syntagma.analysis.renders import Renders
from syntagma.analysis.sentinels import Sentinels

__all__ = ["Context", "Scene", "View"]

Context: TypeAlias = Literal["last", "middle"]


_LONGEST = 8_192
"""code points of a turn; what is longer is no turn of a probe, and would only cost time"""


class View(msgspec.Struct, frozen=True):
    """An assistant's turn as it was rendered: everything behind the user's sentinel."""

    turn: Turn
    context: Context
    text: str

    def shows(self, *texts: str) -> bool:
        """Whether every one of the texts stands in it."""
        return all(text in self.text for text in texts)


class Scene:
    """Conversations around one assistant's turn, with the same two users' sentinels in all of them."""

    def __init__(self, renders: Renders, sentinels: Sentinels) -> None:
        self.renders = renders
        self.sentinels = sentinels
        self._users = (sentinels.word("w"), sentinels.word("w"))
        self._spare = (Call(sentinels.word("n"), {sentinels.word("k"): sentinels.word("v")}),)

    def call(self, arguments: int = 2, id_form: str = "{word}", index: int = 0, *, numbers: bool = False) -> Call:
        """A call made of new sentinels; `id_form` may hold `{word}`, `{name}`, `{index}`."""
        words = self.sentinels
        name = words.word("n")
        made: dict[str, Any] = {}
        for _ in range(arguments):
            made[words.word("k")] = words.number() if numbers else words.word("v")
        identity = id_form.replace("{word}", words.word("d")).replace("{name}", name).replace("{index}", str(index))
        return Call(name, made, identity)

    def _user(self, which: int) -> dict[str, Any]:
        return {"role": "user", "content": self._users[which]}

    def _tools(self, inputs: Inputs, turn: Turn | None) -> list[dict[str, Any]] | None:
        if turn is not None and turn.calls:
            return declare(turn.calls)
        return declare(self._spare) if inputs.tools == "declared" else None

    def view(
        self,
        turn: Turn,
        inputs: Inputs,
        context: Context = "last",
        *,
        tools: list[dict[str, Any]] | None = None,
    ) -> View | None:
        """Render `turn` as the last message or between two users; None if that fails.

        Without `tools`, what the turn calls is declared.
        """
        messages = [self._user(0), assistant_message(turn, inputs)]
        if context == "middle":
            messages.append(self._user(1))
        declared = self._tools(inputs, turn) if tools is None else tools
        text = self.renders.text(messages, inputs, tools=declared)
        if text is None:
            return None
        end = text.rfind(self._users[1]) if context == "middle" else len(text)
        begin = text.rfind(self._users[0], 0, end) if end >= 0 else -1
        begin += len(self._users[0])
        return None if begin < len(self._users[0]) or end - begin > _LONGEST else View(turn, context, text[begin:end])

    def block_leaks(self, turn: Turn, inputs: Inputs, kind: str) -> bool:
        """Whether a content block's unknown key is rendered: then blocks are dumped whole, not understood."""
        extra = self.sentinels.word("x")
        message = assistant_message(turn, inputs)
        message["content"][0] = thought_block(kind, turn.reasoning or "", {"note": extra})
        text = self.renders.text([self._user(0), message], inputs, tools=self._tools(inputs, turn))
        return text is None or extra in text

    def prompt(
        self, inputs: Inputs, settings: dict[str, Any] | None = None, *, tools: bool = False, generation: bool = True
    ) -> str | None:
        """What stands behind the user's sentinel in a prompt; None if that fails. `tools`: one is declared."""
        declared = declare(self._spare) if tools else self._tools(inputs, None)
        text = self.renders.text([self._user(0)], inputs, tools=declared, prompt=generation, settings=settings)
        if text is None:
            return None
        begin = text.rfind(self._users[0]) + len(self._users[0])
        return None if begin < len(self._users[0]) or len(text) - begin > _LONGEST else text[begin:]

    def instructions(self, inputs: Inputs, settings: dict[str, Any]) -> str | None:
        """What stands before the user's sentinel in a prompt; None if that fails."""
        text = self.renders.text(
            [self._user(0)], inputs, tools=self._tools(inputs, None), prompt=True, settings=settings
        )
        return None if text is None else text[: max(text.rfind(self._users[0]), 0)]

    def user_openers(self, inputs: Inputs) -> tuple[str, str] | None:
        """What stands before the first user's sentinel, and between an assistant's content and the second user's."""
        content = self.sentinels.word("c")
        messages = [self._user(0), assistant_message(Turn(content=content), inputs), self._user(1)]
        text = self.renders.text(messages, inputs, tools=self._tools(inputs, None))
        if text is None or self._users[1] not in text or content not in text:
            return None
        second = text.rfind(self._users[1])
        return text[: text.find(self._users[0])], text[text.rfind(content, 0, second) + len(content) : second]

    def shows_tools(self, inputs: Inputs) -> bool:
        """Whether the name of a declared tool appears in the prompt."""
        text = self.renders.text([self._user(0)], inputs, tools=declare(self._spare), prompt=True)
        return text is not None and self._spare[0].name in text

    def renders_roles(self, inputs: Inputs, *roles: str) -> bool:
        """Whether a conversation of messages with these roles renders and shows each of them."""
        messages: list[dict[str, Any]] = []
        shown = []
        call = self.call()
        for role in roles:
            text = self.sentinels.word("c")
            shown.append(text)
            if role == "call":
                messages.append(assistant_message(Turn(calls=(call,)), inputs))
                shown[-1] = call.name
            elif role == "tool":
                messages.append({"role": "tool", "name": call.name, "tool_call_id": call.id, "content": text})
            else:
                messages.append({"role": role, "content": text})
        tools = declare((call,)) if "call" in roles else None
        text_of = self.renders.text(messages, inputs, tools=tools)
        return text_of is not None and all(text in text_of for text in shown)

"""Codecs of tokenizer objects, which are read and not imported."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from syntagma import ChatCodec, ChatTemplate
from syntagma.errors import ArgumentTypeError, TemplateError

SOURCE = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer(template: Any, **tokens: Any) -> SimpleNamespace:
    kept = {name: text for name, text in tokens.items() if text is not None}
    return SimpleNamespace(**{"chat_template": template, "special_tokens_map": kept, **tokens})


def test_template_and_tokens_are_read() -> None:
    codec = ChatCodec.from_tokenizer(tokenizer(SOURCE, bos_token="<s>", eos_token="<|im_end|>", unk_token="<u>"))
    assert codec.template is not None
    assert (codec.template.bos_token, codec.template.eos_token) == ("<s>", "<|im_end|>")
    assert codec.template.special_tokens == {"unk_token": "<u>"}
    turn = codec.prepare([{"role": "user", "content": "Hi"}])
    assert turn.prompt == "<s><|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize("template", [{"default": SOURCE, "tool_use": "T" + SOURCE}, [
    {"name": "default", "template": SOURCE}, {"name": "tool_use", "template": "T" + SOURCE}
]])  # fmt: skip
def test_one_of_several_templates_is_named(template: Any) -> None:
    several = tokenizer(template, bos_token=None, eos_token="<|im_end|>")
    messages = [{"role": "user", "content": "Hi"}]
    assert ChatTemplate.from_tokenizer(several).render(messages).startswith("<|im_start|>")
    assert ChatTemplate.from_tokenizer(several, "tool_use").render(messages).startswith("T<|im_start|>")
    with pytest.raises(TemplateError, match="default, tool_use") as caught:
        ChatCodec.from_tokenizer(several, "rag")
    assert caught.value.code == "E-TEMPLATE-LOAD"


def test_what_has_no_template_is_refused() -> None:
    with pytest.raises(TemplateError) as missing:
        ChatCodec.from_tokenizer(tokenizer(None, bos_token="<s>", eos_token="</s>"))
    assert missing.value.code == "E-TEMPLATE-LOAD"
    with pytest.raises(ArgumentTypeError) as caught:
        ChatCodec.from_tokenizer(object())
    assert caught.value.code == "E-ARGUMENT-TYPE"

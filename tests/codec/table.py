"""Writes `docs/reference/conversations.md`: which conversations the templates of some folders take, and by which steps.

`python -m tests.codec.table FOLDER...` reads every `.jinja` file below the folders.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from syntagma.analysis import analyze
from syntagma.codec import ChatCodec
from syntagma.codec.steps import STEPS
from syntagma.errors import ArgumentError, SyntagmaError, TemplateError
from syntagma.templates import ChatTemplate
from tests.codec.conversations import CONVERSATIONS, Conversation, disordered, missing
from tests.codec.plain import FORMAT, NOW, plain_render

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "conversations.md"
_HEAD = """\
# Conversations and templates

Written by `python -m tests.codec.table FOLDER...` over {count} chat templates that are in use.

OpenAI's API takes conversations that many templates do not: a developer's message, two users in a row, text in parts,
calls that were cut off. `ChatCodec` renders all of them. A conversation of which a template shows every text, in order,
is rendered as it is. Otherwise the codec takes the fewest steps with which nothing is lost. It looks for them by
rendering the conversation with a mark at the end of each text. `codec.capabilities.steps` lists those that a template
needs, `codec.capabilities.losses` the kinds of conversations of which it loses a text whatever is done; the log
(`syntagma.codec`) tells each once.

```python
import syntagma as sg

refused = "{{% if m.role == 'developer' %}}{{{{ raise_exception('no such role') }}}}{{% endif %}}"
source = "{{% for m in messages %}}" + refused + "<|{{{{ m.role }}}}|>{{{{ m.content }}}}<|end|>{{% endfor %}}"
codec = sg.ChatCodec.from_template(sg.ChatTemplate(source))
prompt = codec.render([{{"role": "developer", "content": "Be brief."}}, {{"role": "user", "content": "Hi"}}])
assert prompt == "<|system|>Be brief.<|end|><|user|>Hi<|end|>"
assert "developer-as-system" in codec.capabilities.steps
```

* Text goes to templates that take content only as lists of parts as such a list.
* Reasoning is shown as the template does, which usually drops that of earlier turns.
* Text in parts that a template prints as a list, in Python's notation, is not lost, so it stays as it is.
* A part that is no text, such as an image, goes to templates that have a place for it. Others refuse it with
  `E-MESSAGE-PART` and its pointer.
* A tool without `description` or `parameters` gets empty ones if the template fails or loses the tool without them.
* A truncated call is completed to the shortest object that begins with its arguments; `history="strict"` refuses it.
* Calls that neither the template nor the format can write stand in the prompt as JSON.
* If a template refuses a conversation whatever is done, the error has the pointer of the first message that it refuses.

"""


def _outcome(made: ChatCodec, conversation: Conversation) -> str:
    """`●`: as it is; `○`: by steps; `–`: refused with a pointer; `✕`: refused, or something is lost."""
    try:
        prompt = str(made.render(conversation.messages, tools=conversation.tools, now=NOW))
    except ArgumentError as error:
        return "–" if error.pointer else "✕"
    except TemplateError:
        return "✕"
    if missing(conversation, prompt) or disordered(conversation, prompt):
        return "✕"
    assert made.template is not None
    return "●" if prompt == plain_render(made.template, made.capabilities, conversation) else "○"


def _codec(template: ChatTemplate) -> ChatCodec:
    try:
        return ChatCodec.from_template(template, analyze(template, certify=False, candidates="derived"))
    except SyntagmaError:
        return ChatCodec.from_format(FORMAT, template)


def page(files: list[Path]) -> str:
    """The page for these templates."""
    codecs = {path.stem: _codec(ChatTemplate.from_file(path)) for path in files}
    rows = {name: [_outcome(made, one) for one in CONVERSATIONS.values()] for name, made in codecs.items()}
    pieces = [_HEAD.format(count=len(rows)), "## Steps\n\nIn the order in which they are taken.\n\n"]
    pieces.append("| step | what it does | templates that need it |\n|:--|:--|--:|\n")
    needed = Counter(name for made in codecs.values() for name in made.capabilities.steps)
    pieces += [f"| `{step.name}` | {step.says} | {needed[step.name] or 0} |\n" for step in STEPS]
    pieces.append("\n## Conversations\n\n| | conversation | as it is | by steps | refused with a pointer | lost |\n")
    pieces.append("|--:|:--|--:|--:|--:|--:|\n")
    for at, name in enumerate(CONVERSATIONS):
        found = Counter(row[at] for row in rows.values())
        counts = " | ".join(str(found[sign]) for sign in "●○–✕")
        pieces.append(f"| {at + 1} | {name} | {counts} |\n")
    pieces.append("\n## Every template\n\n● as it is, ○ by steps, – refused with a pointer, ✕ something is lost.\n\n")
    pieces.append(f"| template | {' | '.join(str(at + 1) for at in range(len(CONVERSATIONS)))} |\n")
    pieces.append("|:--|" + ":-:|" * len(CONVERSATIONS) + "\n")
    pieces += [f"| {name} | {' | '.join(row)} |\n" for name, row in rows.items()]
    return "".join(pieces)


def main() -> None:
    """Write the page."""
    files = [path for folder in sys.argv[1:] for path in sorted(Path(folder).rglob("*.jinja"))]
    PAGE.write_text(page(files), encoding="utf-8")


if __name__ == "__main__":
    main()

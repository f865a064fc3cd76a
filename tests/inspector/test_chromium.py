"""The page in Chromium, by mouse and by keyboard."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Error, expect, sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).resolve().parents[2]
KEY = "a-key-of-this-test"
PICTURES = "SYNTAGMA_PICTURES"
"""the variable that names a folder for pictures of the page"""
expect.set_options(timeout=30_000)  # milliseconds; a machine that does other work, too, is slow
_SYSTEM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


@contextlib.contextmanager
def running(*arguments: str) -> Iterator[str]:
    """The address that a command of ours says it listens at, while it runs."""
    command = [sys.executable, "-m", "syntagma", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            found = re.search(r"http://\S+", server.stderr.readline())
            assert found is not None
            yield found.group()
        finally:
            server.terminate()


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """The page, as users start it."""
    with running("inspect", "--no-open") as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=_SYSTEM, args=["--no-sandbox"])
        except Error as error:
            pytest.skip(f"Chromium does not start: {error.message.splitlines()[0]}")
        yield started
        started.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(
        viewport={"width": 1360, "height": 1000}, permissions=["clipboard-read", "clipboard-write"]
    )
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, url: str) -> Iterator[Page]:
    opened = context.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto(url)
    expect(opened.locator(".token").first).to_be_visible()
    yield opened
    assert said == [], "the browser's console tells of errors"


_SHOWS = """(box) => {
  const [inside, outside] = [box.querySelector("ins, del").getBoundingClientRect(), box.getBoundingClientRect()];
  return inside.top >= outside.top && inside.top < outside.bottom;
}"""


def choose(page: Page, example: str) -> None:
    page.get_by_label("Example").select_option(label=example)


def test_where_reasoning_opens(page: Page) -> None:
    choose(page, "a template of one's own")
    expect(page.locator("#prompt-facts")).to_contain_text("reasoning is open")
    expect(page.locator("#prompt .start")).to_contain_text("ASSISTANT")
    expect(page.locator("#prompt .user").last).to_have_text("Is it warm in Rome? [END] [ASSISTANT]")


def test_the_evidence_of_a_marker_by_mouse(page: Page) -> None:
    marker = page.locator('[data-marker="call_start"]')
    marker.click()
    expect(page.locator('[data-marker="call_start"]')).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#evidence h3").first).to_contain_text("T1")
    expect(page.locator("#evidence mark").first).to_contain_text("<tool_call>")
    page.locator('[data-marker="call_start"]').focus()
    for box in page.locator("#evidence pre").all():
        assert box.evaluate(_SHOWS), "what differs is scrolled out of its box"
    page.locator('[data-marker="call_start"]').click()
    expect(page.locator("#evidence")).to_be_hidden()


def test_an_answer_is_pasted_and_asked_about(page: Page) -> None:
    answer = page.get_by_label("What the model wrote")
    answer.fill('<tool_call>\n{"name": "get_forecast", "arguments": {"city": "Rome", "unit": "kelvin"')
    out = page.locator(".token.out")
    expect(out).to_have_count(1)
    out.click()
    expect(page.locator("#step .why")).to_contain_text("Not allowed:")
    expect(page.locator("#step .why")).to_contain_text("#/properties/unit/enum")
    expect(page.locator("#step")).to_contain_text("tokens are allowed")
    expect(page.locator("#step")).to_contain_text("of the probability")
    page.locator(".candidate.no").first.click()
    expect(page.locator("#step .why")).to_be_visible()


def test_a_grammar_is_typed_in(page: Page) -> None:
    choose(page, "an answer in a small language")
    expect(page.locator(".token.out")).to_have_count(1)
    grammar = page.get_by_label("Grammar of the content")
    grammar.fill(grammar.input_value().replace('" min"', '" minutes"'))
    expect(page.locator(".token.out")).to_have_count(0)
    expect(page.locator("#answer-facts")).to_contain_text("may end here")
    grammar.fill("start ::= missing ;")
    expect(page.locator("#grammar .fault")).to_contain_text("E-GRAMMAR-UNDEFINED")
    expect(page.locator("#grammar .fault")).to_contain_text("line 1")


def test_all_of_it_by_keyboard(page: Page) -> None:
    page.locator("body").press("Tab")
    expect(page.get_by_text("To the result")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#prompt-panel")).to_be_focused()
    reached = []
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.dataset.marker ?? document.activeElement.id"))
        if reached[-1] == "call_start":
            break
    assert reached[-1] == "call_start", reached
    page.keyboard.press("Enter")
    expect(page.locator("#evidence h3").first).to_be_visible()
    page.locator("#strip").focus()
    page.keyboard.press("Home")
    expect(page.locator("#token-0")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#token-1")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#step h3")).to_contain_text("Before token 2")
    page.keyboard.press("End")
    expect(page.locator("#step h3")).to_contain_text("After the last token")


def test_events_lead_to_their_tokens(page: Page) -> None:
    start = page.locator('tr[data-kind="tool_call_start"]')
    expect(start).to_have_count(1)
    before = page.locator(".token.marked")
    start.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(start.get_by_role("button")).to_have_attribute("aria-pressed", "true")
    expect(before.first).to_have_text(re.compile("<tool_call>"))
    expect(page.get_by_role("status")).to_contain_text("are marked")
    page.keyboard.press("Enter")
    expect(before).to_have_count(0)
    times = [int(text) for text in page.locator("#events .number").all_inner_texts()]
    assert times == sorted(times)
    assert len(set(times)) > 5


def test_a_diagnostic_leads_to_its_tokens(page: Page) -> None:
    page.get_by_label("What the model wrote").fill(
        '<tool_call>\n{"name": "get_forecast", "arguments": {"city": "Rome",, "unit": "celsius"}}\n</tool_call>'
    )
    page.get_by_label("the answer is complete").check()
    diagnostic = page.locator("#diagnostics li").first
    expect(diagnostic).to_contain_text("E-PARSE")
    diagnostic.get_by_role("button").click()
    expect(page.locator(".token.marked").first).to_be_visible()


def test_a_switch_of_the_template(page: Page) -> None:
    expect(page.locator("#prompt-facts")).to_contain_text("reasoning is over")
    switch = page.get_by_label("enable_thinking")
    switch.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#prompt-facts")).not_to_contain_text("reasoning is over")
    expect(page.get_by_label("Template variables")).to_have_value('{"enable_thinking":true}')
    expect(switch).to_be_focused()
    page.reload()
    expect(switch).to_have_value("true")
    switch.select_option(label="default of the template")
    expect(page.locator("#prompt-facts")).to_contain_text("reasoning is over")
    expect(page.get_by_label("Template variables")).to_have_value("")


def test_the_model_writes(page: Page) -> None:
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="Let the model write").click()
    expect(page.get_by_label("the answer is complete")).to_be_checked(timeout=60_000)
    expect(page.locator(".token.out")).to_have_count(0)
    expect(page.locator('#events tr[data-kind="tool_call_end"]')).to_have_count(1)


def test_a_link_holds_the_state(page: Page, context: BrowserContext) -> None:
    choose(page, "a call with a wrong value")
    page.locator(".token.out").click()
    expect(page.locator("#step .why")).to_be_visible()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("status")).to_contain_text("link")
    link = page.evaluate("navigator.clipboard.readText()")
    other = context.new_page()
    other.goto(link)
    expect(other.locator("#step .why")).to_have_text(page.locator("#step .why").inner_text())
    for name in ("messages", "tools", "answer", "tool_choice"):
        assert other.locator(f"#{name}").input_value() == page.locator(f"#{name}").input_value()


def test_a_server_with_keys_asks_for_one_and_the_link_does_not_tell_it(context: BrowserContext) -> None:
    pytest.importorskip("starlette", reason="starlette is not installed")
    with running("serve", "--inspector", "--api-key", KEY, "--port", "0") as address:
        page = context.new_page()
        page.goto(address.removesuffix("/v1") + "/inspector")
        field = page.get_by_label("Key of the server")
        expect(field).to_be_focused()
        page.keyboard.type("another-key")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("no key that is accepted")
        field.fill(KEY)
        page.keyboard.press("Enter")
        expect(page.locator(".token").first).to_be_visible()
        expect(field).to_be_hidden()
        page.get_by_role("button", name="Copy link").click()
        assert KEY not in page.url
        assert KEY not in base64.urlsafe_b64decode(page.url.partition("#")[2] + "==").decode()
        assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]


def test_what_is_no_json_is_told(page: Page) -> None:
    page.get_by_label("Messages").fill("[{")
    expect(page.get_by_role("alert")).to_contain_text("messages")
    expect(page.get_by_label("Messages")).to_have_attribute("aria-invalid", "")
    page.get_by_label("Messages").fill('[{"role": "user", "content": "<b>Hi</b><script>alert(1)</script>"}]')
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.locator("#prompt .user")).to_have_text("<b>Hi</b><script>alert(1)</script>")


def test_a_template_that_is_broken_is_told(page: Page) -> None:
    page.get_by_label("Chat template").fill("{% for m in messages %}")
    expect(page.locator("#markers .fault")).to_contain_text("E-TEMPLATE-SYNTAX")
    expect(page.locator("#markers .fault")).to_contain_text("line 1")


def test_dark_and_light(page: Page) -> None:
    shade = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(shade)
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(shade) != light
    page.emulate_media(color_scheme="dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


# Texts whose contrast with what is behind them is less than WCAG 2.2 asks of text of this size.
_CONTRASTS = """() => {
  const parse = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const linear = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (rgb) => [0.2126, 0.7152, 0.0722].reduce((sum, part, at) => sum + part * linear(rgb[at]), 0);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = parse(getComputedStyle(element).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    const has = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!has || !element.checkVisibility() || element.closest(".behind, option, .hidden, .skip")) continue;
    const two = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
    const contrast = (two[0] + 0.05) / (two[1] + 0.05);
    if (contrast < 4.5) poor.push([element.outerHTML.slice(0, 80), contrast]);
  }
  return poor;
}"""
_UNNAMED = """() => [...document.querySelectorAll("input,select,textarea,button")]
  .filter((element) => !(element.labels?.length || element.textContent.trim() || element.ariaLabel))
  .map((element) => element.outerHTML)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_and_nothing_overflows(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    choose(page, "a call with a wrong value")
    page.locator(".token.out").click()
    page.locator('[data-marker="call_start"]').click()
    expect(page.locator("#evidence")).to_be_visible()
    assert page.evaluate(_CONTRASTS) == []
    for width in (1360, 700, 380):
        page.set_viewport_size({"width": width, "height": 1000})
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert page.evaluate(_UNNAMED) == []
    folder = os.environ.get(PICTURES)
    if folder is not None:
        page.set_viewport_size({"width": 1360, "height": 1000})
        page.evaluate("window.scrollTo(0, 0)")
        # One picture shows all of the page; for the other colours its first screen is enough.
        page.screenshot(path=Path(folder) / f"inspector-{scheme}.png", full_page=scheme == "light")

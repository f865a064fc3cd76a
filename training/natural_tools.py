"""Tools that people really try first, with the ways in which they ask for them.

A slot is `names:source`, several names divided by `/`; a slot that ends in `?` is optional and comes with the phrase
that asks for it. `{0}` in a request stands for the value of the first slot.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tools import Parameter, ToolSpec, Value, integer, number
from words import city, clock, date, email, filename, person, phrase, text_value, word


@dataclass(frozen=True)
class Natural:
    """One family of tools: names, description, slots, requests, and what asks for an optional slot."""

    names: str
    description: str
    slots: tuple[str, ...]
    requests: tuple[str, ...]
    additions: tuple[str, ...] = ()


CITY_NAMES = "city/location/place:city"

NATURAL: tuple[Natural, ...] = (
    Natural(
        "get_weather/get_current_weather/weather/current_weather",
        "Get the current weather",
        (CITY_NAMES, "unit/units:enum celsius|fahrenheit?"),
        (
            "What's the weather in {0}?",
            "What is the weather in {0}?",
            "How is the weather in {0}",
            "Weather in {0} please",
            "What is the weather like in {0} today?",
            "Is it raining in {0}?",
            "Tell me the weather in {0}.",
            "How warm is it in {0} right now?",
        ),
        ("In {1}.", "Use {1}.", "Please in {1}.", "Give it in {1}."),
    ),
    Natural(
        "get_forecast/weather_forecast/get_weather_forecast",
        "Weather forecast for some days",
        (CITY_NAMES, "days/day_count:int"),
        (
            "What will the weather be in {0} for the next {1} days?",
            "{1} day forecast for {0}",
            "Forecast for {0}, {1} days.",
        ),
    ),
    Natural(
        "search/web_search/search_web/google_search",
        "Search the web",
        ("query/q/search_term:phrase", "limit/max_results/num_results:int?"),
        ("Search for {0}", "Search the web for {0}.", "Look up {0} online.", "Google {0}", "Find pages about {0}."),
        ("Show {1} results.", "At most {1} results.", "Give me {1} of them."),
    ),
    Natural(
        "send_email/email/send_mail",
        "Send an email",
        ("to/recipient/address:email", "subject/title:phrase", "body/message/text:phrase"),
        (
            'Send an email to {0} with the subject "{1}" and the text "{2}".',
            "Email {0}, subject {1}, body {2}",
            "Write {0} a mail about {1}: {2}",
        ),
    ),
    Natural(
        "send_message/message/text_user",
        "Send a message to a person",
        ("to/user/recipient/name:person", "text/message/content:phrase"),
        ('Send {0} the message "{1}".', "Tell {0}: {1}", 'Message {0} "{1}"', "Text {0} that {1}."),
    ),
    Natural(
        "set_alarm/create_alarm",
        "Set an alarm",
        ("time/at:clock", "label/name:word?"),
        ("Set an alarm for {0}.", "Wake me up at {0}", "Alarm at {0} please"),
        ("Call it {1}.", "Label: {1}.", "Name it {1}."),
    ),
    Natural(
        "set_timer/start_timer/timer",
        "Start a timer",
        ("minutes/duration/seconds:int",),
        ("Set a timer for {0}.", "Start a timer of {0} minutes.", "Timer {0} minutes", "Count down {0}."),
    ),
    Natural(
        "add/sum/add_numbers",
        "Add two numbers",
        ("a/x/first:number", "b/y/second:number"),
        ("What is {0} + {1}?", "Add {0} and {1}.", "What is {0} plus {1}?", "Compute {0}+{1}", "Sum of {0} and {1}?"),
    ),
    Natural(
        "multiply/product",
        "Multiply two numbers",
        ("a/x/first:number", "b/y/second:number"),
        ("What is {0} * {1}?", "Multiply {0} by {1}.", "What is {0} times {1}?", "Product of {0} and {1}?"),
    ),
    Natural(
        "calculate/calculator/evaluate",
        "Evaluate an expression",
        ("expression/expr:expression",),
        ("What is {0}?", "Calculate {0}", "Compute {0} please.", "Evaluate {0}."),
    ),
    Natural(
        "convert_currency/exchange",
        "Convert money",
        ("amount/value:number", "from/source/from_currency:currency", "to/target/to_currency:currency"),
        ("Convert {0} {1} to {2}.", "How much is {0} {1} in {2}?", "{0} {1} in {2} please"),
    ),
    Natural(
        "translate/translate_text",
        "Translate a text",
        ("text/source/phrase:phrase", "language/target/target_language:language"),
        ('Translate "{0}" to {1}.', "How do you say {0} in {1}?", "Translate {0} into {1}"),
    ),
    Natural(
        "get_time/current_time/get_current_time",
        "Tell the time",
        ("city/location/timezone:city",),
        ("What time is it in {0}?", "Tell me the time in {0}.", "Current time in {0}"),
    ),
    Natural(
        "get_stock_price/stock_price",
        "Price of a stock",
        ("symbol/ticker:ticker",),
        ("What is the price of {0}?", "How is {0} doing?", "Stock price of {0}", "Quote for {0} please."),
    ),
    Natural(
        "book_flight/search_flights/find_flights",
        "Flights between two cities",
        ("from/origin/departure:city", "to/destination/arrival:city", "date/day:date"),
        ("Book a flight from {0} to {1} on {2}.", "I want to fly from {0} to {1} on {2}", "Flights {0} to {1}, {2}"),
    ),
    Natural(
        "book_table/reserve_table/book_restaurant",
        "Reserve a table",
        ("restaurant/name:word", "people/guests/party_size:int", "time:clock"),
        (
            "Book a table at {0} for {1} people at {2}.",
            "Table for {1} at {0}, {2}",
            "Reserve {0} at {2} for {1} guests.",
        ),
    ),
    Natural(
        "play_music/play_song/play",
        "Play music",
        ("song/title/track:phrase", "artist/by:person?"),
        ("Play {0}.", "Play the song {0}", "I want to hear {0}.", "Put on {0}"),
        ("It is by {1}.", "The one by {1}.", "By {1}."),
    ),
    Natural(
        "create_event/add_event/schedule_meeting",
        "Put an event into the calendar",
        ("title/name/summary:phrase", "date/day:date", "time/start:clock?"),
        ("Schedule {0} on {1}.", 'Create an event "{0}" for {1}.', "Put {0} in my calendar for {1}."),
        ("It starts at {2}.", "At {2}.", "Time: {2}."),
    ),
    Natural(
        "create_reminder/add_reminder/remind",
        "Remind the user",
        ("text/task/what:phrase", "date/when/day:date"),
        ('Remind me of "{0}" on {1}.', "Reminder for {1}: {0}", "Remind me to {0} {1}."),
    ),
    Natural(
        "read_file/open_file/get_file/cat",
        "Read a file",
        ("path/file/filename:file",),
        ("Read {0}.", "Show me the file {0}", "What is in {0}?", "Open {0} please.", "Print the contents of {0}"),
    ),
    Natural(
        "write_file/save_file/create_file",
        "Write a file",
        ("path/file/filename:file", "content/text/data:phrase"),
        ('Write "{1}" to {0}.', "Save {1} in the file {0}", 'Create {0} with the content "{1}".'),
    ),
    Natural(
        "list_files/ls/list_directory",
        "List a folder",
        ("path/directory/folder:file", "recursive/all:bool?"),
        ("List the files in {0}.", "What is in the folder {0}?", "ls {0}"),
        (
            "Recursive: {1}.",
            "recursive {1}",
        ),
    ),
    Natural(
        "run_command/shell/bash/execute",
        "Run a command",
        ("command/cmd:phrase",),
        ('Run "{0}".', "Execute {0}", "Run the command {0}", "Please run {0} in the shell."),
    ),
    Natural(
        "get_user/lookup_user/find_user",
        "Find a user",
        ("id/user_id/number:int",),
        ("Who is user {0}?", "Show me user {0}.", "Find the user with id {0}", "Get user number {0}."),
    ),
    Natural(
        "turn_on_light/light_on/switch_on",
        "Switch a light on",
        ("room/name:word", "brightness/level:int?"),
        ("Turn on the light in the {0}.", "Light on in {0}", "Switch on the {0} light."),
        ("Brightness {1}.", "At {1} percent.", "Level {1}."),
    ),
    Natural(
        "set_temperature/set_thermostat",
        "Set the heating",
        ("temperature/degrees/value:number", "room/zone:word?"),
        ("Set the temperature to {0}.", "Make it {0} degrees.", "Heat to {0}"),
        ("In the {1}.", "Room: {1}.", "Only the {1}."),
    ),
    Natural(
        "get_random_number/random_number/roll",
        "A random number",
        ("min/low/from:int", "max/high/to:int"),
        ("Give me a random number between {0} and {1}.", "Random number from {0} to {1}", "Roll {0} to {1}."),
    ),
    Natural(
        "create_user/add_user/register_user",
        "Make a new user",
        ("name/user/username:person", "email/mail:email", "role/kind:enum admin|editor|viewer?"),
        ("Create a user {0} with the email {1}.", "Add {0}, {1}, as a user.", "Register {0} ({1})."),
        ("Role {2}.", "As {2}.", "{2} rights."),
    ),
)

_LANGUAGES = (
    "French",
    "German",
    "Spanish",
    "Italian",
    "Japanese",
    "Chinese",
    "Russian",
    "Portuguese",
    "Dutch",
    "Polish",
    "Swedish",
    "Korean",
    "Arabic",
)
_CURRENCIES = ("EUR", "USD", "GBP", "JPY", "CHF", "SEK", "CAD", "AUD", "INR", "CNY")
_TICKERS = ("ACME", "INIT", "ORBX", "QUAD", "ZETA", "NOVA", "KITE", "LUMA")


def _expression(rng: random.Random) -> str:
    terms = [str(rng.randint(1, 99)) for _ in range(rng.randint(2, 4))]
    gap = rng.choice(("", " "))
    text = terms[0]
    for term in terms[1:]:
        text += gap + rng.choice("+-*/") + gap + term
    return text


def _value(rng: random.Random, source: str) -> Value:
    match source:
        case "city":
            return city(rng)
        case "int":
            return abs(integer(rng))
        case "number":
            return number(rng)
        case "phrase":
            return phrase(rng) if rng.random() < 0.8 else text_value(rng, "title")
        case "email":
            return email(rng)
        case "person":
            return person(rng)
        case "clock":
            return clock(rng)
        case "date":
            return date(rng)
        case "file":
            return filename(rng)
        case "bool":
            return rng.random() < 0.5
        case "currency":
            return rng.choice(_CURRENCIES)
        case "language":
            return rng.choice(_LANGUAGES)
        case "ticker":
            return (
                rng.choice(_TICKERS)
                if rng.random() < 0.3
                else "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(4))
            )
        case "expression":
            return _expression(rng)
        case _:
            return word(rng)


def _spoken(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def natural_request(rng: random.Random) -> tuple[ToolSpec, str, dict[str, Value]]:
    """A tool, a request for it in plain speech, and the arguments that the request gives, in declared order."""
    family = rng.choice(NATURAL)
    kinds = {"int": "integer", "number": "number", "bool": "boolean"}
    declared: list[Parameter] = []
    values: list[Value] = []
    given: list[bool] = []
    for slot in family.slots:
        names, _, source = slot.partition(":")
        optional = source.endswith("?")
        source = source.rstrip("?")
        source, _, options = source.partition(" ")
        name = rng.choice(names.split("/")) if rng.random() < 0.6 else names.split("/")[0]
        if optional and rng.random() < 0.25:
            continue
        choices = tuple(options.split("|")) if options else ()
        declared.append(
            Parameter(name, kinds.get(source, source if source == "enum" else "string"), choices, not optional)
        )
        values.append(rng.choice(choices) if choices else _value(rng, source))
        given.append(not optional or rng.random() < 0.5)
    spoken = [_spoken(value) for value in values]
    text = rng.choice(family.requests).format(*spoken)
    if len(values) == len(family.slots) and not declared[-1].required and given[-1]:
        text = f"{text} {rng.choice(family.additions).format(*spoken)}"
    called = family.names.split("/")
    tool = ToolSpec(
        rng.choice(called) if rng.random() < 0.6 else called[0],
        tuple(declared),
        family.description if rng.random() < 0.5 else "",
        # The family stands for the verb: two of its tools could not be told apart by the request.
        verb=called[0],
    )
    arguments = {p.name: value for p, value, said in zip(declared, values, given, strict=True) if said}
    return tool, text, arguments

"""The vocabulary of the generated dialogues: plain words, and words that exist nowhere.

Made-up words matter more than real ones: a value that the model cannot know must be copied.
"""

from __future__ import annotations

import random
import string


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


VERBS: dict[str, tuple[str, ...]] = {
    "add": ("add", "put in", "include"),
    "archive": ("archive", "put away"),
    "assign": ("assign", "give out"),
    "book": ("book", "reserve"),
    "build": ("build", "construct"),
    "cancel": ("cancel", "call off"),
    "check": ("check", "look at"),
    "close": ("close", "shut"),
    "compare": ("compare",),
    "convert": ("convert", "turn over"),
    "copy": ("copy", "duplicate"),
    "count": ("count", "tell me how many there are of"),
    "create": ("create", "make", "set up"),
    "delete": ("delete", "remove", "get rid of"),
    "describe": ("describe", "tell me about"),
    "download": ("download", "fetch"),
    "edit": ("edit", "change"),
    "export": ("export",),
    "find": ("find", "look for", "search for"),
    "get": ("get", "show me", "give me", "fetch"),
    "hide": ("hide",),
    "import": ("import", "bring in"),
    "invite": ("invite",),
    "list": ("list", "show me", "enumerate"),
    "lock": ("lock",),
    "mark": ("mark", "flag"),
    "merge": ("merge", "join"),
    "move": ("move", "shift"),
    "open": ("open",),
    "order": ("order", "buy"),
    "pause": ("pause", "hold"),
    "plan": ("plan",),
    "play": ("play", "start"),
    "print": ("print",),
    "publish": ("publish", "put out"),
    "read": ("read", "read out"),
    "rename": ("rename",),
    "repeat": ("repeat",),
    "reset": ("reset",),
    "restart": ("restart", "reboot"),
    "save": ("save", "store", "keep"),
    "scan": ("scan",),
    "schedule": ("schedule", "plan"),
    "send": ("send", "mail", "pass on"),
    "set": ("set", "adjust"),
    "share": ("share",),
    "show": ("show", "display"),
    "sort": ("sort", "order"),
    "start": ("start", "begin", "launch"),
    "stop": ("stop", "end", "halt"),
    "track": ("track", "follow"),
    "translate": ("translate",),
    "unlock": ("unlock",),
    "update": ("update", "change", "refresh"),
    "upload": ("upload",),
    "validate": ("validate", "verify"),
    "watch": ("watch",),
    "write": ("write", "compose"),
}

NOUNS: tuple[str, ...] = _listed(
    """account alarm album answer article backup badge bill board book bookmark box branch budget bug cache
    calendar camera campaign car card cart chart city class client clip cluster code color comment contact
    contract coupon course customer dashboard database deal desk device diary document door draft driver
    email employee entry event exam expense feed field file filter flight folder form forecast game garden
    gate graph grid group guest guide heater hotel house image index invoice issue item job journal key
    label lamp ledger lesson letter library license light link loan lock log map meal meeting member memo
    menu message meter model movie network news node note notice offer order package page parcel partner
    password patient payment photo picture pipeline place plan plant playlist podcast poll post price
    printer process product profile project queue quiz quote radio rate recipe record region reminder
    rental reply report request reservation review ride robot role room route rule sale sample schedule
    score screen script sensor server session shelf shift ship shop signal site song stock store story
    stream student subscription survey table tag task team template test theme thread ticket timer token
    topic train trip unit user vehicle version video visit vote voucher wallet warehouse watch weather
    website widget window worker"""
)

FIRST_NAMES: tuple[str, ...] = _listed(
    """Emma Liam Olivia Noah Ava Ethan Mia Lucas Anna Felix Clara Jonas Greta Oskar Ida Hugo Nina Marco Sofia
    Pedro Lucia Diego Elena Ivan Olga Pavel Yuki Kenji Aiko Hana Wei Ling Chen Priya Arjun Maya Omar Leila
    Amir Zara Kofi Ama Tunde Alice Bob Carol Dave Eve Frank Grace Henry Iris Jack Karen Leo Maria Nora
    Otto Paula Quentin Rosa Sam Tina Ursula Victor Wendy Xavier Yara Zoe Peter Julia Simon Laura Max Ella
    Ben Sarah Tom Lena John Mary Jane David Lisa"""
)

LAST_NAMES: tuple[str, ...] = _listed(
    """Smith Miller Weber Rossi Garcia Novak Tanaka Singh Okafor Haddad Larsen Dubois Kowalski Silva Petrov Kim
    Park Nguyen Brown Wilson Moore Clark Hill Baker Stone Wood Fischer Meyer Keller Berg Lind Costa Moreno
    Ferrari"""
)

CITIES: tuple[str, ...] = (
    *_listed(
        """Paris London Berlin Rome Madrid Lisbon Vienna Prague Warsaw Oslo Stockholm Helsinki Copenhagen Dublin
        Athens Budapest Zurich Geneva Munich Hamburg Milan Naples Porto Seville Lyon Tokyo Osaka Kyoto
        Seoul Beijing Shanghai Delhi Mumbai Bangkok Hanoi Jakarta Manila Sydney Melbourne Auckland
        Cairo Lagos Nairobi Accra Tunis Toronto Montreal Chicago Boston Seattle Denver Houston Dallas
        Miami Lima Quito Bogota Santiago Havana"""
    ),
    "New York",
    "San Francisco",
    "Los Angeles",
    "Buenos Aires",
    "Mexico City",
    "Hong Kong",
    "Cape Town",
    "São Paulo",
    "Tel Aviv",
    "Zürich",
    "Köln",
)

PLAIN_WORDS: tuple[str, ...] = _listed(
    """apple river stone cloud table green silver winter summer morning evening paper garden bridge forest
    mountain ocean bread coffee sugar orange lemon candle mirror window pencil basket bottle blanket
    engine feather hammer island jacket kettle ladder magnet needle onion pepper quiet rabbit saddle
    tunnel umbrella velvet wagon yellow zebra anchor butter copper dragon eagle falcon ginger honey ivory
    jungle kitchen lantern marble nickel olive pearl quartz rocket shadow timber urgent violet walnut
    yogurt budget weekly monthly final draft report plan review idea launch party dinner lunch birthday
    holiday rent milk eggs cheese shoes plants water music jazz rock piano guitar football tennis chess
    history science poetry travel health sports business design research market sales support office
    school home work family"""
)

ENUM_SETS: tuple[tuple[str, ...], ...] = (
    ("low", "medium", "high"),
    ("small", "medium", "large"),
    ("red", "green", "blue"),
    ("daily", "weekly", "monthly"),
    ("asc", "desc"),
    ("celsius", "fahrenheit"),
    ("metric", "imperial"),
    ("open", "closed", "pending"),
    ("json", "csv", "xml"),
    ("public", "private"),
    ("fast", "slow"),
    ("left", "right", "center"),
    ("bus", "train", "car", "bike"),
    ("draft", "final"),
    ("north", "south", "east", "west"),
    ("admin", "editor", "viewer"),
    ("gold", "silver", "bronze"),
    ("pdf", "html", "text"),
    ("morning", "noon", "evening"),
    ("EUR", "USD", "GBP", "JPY"),
)

STRING_PARAMETERS: tuple[str, ...] = _listed(
    """name title city location query text file path user owner author subject body message to from recipient
    email date time day start end id code key label topic category language source target destination
    address comment note description content url phone country street company product item brand genre
    artist keyword reason project team channel room device service version branch word phrase value
    customer"""
)
INTEGER_PARAMETERS: tuple[str, ...] = _listed(
    """count limit amount quantity number size page age year days hours minutes seconds people guests priority
    level port width height volume floor seats retries offset max min rank score copies"""
)
NUMBER_PARAMETERS: tuple[str, ...] = _listed(
    """price rate weight temperature distance ratio speed latitude longitude percent total cost budget length factor
    threshold a b x y"""
)
BOOLEAN_PARAMETERS: tuple[str, ...] = _listed(
    """silent urgent public active force recursive verbose notify enabled repeat hidden dry_run overwrite all_day
    private pinned confirm wait"""
)
ENUM_PARAMETERS: tuple[str, ...] = _listed(
    """unit color mode format status order kind type priority level frequency direction role size currency style
    visibility transport state plan"""
)
ARRAY_PARAMETERS: tuple[str, ...] = _listed(
    """tags items names files labels keywords attendees ingredients cities users words topics fields ids guests"""
)

_ONSETS = _listed("b c d f g h j k l m n p r s t v w z br ch cl cr dr fl fr gl gr kl pl pr sh sk sl sn sp st th tr")
_VOWELS = _listed("a e i o u a e i o u ai ea ee ie oo ou")
_CODAS = ["", "", "", "n", "r", "l", "s", "t", "m", "k", "x", "nd", "rt", "ck", "ng", "sh"]


def syllables(rng: random.Random, most: int = 2) -> str:
    """A made-up word of one to `most` syllables, in lower case."""
    count = rng.randint(1, most)
    return "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(count))


def gibberish(rng: random.Random) -> str:
    """Random letters or letters and digits, as identifiers are."""
    shape = rng.random()
    if shape < 0.5:
        return "".join(rng.choice(string.ascii_lowercase) for _ in range(rng.randint(3, 8)))
    if shape < 0.75:
        return (
            "".join(rng.choice(string.ascii_uppercase) for _ in range(rng.randint(2, 4))) + f"-{rng.randint(1, 9999)}"
        )
    return "".join(rng.choice("abcdef0123456789") for _ in range(rng.randint(4, 8)))


def foreign(rng: random.Random) -> str:
    """A word with letters outside of ASCII: accents, Greek, Cyrillic, CJK, or an emoji."""
    letters = rng.choice(
        ("aeiouäöüéèñçßøå", "αβγδεικλμνοπρσ", "абвгдеиклмнопрст", "日本東京大学山川水火", "😀🚀🎉✨👍")
    )
    return "".join(rng.choice(letters) for _ in range(rng.randint(1, 6)))


def word(rng: random.Random) -> str:
    """One word: a real one, a made-up one, or a random one."""
    draw = rng.random()
    if draw < 0.02:
        return foreign(rng)
    if draw < 0.4:
        return rng.choice(PLAIN_WORDS)
    if draw < 0.85:
        return syllables(rng)
    return gibberish(rng)


def person(rng: random.Random) -> str:
    """A person's name: first name, first and last name, or a made-up one."""
    draw = rng.random()
    if draw < 0.45:
        return rng.choice(FIRST_NAMES)
    if draw < 0.75:
        return f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}"
    return syllables(rng, 3).capitalize()


def city(rng: random.Random) -> str:
    """A city, mostly a real one."""
    return rng.choice(CITIES) if rng.random() < 0.75 else syllables(rng, 3).capitalize()


def date(rng: random.Random) -> str:
    """A date as YYYY-MM-DD, or the name of a day."""
    if rng.random() < 0.25:
        return rng.choice(
            ("today", "tomorrow", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
        )
    return f"{rng.randint(2019, 2032)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def clock(rng: random.Random) -> str:
    """A time of day as HH:MM."""
    return f"{rng.randint(0, 23):02d}:{rng.choice((0, 0, 5, 10, 15, 20, 30, 40, 45, 50)):02d}"


def email(rng: random.Random) -> str:
    """An address in a domain reserved for examples, or in a made-up one."""
    host = rng.choice(("example.com", "example.org", f"{syllables(rng, 2)}.com", f"{syllables(rng, 2)}.net"))
    return f"{rng.choice((rng.choice(FIRST_NAMES).lower(), syllables(rng, 2)))}@{host}"


def filename(rng: random.Random) -> str:
    """A file name with a suffix, sometimes below a folder."""
    name = f"{word(rng)}.{rng.choice(('txt', 'csv', 'pdf', 'json', 'md', 'py', 'png'))}"
    return f"{rng.choice(('/tmp', 'docs', 'data', '/home'))}/{name}" if rng.random() < 0.3 else name


def phrase(rng: random.Random) -> str:
    """Two to five words, seldom up to fifteen; seldom with a quoted word, a backslash or a line break in it."""
    text = " ".join(word(rng) for _ in range(rng.randint(6, 15) if rng.random() < 0.07 else rng.randint(2, 5)))
    if rng.random() < 0.03:
        text += rng.choice((f' "{word(rng)}"', f"\\{word(rng)}", f"\n{word(rng)}", f", {word(rng)}!"))
    return text.capitalize() if rng.random() < 0.3 else text


def text_value(rng: random.Random, parameter: str) -> str:
    """A string that suits a parameter of that name; for most names, any kind of value at all."""
    suited = {
        "city": city,
        "location": city,
        "destination": city,
        "email": email,
        "recipient": rng.choice((email, person)),
        "to": rng.choice((email, person, city)),
        "date": date,
        "day": date,
        "time": clock,
        "file": filename,
        "path": filename,
        "user": person,
        "owner": person,
        "author": person,
        "customer": person,
        "artist": person,
        "query": phrase,
        "text": phrase,
        "message": phrase,
        "body": phrase,
        "comment": phrase,
        "subject": phrase,
        "title": phrase,
    }
    if parameter in suited and rng.random() < 0.75:
        return suited[parameter](rng)
    return rng.choice((word, word, word, person, phrase, city, date, filename))(rng)

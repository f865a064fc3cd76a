"""What is said when no tool is needed: greetings, a little knowledge, and sums of small numbers."""

from __future__ import annotations

import random

PAIRS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("Hello", "Hi", "Hello!", "Hi there", "Hey", "Good day", "hello", "hi"), "Hello! How can I help you?"),
    (("Good morning", "Good morning!", "Morning"), "Good morning! What can I do for you?"),
    (("Good evening", "Good night", "Good night!"), "Good evening! What can I do for you?"),
    (("Thanks", "Thank you", "Thank you!", "Thanks a lot", "thx", "Great, thanks!"), "You are welcome!"),
    (("Bye", "Goodbye", "See you", "bye!", "See you later"), "Goodbye!"),
    (("How are you?", "How are you doing?", "How do you do?", "how are you"), "I am fine, thank you. How can I help?"),
    (
        (
            "What is your name?",
            "Who are you?",
            "What's your name?",
            "who are you",
            "Tell me your name",
            "What are you?",
        ),
        "I am Syntagma's small demonstration model.",
    ),
    (
        ("What can you do?", "Help", "help", "How can you help me?", "What are you able to do?"),
        "I can call the tools that you give me and fill in JSON.",
    ),
    (("Are you a human?", "Are you a robot?", "Are you real?"), "I am a very small language model."),
    (("Do you like music?", "Do you like books?", "What do you like?"), "I like well-formed JSON."),
    (
        ("Tell me a joke", "Tell me a joke.", "Make me laugh"),
        "Why did the parser cross the road? It expected the other side.",
    ),
    (("OK", "Okay", "Fine", "All right", "Good", "Nice", "Cool"), "Is there anything else that I can do?"),
    (("Yes", "yes", "Sure", "No", "no", "Maybe"), "All right."),
    (("Sorry", "I am sorry", "My mistake"), "No problem."),
    (("Test", "test", "This is a test", "ping", "Are you there?"), "I am here."),
    (("How old are you?", "When were you made?"), "I was trained a short while ago."),
    (("What day is it?", "What is the date?", "What time is it?"), "I have no clock."),
    (
        ("Tell me a story", "Write a story.", "Write a poem", "Write a poem."),
        "A small model sat by a large stream, and read it token by token.",
    ),
    (("Count to five", "Count to five.", "Count from 1 to 5"), "1, 2, 3, 4, 5"),
    (("What color is the sky?", "What colour is the sky?"), "The sky is blue."),
    (("What is JSON?", "Explain JSON"), "JSON is a text format for data."),
    (("What is a token?", "Explain tokens"), "A token is a piece of text that a model reads or writes at once."),
    (("What is a grammar?", "Explain grammars"), "A grammar says which texts are well formed."),
)

CAPITALS: tuple[tuple[str, str], ...] = (
    ("France", "Paris"),
    ("Germany", "Berlin"),
    ("Italy", "Rome"),
    ("Spain", "Madrid"),
    ("Portugal", "Lisbon"),
    ("Austria", "Vienna"),
    ("Poland", "Warsaw"),
    ("Norway", "Oslo"),
    ("Sweden", "Stockholm"),
    ("Finland", "Helsinki"),
    ("Denmark", "Copenhagen"),
    ("Ireland", "Dublin"),
    ("Greece", "Athens"),
    ("Japan", "Tokyo"),
    ("China", "Beijing"),
    ("Egypt", "Cairo"),
    ("Kenya", "Nairobi"),
    ("Peru", "Lima"),
    ("Cuba", "Havana"),
    ("Thailand", "Bangkok"),
)


def small_talk(rng: random.Random) -> tuple[str, str]:
    """A remark or question, and the answer to it."""
    draw = rng.random()
    if draw < 0.6:
        asked, answer = rng.choice(PAIRS)
        return rng.choice(asked), answer
    if draw < 0.75:
        country, capital = rng.choice(CAPITALS)
        asked_for = rng.choice(
            ("What is the capital of {}?", "Capital of {}?", "what is the capital of {}", "Name the capital of {}.")
        )
        return asked_for.format(country), f"The capital of {country} is {capital}."
    first, second = rng.randint(0, 9), rng.randint(0, 9)
    asked_for = rng.choice(("What is {} + {}?", "{} plus {}?", "How much is {} plus {}?", "{}+{}", "What is {}+{}?"))
    return asked_for.format(first, second), f"{first} + {second} = {first + second}"

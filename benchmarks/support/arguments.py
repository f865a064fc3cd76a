"""What scripts are called with."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from support.vocabularies import SHIPPED, has_data, present

LARGE = ("llama3", "gemma4")
"""the large vocabularies"""


def arguments(doc: str | None, *, vocabularies: bool = False) -> argparse.Namespace:
    """The options of a script whose own words are `doc`: `quick`, and `vocabularies` where it takes their names."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if vocabularies:
        parser.add_argument("vocabularies", nargs="*")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args()


def wanted(options: argparse.Namespace) -> list[str]:
    """The vocabularies to measure on: those that were named, else the large ones."""
    return there(options.vocabularies or LARGE)


def there(names: Sequence[str] = LARGE[:1]) -> list[str]:
    """Those of the vocabularies that are there; if none is, the shipped one."""
    return (present(names) if has_data() else []) or [SHIPPED]

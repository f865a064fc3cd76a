"""What holds for every test."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

# The environments of `make test-torch` and `make test-engines` have no hypothesis, and need none.
with contextlib.suppress(ImportError):
    from hypothesis import settings

    # In CI the same examples every time: a change must not fail for what another one brought in.
    settings.register_profile("ci", derandomize=True)
    if os.environ.get("CI"):
        settings.load_profile("ci")

# The shipped model's matrices are small: threads of the linear algebra cost more than they give, most of all on a
# machine that does something else as well. Must be set before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_in_the_working_folder() -> Iterator[None]:
    """Tests write into folders of their own: what a call writes by a relative path would be committed one day."""
    folder = Path.cwd()
    before = set(folder.iterdir())
    yield
    left = [path.name for path in set(folder.iterdir()) - before if not path.name.startswith((".", "__"))]
    assert left == [], "tests left files in the working folder"

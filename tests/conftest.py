"""What holds for every test."""

from __future__ import annotations

import os

# The shipped model's matrices are small: threads of the linear algebra cost more than they give, most of all on a
# machine that does something else as well. Must be set before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

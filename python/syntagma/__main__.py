"""`python -m syntagma` is the `syntagma` command."""

from __future__ import annotations

from syntagma.cli import main

if __name__ == "__main__":
    main()

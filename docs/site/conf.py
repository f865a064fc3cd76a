"""How the pages of docs/ become a site: `make site`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "Syntagma"
author = "the authors of Syntagma"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "navigation",
    "python_reference",
]

# The sources are the repository itself, so that a link leads to the same file here and there.
root_doc = "docs/index"
include_patterns = [
    "docs/*.md",
    "docs/**/*.md",
    "README.md",
    "DESIGN.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "benchmarks/RESULTS.md",
    "conformance/formats/README.md",
    "conformance/hosts/README.md",
    "conformance/templates/invented/README.md",
    "python/syntagma/embedded/data/MODEL_CARD.md",
]
exclude_patterns = [".*", "target", "build", "dist", "crates", "fuzz/target", "tests", "**/node_modules"]

myst_enable_extensions = ["attrs_block"]
myst_heading_anchors = 4
suppress_warnings = ["ref.python"]  # a name of two modules: which is meant is not said, so no link is made

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_mock_imports = [
    "langchain_core",
    "litellm",
    "mlx",
    "mlx_lm",
    "outlines",
    "sglang",
    "torch",
    "transformers",
    "vllm",
]
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_title = "Syntagma"
pygments_style = "tango"
pygments_dark_style = "github-dark"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"sidebar_hide_name": False}
copybutton_exclude = ".linenos, .gp, .go"

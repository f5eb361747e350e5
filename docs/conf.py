"""How the pages are built: ``sphinx-build -W docs site``. Reads no network and needs no heavy package."""

from pathlib import Path

import cfgen.scenes.folder  # noqa: F401 - pydantic cannot make its models while autodoc imports them
from cfgen.cli.main import build_app

#: every command with its options, from the same declarations that the command line is made of
COMMANDS = Path(__file__).with_name("commands.md")
COMMANDS.write_text(build_app().generate_docs(flatten_commands=True))

project = "cfgen"
copyright = "cfgen contributors"  # noqa: A001 - Sphinx's name
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["examples", "_build"]

html_theme = "furo"
html_title = "cfgen"
html_copy_source = False
suppress_warnings = ["ref.python"]  # one name in two records, where an annotation does not say whose
toc_object_entries = False  # each page would carry every name of the reference: half of the build

myst_heading_anchors = 3
# an indented block is a command line
highlight_language = "text"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": True, "exclude-members": "model_config"}
napoleon_use_ivar = True  # Attributes: would else be listed twice

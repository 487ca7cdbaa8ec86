"""How lines of instruction files are told from those of memory folders, where both are stored."""

from typing import Final

FOLDER: Final = "//instructions"
"""The folder lines of instruction files are stored under: no memory folder has such a name."""
BELOW: Final = "//below"
"""Under which the front matter of such a line says what folder it binds in: no file's own key has such a name."""
PATHS: Final = "//paths"
"""Under which it says for what paths alone it is a rule."""

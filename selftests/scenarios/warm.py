"""Imports what every run imports; the processes of the runs are forked from one that has it.

Only modules whose assertions pytest does not rewrite: those it must import by itself.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from _pytest.config import default_plugins

_FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

for _name in default_plugins:
    import_module(f"_pytest.{_name}")
for _part in ("core", "gates", "remote", "observe", "judge", "applylog"):
    for _file in sorted((_FIXTURES / _part).glob("*.py")):
        if not _file.stem.startswith("__"):
            import_module(f"fixtures.{_part}.{_file.stem}")
for _library in ("jinja2", "paramiko", "yaml", "testinfra.host"):
    import_module(_library)

"""``python -m driver.compat script.py ...`` and ``-m module ...``: run a program unchanged."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from .installation import install

USAGE = "usage: python -m driver.compat [-m module | script.py] [argument ...]"


def main(arguments: list[str]) -> None:
    """Install, and run what the arguments name as ``__main__``.

    Args:
        arguments: what follows ``python -m driver.compat``.

    Raises:
        SystemExit: nothing to run was named.
    """
    match arguments:
        case ["-m", module, *rest]:
            # sys.path[0] is the working directory already, as for any ``python -m``.
            sys.argv = [module, *rest]
            install()
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case [script, *rest] if not script.startswith("-"):
            sys.argv = [script, *rest]
            if Path(script).is_file() and not sys.flags.safe_path:
                # As ``python script.py`` has it; run_path does this itself for folders and zips.
                sys.path[0] = str(Path(script).resolve().parent)
            install()
            runpy.run_path(script, run_name="__main__")
        case _:
            raise SystemExit(USAGE)


if __name__ == "__main__":
    main(sys.argv[1:])

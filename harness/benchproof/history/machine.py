"""The machine that measures: its name in asv's files, and what asv says of a machine.

asv knows a machine by its host name, which a container or a virtual machine changes with every
start. So a machine that is in the results already is known again by its processor; else it is what
``asv machine`` has noted; else it is named after the processor.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from .writing import MACHINE, contents

#: What two descriptions of the same machine have in common, whatever its kernel is.
_SAME = ("arch", "cpu", "num_cpu")


def describe(results: Path, name: str = "") -> dict[str, str]:
    """The machine as asv describes one; with the given name if there is one."""
    from asv.machine import Machine  # noqa: PLC0415  (slow to import)

    facts = {key: str(value) for key, value in Machine.get_defaults().items()}
    known = name or _known(results, facts) or _noted(facts["machine"]) or _named(facts)
    return {**facts, "machine": known}


def _known(results: Path, facts: dict[str, str]) -> str:
    """The name under which results of this machine are kept already, or nothing."""
    found = [
        folder.parent.name
        for folder in sorted(results.glob(f"*/{MACHINE}"))
        if all(str(contents(folder).get(key)) == facts[key] for key in _SAME)
    ]
    return found[0] if len(found) == 1 else ""


def _noted(host: str) -> str:
    """The name that `asv machine` has noted for this host, or nothing."""
    from asv.machine import MachineCollection  # noqa: PLC0415  (as above)

    try:
        held = json.loads(Path(MachineCollection.get_machine_file_path()).read_bytes())
        return str(held[host]["machine"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _named(facts: dict[str, str]) -> str:
    """A name from the processor and its cores."""
    words = re.sub(r"\(.*?\)|\bprocessor\b|\bcpu\b|@.*", " ", facts["cpu"].lower())
    slug = "-".join(re.findall(r"[a-z0-9]+", words)) or facts["arch"]
    return f"{slug}-{facts['num_cpu']}-cores"

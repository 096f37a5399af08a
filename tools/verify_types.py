"""How much of the public API has types that are known to type checkers, by pyright.

    python tools/verify_types.py .venv/pyright/node_modules/pyright/index.js

Fails below 99 %, and lists what is not known. Types of other packages do not count against us, but
the classes we derive from scikit-learn's do: it ships no types.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGE = "extreme_entropy"
LEAST = 0.99
SOURCE = Path(__file__).parents[1] / "src"


def completeness(pyright: Path) -> dict[str, Any]:
    """What pyright finds in the source beside this file, whatever is installed."""
    # To verify types, pyright asks the first Python on the path, whatever --pythonpath says.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["node", pyright, "--verifytypes", PACKAGE, "--ignoreexternal", "--outputjson"],
        env={**os.environ, "PATH": path, "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    return json.loads(done.stdout)["typeCompleteness"]


def reasons(symbol: dict[str, Any]) -> str:
    """Why a symbol is not known; that of a name for another one is there."""
    messages = [" ".join(found["message"].split()) for found in symbol["diagnostics"]]
    return "; ".join(messages) or "as what it stands for"


def main(pyright: Path) -> int:
    found = completeness(pyright)
    score, public = found["completenessScore"], [s for s in found["symbols"] if s["isExported"]]
    for symbol in public:
        if not symbol["isTypeKnown"] or symbol["isTypeAmbiguous"]:
            print(f"{symbol['name']}: {reasons(symbol)}")
    verdict = f"{score:.2%} of {len(public):,} public symbols have known types"
    print(f"{verdict}; at least {LEAST:.0%} must.")
    return score < LEAST


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

"""What is public, by name: the reference's names with their parameters, commands and JSON keys.

    python tests/golden_names.py

records them in `tests/golden/names.json` for `tests/test_stability.py`.
"""

import inspect
import json
import re
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from pages import ROOT

from extreme_entropy.cli.root import COMMANDS, root

# Methods that other packages of the library call, as in docs/_ext/public_names.py.
INTERNAL = {"set_fitted", "specification", "fitted_parts", "set_fitted_parts"}
RECORD = ROOT / "tests" / "golden" / "names.json"


def in_the_reference():
    """Full name ↦ object of what docs/api/index.md lists."""
    module, listed = "extreme_entropy", {}
    for line in (ROOT / "docs" / "api" / "index.md").read_text("utf-8").splitlines():
        if (found := re.match(r"\.\. currentmodule:: (\S+)", line)) is not None:
            module = found[1]
        elif re.match(r"   [A-Za-z]", line):
            *path, name = f"{module}.{line.strip()}".split(".")
            listed[".".join([*path, name])] = getattr(import_module(".".join(path)), name)
    return listed


def parameters(call):
    """Of a function, a method or a class; none where there is no signature."""
    try:
        names = inspect.signature(call).parameters
    except (TypeError, ValueError):
        return []
    return sorted(name for name in names if name != "self")


def names():
    """Each public name, and each method that the library defines, with its parameters."""
    public = {}
    for name, value in in_the_reference().items():
        public[name] = parameters(value) if callable(value) else []
        for method, call in inspect.getmembers(value, callable) if inspect.isclass(value) else ():
            owner = str(getattr(call, "__module__", ""))
            ours = owner.startswith("extreme_entropy") and method not in INTERNAL
            if ours and not method.startswith("_"):
                public[f"{name}.{method}"] = parameters(call)
    return public


def options():
    """Each command, and how its options are written."""
    return {
        name: sorted({word for option in command.params for word in (*option.opts, option.name)})
        for name in COMMANDS
        if (command := root.get_command(None, name)) is not None
    }


def json_keys():
    """Each command, and the keys of what `--json` prints on a small table."""
    i = np.arange(300)
    rows = "".join(f"{(k * 0.618) % 1:.3f},{k % 7},{'yes' if k % 3 else 'no'}\n" for k in i)
    keys = {}
    with tempfile.TemporaryDirectory() as folder:
        table, model, part, out = (Path(folder, n) for n in ("t.csv", "m.eem", "p.eem", "o.eem"))
        table.write_text(f"a,b,label\n{rows}")
        fit = ("fit", table, "--target", "label", "--model", "eem", "--size", 5, "--no-baseline")
        other = Path(folder, "u.csv")
        other.write_text(f"a,b,label\n{rows}".replace("0.", "0.5"))
        for words in (
            (*fit, "-o", model),
            ("fit", other, "--target", "label", "--like", model, "-o", part),
            ("merge", model, part, "--force", "-o", out),
            ("forget", out, other, "--force", "-o", out),
            ("predict", model, table, "-o", Path(folder, "p.csv")),
            ("evaluate", model, table),
            ("export", model, "-o", Path(folder, "m.onnx")),
        ):
            done = CliRunner().invoke(root, [*map(str, words), "--json"])
            if done.exit_code != 0:
                raise RuntimeError(done.output)
            keys.setdefault(words[0], sorted(json.loads(done.stdout)))
    return keys


def public():
    """All of it."""
    return {"names": names(), "options": options(), "json": json_keys()}


if __name__ == "__main__":
    text = json.dumps(public(), indent=1, ensure_ascii=False)
    lines = re.sub(r"\[[^\[\]]*\]", lambda entries: " ".join(entries[0].split()), text)
    RECORD.write_text(lines + "\n", encoding="utf-8")
    sys.exit()

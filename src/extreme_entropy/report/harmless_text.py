"""Text from the data made harmless: visible letters only, and JSON that cannot leave its block."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

# Joiners belong to emoji and to scripts; other characters of these kinds would act unseen.
JOINERS = "\u200c\u200d"
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def visible(text: Any, most: int = 200) -> str:
    """A name with every control, bidi mark or half character spelt out, and not endless."""
    letters = "".join(
        letter
        if letter in JOINERS or unicodedata.category(letter) not in UNSEEN
        else {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(letter, f"\\u{ord(letter):04x}")
        for letter in str(text)[: most + 1]
    )
    return letters if len(str(text)) <= most else letters[:most] + "…"


def json_block(value: Any) -> str:
    """JSON that is safe inside a script element, whatever strings it holds."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text

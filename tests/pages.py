"""The pages that people write and read."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
CLONE = (ROOT / "paper").is_dir()  # which a source archive has not
MADE = {"_build", "auto_examples", "generated"}  # folders that Sphinx fills
DOCS = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if MADE.isdisjoint(page.relative_to(ROOT).parts)
]
# Those of the paper are there only in a clone.
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *DOCS,
    *sorted((ROOT / "paper").glob("*.md")),
    *sorted((ROOT / "paper" / "docs").rglob("*.md")),
]

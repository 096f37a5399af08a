"""Make docs/images/site*.png again, from the built site (`make docs`) in a Chromium."""

import os
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parent.parent / "docs"
SITE = DOCS / "_build" / "html"
# File ↦ page, width, height and colour scheme.
PICTURES = {
    "site.png": ("index.html", 1280, 900, "light"),
    "site-dark.png": ("index.html", 1280, 900, "dark"),
    "site-phone.png": ("index.html", 390, 1300, "light"),
    "site-gallery.png": ("auto_examples/index.html", 1280, 1000, "light"),
}


def main() -> None:
    """Write the pictures."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (page, width, height, scheme) in PICTURES.items():
            size = {"width": width, "height": height}
            tab = browser.new_page(viewport=size, color_scheme=scheme)
            tab.goto((SITE / page).as_uri())
            tab.screenshot(path=DOCS / "images" / name)
        browser.close()


if __name__ == "__main__":
    main()

"""Make docs/images/report.png again: the top of the page that `eem demo` writes, in a Chromium."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

TARGET = Path(__file__).parent.parent / "docs" / "images" / "report.png"
WIDTH, HEIGHT = 1100, 1660


def main() -> None:
    """Write the picture."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page_file = Path(folder, "report.html")
        command = [sys.executable, "-m", "extreme_entropy", "demo", "--out", str(page_file)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.screenshot(path=TARGET)
        browser.close()


if __name__ == "__main__":
    main()

"""Make the pictures of reports in docs/images again, in a Chromium: on screens, and on paper.

    python tools/report_picture.py

report.png (what `eem demo` writes), report-rare.png, report-classes.png (twenty classes),
report-tiny.png (22 rows, on a phone in the dark) and report-print.png (the first sheet of A4).
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright
from sklearn.datasets import make_classification

IMAGES = Path(__file__).parent.parent / "docs" / "images"
EEM = [sys.executable, "-m", "extreme_entropy"]
TREES = (
    *("ash", "beech", "birch", "cedar", "cherry", "elm", "fir", "hazel", "holly", "larch"),
    *("lime", "maple", "oak", "pear", "pine", "plum", "poplar", "rowan", "spruce", "willow"),
)


def payments(n: int, seed: int) -> pd.DataFrame:
    """Payments, of which six in a thousand are fraud."""
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.006
    known = rng.random(n) > 0.08
    return pd.DataFrame(
        {
            "amount": np.exp(rng.normal(3 + 1.2 * fraud, 1)).round(2),
            "hour": rng.integers(0, 24, n),
            "abroad": np.where(rng.random(n) < 0.1 + 0.4 * fraud, "yes", "no"),
            "account_days": np.where(known, rng.exponential(400 / (1 + 2 * fraud)).round(), np.nan),
            "tries": rng.poisson(1.0 + fraud),
            "fraud": np.where(fraud, "yes", "no"),
        }
    )


def trees(n: int, seed: int) -> pd.DataFrame:
    """Twenty species by the colours of their leaves."""
    X, y = make_classification(
        4000, 16, n_informative=12, n_classes=20, n_clusters_per_class=1, random_state=0
    )
    rows = np.random.default_rng(0).permutation(4000)[1500 * seed :][:n]
    table = pd.DataFrame(X[rows].round(3), columns=[f"band {j}" for j in range(1, 17)])
    return table.assign(species=np.array(TREES)[y[rows]])


def patients(n: int, seed: int) -> pd.DataFrame:
    """A study of very few people."""
    rng = np.random.default_rng(seed)
    dose, age = rng.normal(5, 2, n).round(1), rng.integers(20, 80, n)
    score = dose + 0.05 * age + rng.normal(0, 1, n)
    ill = np.where(score > np.median(score), "yes", "no")
    return pd.DataFrame({"dose": dose, "age": age, "ill": ill})


def report(folder: Path, table: tuple, target: str, *options: str) -> Path:
    """Fit, and report on further rows."""
    make, rows, new = table
    name = make.__name__
    old, later, model, page = (
        folder / f"{name}{end}" for end in (".csv", "-new.csv", ".eem", ".html")
    )
    make(rows, 0).to_csv(old, index=False)
    make(new, 1).to_csv(later, index=False)
    fit = ["fit", old.name, "--target", target, *options, "-o", model.name]
    for words in (fit, ["report", model.name, later.name, "-o", page.name]):
        subprocess.run([*EEM, *words], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return page


def main() -> None:
    """Write the pictures."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name)
        demo = folder / "demo.html"
        words = [*EEM, "demo", "--out", demo.name]
        subprocess.run(words, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        rare = report(folder, (payments, 10_000, 6_000), "fraud", "--cost", "yes=100")
        classes = report(folder, (trees, 1_500, 2_500), "species")
        tiny = report(folder, (patients, 22, 60), "ill")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])

        def picture(page_file: Path, target: str, width: int, height: int, scheme: str) -> None:
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            page.goto(page_file.as_uri())
            page.screenshot(path=IMAGES / f"{target}.png")

        picture(demo, "report", 1100, 1616, "light")
        picture(rare, "report-rare", 1100, 1250, "light")
        picture(classes, "report-classes", 1100, 1300, "light")
        picture(tiny, "report-tiny", 420, 1100, "dark")
        page = browser.new_page()
        page.goto(rare.as_uri())
        page.pdf(path=folder / "rare.pdf", format="A4", print_background=True)
        browser.close()
        sheet = ["pdftoppm", "-png", "-r", "72", "-l", "1", "-singlefile", folder / "rare.pdf"]
        subprocess.run([*sheet, IMAGES / "report-print"], check=True)


if __name__ == "__main__":
    main()

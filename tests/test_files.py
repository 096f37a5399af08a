"""Files are written whole or not at all, with the permissions of any new file."""

import os
import shutil
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from extreme_entropy import EEMClassifier, load
from extreme_entropy.errors import InputError
from extreme_entropy.estimators.checkpoint import Checkpoint
from extreme_entropy.files import check_writable, written_whole


def test_a_file_takes_its_place_only_when_all_went_well(tmp_path):
    """An error leaves what was there, and nothing beside it."""
    path = tmp_path / "a.txt"
    with written_whole(path) as temporary:
        assert not path.exists()
        temporary.write_text("first")
    with pytest.raises(IsADirectoryError), written_whole(path) as temporary:
        (temporary.write_text("half"), tmp_path.write_text("no"))
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077])
def test_permissions_are_those_of_any_new_file(mask, tmp_path):
    """Also where a writer puts a file of its own in the place of the temporary one."""
    before = os.umask(mask)
    try:
        (tmp_path / "plain.txt").write_text("as any program writes it")
        with written_whole(tmp_path / "ours.txt") as temporary:
            temporary.unlink()
            temporary.touch(0o600)
    finally:
        os.umask(before)
    ours, theirs = (stat.S_IMODE((tmp_path / f"{n}.txt").stat().st_mode) for n in ("ours", "plain"))
    assert ours == theirs == 0o666 & ~mask


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_file_that_is_replaced_keeps_its_permissions(mode, tmp_path):
    """A private model stays private, whatever the umask and the writer."""
    path = tmp_path / "a.eem"
    path.write_text("before")
    path.chmod(mode)
    with written_whole(path) as temporary:
        assert temporary.stat().st_mode & 0o077 & ~mode == 0  # while it is written, too
        temporary.unlink()
        temporary.write_text("after")
    assert path.read_text() == "after"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize("is_there", [True, False])
def test_a_symbolic_link_stays_a_link_to_the_file_that_is_written(is_there, tmp_path):
    """Relative links and links to links, too; a link to a device is refused as the device is."""
    target = tmp_path / "data" / "a.txt"
    target.parent.mkdir()
    if is_there:
        target.write_text("before")
    (tmp_path / "middle").symlink_to("data/a.txt")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "middle")
    check_writable(link)
    with written_whole(link) as temporary:
        temporary.write_text("after")
    assert link.is_symlink()
    assert target.read_text() == "after"
    assert os.listdir(target.parent) == ["a.txt"]
    (tmp_path / "device").symlink_to("/dev/null")
    for use in (check_writable, lambda path: written_whole(path).__enter__()):
        with pytest.raises(InputError, match="device"):
            use(tmp_path / "device")


def test_the_umask_of_the_process_is_never_set(tmp_path, monkeypatch):
    """It belongs to all threads."""
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask was set"))
    with written_whole(tmp_path / "a.txt"):
        pass


def test_a_durable_file_is_forced_to_the_disk_before_and_after_it_takes_its_place(
    tmp_path, monkeypatch
):
    """File, then name, then folder: the order that survives a power cut."""
    done = []
    sync, rename = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (done.append("sync"), sync(handle)))
    monkeypatch.setattr(os, "replace", lambda a, b: (done.append("rename"), rename(a, b)))
    with written_whole(tmp_path / "a.txt", durable=True) as temporary:
        temporary.write_text("all")
    assert done == ["sync", "rename"] + ["sync"] * (os.name != "nt")


def test_threads_that_write_one_file_leave_one_of_theirs(tmp_path):
    """Each has a temporary file of its own."""
    path, letters = tmp_path / "a.txt", "abcdefgh"

    def write(letter):
        with written_whole(path) as temporary:
            temporary.write_text(letter * 10_000)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in letters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in {letter * 10_000 for letter in letters}
    assert os.listdir(tmp_path) == ["a.txt"]


def test_places_that_take_no_file_are_named(tmp_path):
    """Before any work is done."""
    check_writable(tmp_path / "a.txt")
    with pytest.raises(InputError, match="is a folder"):
        check_writable(tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        check_writable(tmp_path / "no" / "a.txt")
    assert os.listdir(tmp_path) == []


# -------------------------------------------------------------------- models on full disks

FULL = """
import sys
import numpy as np
from extreme_entropy import EEMClassifier
from extreme_entropy.errors import ExtremeEntropyError

X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
classifier = EEMClassifier(int(sys.argv[2]), random_state=0).fit(X, y)
if sys.argv[3:]:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    classifier.save(sys.argv[1])
except OSError as error:
    assert isinstance(error, ExtremeEntropyError)
    print(error)
"""


def save_elsewhere(path, size, *limit):
    """What is said by a process that saves a classifier of so many neurons."""
    words = [sys.executable, "-c", FULL, path, size, *limit]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limits")
def test_a_model_larger_than_a_file_may_be_leaves_what_was_there(tmp_path):
    """The system's words in one sentence, the old file, and nothing beside it."""
    path = tmp_path / "a.eem"
    assert save_elsewhere(path, 5) == ""
    before = path.read_bytes()
    said = save_elsewhere(path, 40, 10_000)
    assert "a.eem' could not be written (File too large" in said
    assert "\n" not in said
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.eem"]


def test_a_model_larger_than_the_disk_leaves_what_was_there(tmp_path):
    """The same of a disk that is full."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    words = [mount, "-t", "tmpfs", "-o", "size=100k", "none", disk]
    if mount is None or subprocess.run(words, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        assert save_elsewhere(disk / "a.eem", 5) == ""
        before = (disk / "a.eem").read_bytes()
        assert "(No space left on device" in save_elsewhere(disk / "a.eem", 40)
        assert (disk / "a.eem").read_bytes() == before
        assert os.listdir(disk) == ["a.eem"]
    finally:
        subprocess.run(["umount", disk], check=True)


def test_threads_that_save_to_one_path_leave_one_whole_model(tmp_path, monkeypatch):
    """As models and as checkpoints; and none of them sets the umask."""
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask was set"))
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    classifiers = [EEMClassifier(5 + i, random_state=0).fit(X, y) for i in range(4)]

    def keep(classifier):
        checkpoint = Checkpoint(tmp_path / "checkpoint.eem", every=1)
        together.wait()
        for _ in range(5):
            classifier.save(tmp_path / "model.eem")
            checkpoint.n += 1
            checkpoint.keep(classifier)

    together = threading.Barrier(len(classifiers))
    with ThreadPoolExecutor(len(classifiers)) as pool:
        list(pool.map(keep, classifiers))
    for name in ("model.eem", "checkpoint.eem"):
        assert load(tmp_path / name).n_hidden in {5, 6, 7, 8}
    assert sorted(p.name for p in tmp_path.rglob("*.*") if p.is_file()) == [
        "checkpoint.eem",
        "model.eem",
    ]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="a folder of Linux")
def test_a_stream_of_the_process_is_no_file_to_replace(tmp_path):
    """Even if it is redirected to a file."""
    with open(tmp_path / "log", "w") as file:
        for path in (f"/dev/fd/{file.fileno()}", f"/proc/self/fd/{file.fileno()}"):
            with pytest.raises(InputError, match="is a device, a pipe or a stream"):
                check_writable(path)

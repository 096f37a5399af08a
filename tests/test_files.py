"""Files are written whole or not at all, with the permissions of any new file."""

import os
import stat
import threading

import pytest

from extreme_entropy.errors import InputError
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

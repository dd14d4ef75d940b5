# SPDX-License-Identifier: MIT
"""datarep.h5 where h5py's tests are not: how its files look to the package."""
import datarep as dr
import numpy as np
import pytest

import datarep.h5 as h5py


def test_members_of_arrays_are_written_through_views(tmp_path):
    with dr.open(tmp_path / "a.drep", "w") as f:
        ds = f.create("s", np.zeros(4, [("w", "f8", 3), ("n", "u1")]))
        ds.view("w")[...] = np.arange(12.0).reshape(4, 3)
        ds.view("n")[1:] = 7
        assert (ds[...]["w"] == np.arange(12.0).reshape(4, 3)).all()
        assert ds[...]["n"].tolist() == [0, 7, 7, 7]


def test_files_are_those_of_the_package(tmp_path):
    path = tmp_path / "b.drep"
    with h5py.File(path, "w") as f:
        ds = f.create_dataset("g/x", data=np.arange(6.0).reshape(2, 3), chunks=(1, 3),
                              compression="gzip", shuffle=True, fletcher32=True)
        ds.attrs["units"] = "m"
        f["names"] = ["a", "hé"]
        f["link"] = h5py.SoftLink("/g/x")
    with dr.open(path) as f:
        assert f["g/x"].filters == "shuffle,deflate:4"
        assert f["link"][1, 2] == 5 and f["g/x"].attrs["units"] == "m"
        assert f["names"][...].tolist() == ["a", "hé"]
    with h5py.File(path) as f:
        assert f["names"][1] == "hé".encode() and f["names"].asstr()[1] == "hé"
        with pytest.raises(TypeError):
            f["g/x"][0, [2, 1]]


def test_an_exception_keeps_what_was_written(tmp_path):
    path = tmp_path / "c.drep"
    with pytest.raises(RuntimeError):
        with h5py.File(path, "w") as f:
            f["x"] = 1
            raise RuntimeError
    with h5py.File(path) as f:
        assert f["x"][()] == 1


def test_readers_follow_a_writer(tmp_path):
    path = tmp_path / "e.drep"
    with h5py.File(path, "w", libver="latest") as f:
        ds = f.create_dataset("x", shape=(0,), maxshape=(None,), dtype="i4")
        f.swmr_mode = True
        with h5py.File(path, "r", swmr=True) as g:
            seen = g["x"]
            ds.resize((3,))
            ds[:] = [1, 2, 3]
            assert seen.shape == (0,)
            ds.flush()
            seen.refresh()
            assert seen[:].tolist() == [1, 2, 3]


def test_what_belongs_to_hdf5_says_so(tmp_path):
    with h5py.File(tmp_path / "d.drep", "w") as f:
        for fails in (lambda: h5py.h5d.create, lambda: f.id.get_create_plist(),
                      lambda: f.create_dataset("x", (4,), scaleoffset=True, dtype="i4"),
                      lambda: f.create_dataset("x", (4,), external="raw.bin"),
                      lambda: h5py.VirtualLayout((4,)), lambda: f.create_group(None)):
            with pytest.raises(NotImplementedError):
                made = fails()
                made()
        assert list(f) == []

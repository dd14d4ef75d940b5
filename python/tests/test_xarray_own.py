# SPDX-License-Identifier: MIT
"""The tests that xarray holds its own backends to, run over ours, plain and in chunks of dask."""
import contextlib

import pytest

xr = pytest.importorskip("xarray")
pytest.importorskip("dask")
base = pytest.importorskip("xarray.tests.test_backends")
import datarep as dr  # noqa: E402
import datarep.xarray  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


class TestPlain(base.CFEncodedBase):
    more = {}

    def save(self, dataset, path, **kwargs):
        return dataset.datarep.save(path, **kwargs)

    @contextlib.contextmanager
    def create_store(self):
        store = datarep.xarray.Store(dr.open(":memory:", "w"))
        yield store
        store.abandon()

    @contextlib.contextmanager
    def open(self, path, **kwargs):
        with xr.open_dataset(path, engine="datarep", **{**self.more, **kwargs}) as ds:
            yield ds


class TestChunks(TestPlain):
    more = {"chunks": {}}

    @pytest.mark.skip(reason="asserts xarray's own cache, which it never puts around arrays of dask")
    def test_dataset_caching(self):
        pass

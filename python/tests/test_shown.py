# SPDX-License-Identifier: MIT
"""What people see of a file's names and texts: no character that acts on other text."""
import warnings

import numpy as np
import pytest

import datarep as dr
from datarep.errors import shown

ACTING = "".join(map(chr, [*range(1, 32), *range(0x7f, 0xa0), 0x61c, 0x200b, 0x200e, 0x200f, *range(0x2028, 0x202f),
                           *range(0x2060, 0x206a), 0xfeff]))


def clean(text, own=""):
    acting = [hex(ord(c)) for c in text if c in ACTING and c not in own]
    assert not acting, (acting, ascii(text))
    return text


def test_escapes():
    assert shown("plain \\ é 字 \u200d") == "plain \\ é 字 \u200d"
    assert shown("a\nb\x1b\x85\u202e\udcff") == "a\\nb\\u001b\\u0085\\u202e\\xff"
    for c in ACTING:
        assert shown(clean(shown(f"x{c}y"))) == shown(f"x{c}y") != f"x{c}y"


@pytest.fixture
def made(tmp_path):
    """A file that has every such character in every kind of name and text."""
    path = tmp_path / "f.drep"
    with dr.open(path, "w") as f:
        for i, c in enumerate(ACTING):
            g = f.create_group(f"g{c}{i}") if hasattr(f, "create_group") else f.group(f"g{c}{i}")
            g.dims[f"d{c}"] = 2
            dtype = np.dtype([(f"m{c}", "i4"), ("x", "f8")])
            ds = g.create(f"t{c}", np.zeros(2, dtype), dims=[f"d{c}"])
            ds.attrs[f"a{c}"] = f"v{c}"
            ds.attrs["units"] = f"u{c}"
            g[f"l{c}"] = dr.SoftLink(f"/nowhere{c}")
    return path


def messages(f):
    """What goes wrong in every way that names a thing of the file."""
    for name, group in f.items():
        for wrong in (lambda: group[name], lambda: f[f"{name}/none{name}"], lambda: group.attrs[name],
                      lambda: group.dims[name], lambda: f.group(name).create(list(group)[0], 1),
                      lambda: f.require_dataset(name, (1,), "i4"), lambda: f.require_group(name + "/" + list(group)[0]),
                      lambda: f.create(name, 1), lambda: group[list(group)[0]][0, 0], lambda: dr.open(name),
                      lambda: group[list(group)[0]].append(np.zeros(1))):
            try:
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    wrong()
            except Exception as error:
                yield str(error)
                yield repr(error)
            yield from (str(w.message) for w in said)


def test_python(made):
    with dr.open(made) as f:
        shown_of = [repr(f), repr(f.attrs), repr(f.dims), str(f.tree()), repr(f.tree()), f.tree()._repr_html_(),
                    f._repr_html_()]
        for group in f.values():
            shown_of += [repr(group), repr(group.attrs), repr(group.dims), *map(repr, group.dims.values())]
            for name in group:
                if group.get_link(name) if hasattr(group, "get_link") else False:
                    continue
                try:
                    o = group[name]
                except dr.Error as error:
                    shown_of += [str(error), repr(error)]
                    continue
                shown_of += [repr(o), o._repr_html_(), repr(o.attrs), repr(o.dims), repr(o.dtype)]
        for text in shown_of:
            clean(text, "\n")
    with dr.open(made, "a") as f:
        n = [clean(text) for text in messages(f)]
        assert len(n) > 10 * len(ACTING)


def test_h5py(made):
    h5 = pytest.importorskip("datarep.h5")
    with h5.File(made, "r") as f:
        clean(repr(f))
        for name, group in f.items():
            clean(repr(group))
            for member in group:
                clean(repr(group.get(member, getlink=True)))
                try:
                    o = group[member]
                    clean(repr(o) + repr(list(o.dims)))
                except KeyError as error:
                    clean(str(error))

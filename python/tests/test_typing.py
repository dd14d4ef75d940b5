# SPDX-License-Identifier: MIT
"""The types that inferred.py states are those of the values; that mypy infers them is checked by make python-typing."""
import importlib
import os
import sys
import types
import typing

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def fits(value, stated):
    """Whether a value is of a stated type, as far as its class, and the elements of arrays, tell."""
    origin, inner = typing.get_origin(stated), typing.get_args(stated)
    if stated is typing.Any or isinstance(stated, typing.TypeVar):
        return True
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and fits(value.dtype, inner[1])
    if origin is np.dtype:
        scalar = typing.get_origin(inner[0]) or (object if inner[0] is typing.Any else inner[0])
        return isinstance(value, np.dtype) and (not isinstance(scalar, type) or issubclass(value.type, scalar))
    if origin is tuple:
        return isinstance(value, tuple) and (inner[-1] is not Ellipsis or all(fits(v, inner[0]) for v in value))
    if origin is list:
        return isinstance(value, list) and all(fits(v, inner[0]) for v in value)
    return value is None if stated is None else isinstance(value, origin or stated)


def test_values_have_the_stated_types(tmp_path, monkeypatch):
    stated = []

    def assert_type(value, kind):
        stated.append((value, kind))
        assert fits(value, kind), f"{value!r} is no {kind}"
        return value

    monkeypatch.setattr(typing, "assert_type", assert_type)
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.delitem(sys.modules, "inferred", raising=False)
    inferred = importlib.import_module("inferred")
    inferred.files(str(tmp_path / "a.drep"))
    inferred.values()
    assert len(stated) > 40
    assert not fits(np.zeros(3), np.ndarray[typing.Any, np.dtype[np.float32]]) and not fits(3, str)
    assert not fits((1, "a"), tuple[int, ...]) and not fits(None, typing.Union[int, str])

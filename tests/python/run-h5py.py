#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 300
"""h5py's own tests against datarep.h5, as TAP: one of the suites of suites.py."""
import sys

import suites

sys.exit(suites.main(["h5py", *sys.argv[1:]]))

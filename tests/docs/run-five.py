#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-five.py - five usual programs, each written against <datarep.h>, netCDF, HDF5 and HDF5-HL.

All of tests/examples/five are compiled and run, and must print the same.  A table shows the lines
and the calls of each, without comments and blank lines; ours may have no more calls than netCDF's.
The examples in datarep.h are parts of ours, word for word; two more are of tests/examples.
"""
import os
import re
import subprocess
import sys

SRC = os.environ.get('SRCDIR', '.')
FIVE = os.path.join(SRC, 'tests/examples/five')
TMP = os.environ.get('TMPDIR', '/tmp')
LIB = os.path.join(os.environ.get('BUILDDIR', 'build'), 'release')
PROGRAMS = ['grid', 'slice', 'append', 'attributes', 'unknown']
OURS = ['table', 'simulation']
LIBRARIES = ['drep', 'netcdf', 'hdf5', 'hl']
CALL = {'drep': r'\bdrep_\w+(?=\()', 'netcdf': r'\bnc_\w+(?=\()', 'hdf5': r'\bH5\w+(?=\()',
        'hl': r'\bH5\w+(?=\()'}
number = 0


def result(good, name, log=''):
    global number
    number += 1
    print(f'{"ok" if good else "not ok"} {number} - {name}')
    if not good:
        print(''.join('# ' + line + '\n' for line in log.splitlines()), end='')
    return good


def flags(library):
    if library == 'drep':
        return ['-I' + os.path.join(SRC, 'lib'), '-L' + LIB, '-ldatarep', '-pthread']
    package = {'netcdf': 'netcdf', 'hdf5': 'hdf5-serial', 'hl': 'hdf5-serial'}[library]
    run = subprocess.run(['pkg-config', '--cflags', '--libs', package], capture_output=True,
                         text=True)
    return run.stdout.split() + (['-lhdf5_serial_hl'] if library == 'hl' else []) \
        if run.returncode == 0 else None


def source(program, library):
    with open(os.path.join(FIVE, f'{program}-{library}.c'), encoding='utf-8') as file:
        return file.read()


def build(program, library, options):
    to = os.path.join(TMP, f'{program}-{library}')
    run = subprocess.run(['gcc', '-std=c11', '-Wall', '-Wextra', '-Werror',
                          os.path.join(FIVE, f'{program}-{library}.c'), '-o', to] + options,
                         capture_output=True, text=True)
    return run.returncode == 0, run.stderr


def run_one(program, library):
    env = dict(os.environ, LD_LIBRARY_PATH=LIB)
    run = subprocess.run([os.path.join(TMP, f'{program}-{library}'),
                          os.path.join(TMP, 'file.' + library)], capture_output=True, text=True,
                         env=env)
    return run.returncode == 0, run.stdout, run.stderr


def comparable(program, text):
    """What the libraries agree on: not the order, the names of types, the attributes that
    dimension scales are made of."""
    if program != 'unknown':
        return text
    lines = [re.sub(r'^(\S+[^:\s]) \S+', r'\1', line) for line in text.splitlines()
             if not re.search(r': (CLASS|NAME|REFERENCE_LIST|DIMENSION_LIST)\b', line)]
    return '\n'.join(sorted(line for line in lines if not line.startswith('/time')))


def measure(program, library):
    text = re.sub(r'/\*.*?\*/', '', source(program, library), flags=re.S)
    lines = sum(1 for line in text.splitlines() if line.strip())
    return lines, len(re.findall(CALL[library], text))


def header_examples():
    """The indented code below "Example: NAME" in comments of datarep.h."""
    with open(os.path.join(SRC, 'lib/datarep.h'), encoding='utf-8') as file:
        text = file.read()
    found = {}
    for match in re.finditer(r'Example: (\w+)\.\n \*\n((?: \*(?:     .*)?\n)+)', text):
        code = [line[7:] for line in match.group(2).splitlines()]
        found[match.group(1)] = '\n'.join(code).strip('\n')
    return found


def main():
    examples = header_examples()
    for program in PROGRAMS:
        code = examples.get(program, '')
        result(code.endswith('}') and code in source(program, 'drep'),
               f'datarep.h shows {program}-drep.c', 'it shows:\n' + code)
    for program in OURS:
        with open(os.path.join(SRC, f'tests/examples/{program}.c'), encoding='utf-8') as file:
            code = examples.get(program, '')
            result(code.endswith('}') and code in file.read(), f'datarep.h shows {program}.c',
                   'it shows:\n' + code)
    unknown = sorted(set(examples) - set(PROGRAMS) - set(OURS))
    result(not unknown, 'datarep.h has no example but these', ' '.join(unknown))
    sizes = {}
    prints = {}
    for library in LIBRARIES:
        options = flags(library)
        for program in PROGRAMS:
            sizes[program, library] = measure(program, library)
            name = f'{program}-{library}.c'
            if options is None:
                result(True, f'{name} # SKIP {library} is not installed')
                continue
            good, log = build(program, library, options)
            if not good:
                result(False, f'{name} compiles', log)
                continue
            good, out, log = run_one(program, library)
            prints.setdefault(program, comparable(program, out))
            same = comparable(program, out) == prints[program]
            result(good and same and (out or program in ('grid', 'append')),
                   f'{name} runs and prints what the others do', log + out)
    print('# lines and calls    ' + ''.join(f'{library:>12}' for library in LIBRARIES))
    for program in PROGRAMS:
        print(f'# {program:<18} ' + ''.join(
            f'{sizes[program, l][0]:>8}{sizes[program, l][1]:>4}' for l in LIBRARIES))
    for program in PROGRAMS:
        ours, theirs = sizes[program, 'drep'][1], sizes[program, 'netcdf'][1]
        result(ours <= theirs, f'{program}: {ours} calls, netCDF has {theirs}')
    print(f'1..{number}')
    return 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-json.py - does the JSON Schema of `datarep dump` describe what is printed, and nothing else?

The schema, tools/share/dump.schema.json, takes the JSON of every vector, what the command prints of it
in each form, and the outputs that the command's tests expect; and it refuses each of them with a key
taken away, with one too many, or with a value of another kind.  Prints TAP.
"""
import copy
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import Tap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCHEMA = os.path.join(ROOT, "tools", "share", "dump.schema.json")
DATAREP = os.environ.get("DATAREP", os.path.join(ROOT, "build", "release", "datarep"))
# Of a dataset alone --jsonl prints its values.
VALUES = ("scalar.jsonl", "t.jsonl", "tracks.jsonl")
# Maps: their keys are names.
MAPS = ("attributes", "members", "dimensions", "hints", "extents")
# With -H no dataset has it.
OPTIONAL = ("data",)
# Values of the file: their form is that of their type.
FREE = ("data", "value", "fill")
WRONG = (17.5, "~", [{}], {"~": 1}, True)


def validators():
    """A validator for each form: document, header, line, and for the whole schema."""
    from jsonschema import Draft202012Validator, RefResolver
    with open(SCHEMA, encoding="utf-8") as f:
        schema = json.load(f)
    Draft202012Validator.check_schema(schema)
    found = {"any": Draft202012Validator(schema)}
    for name in ("document", "header", "line"):
        one = {"$schema": schema["$schema"], "$ref": "#/$defs/" + name, "$defs": schema["$defs"]}
        found[name] = Draft202012Validator(one, resolver=RefResolver.from_schema(one))
    return found


def read(path):
    """The documents of an expected output, with what it leaves out put in again."""
    with open(path, encoding="utf-8") as f:
        text = f.read().replace("UUID", "%032x" % 1)
    text = re.sub(r'("(?:time|writer|machine)": )(?:"\.\.\."|\.\.\.)(,?)', r'\1"0"\2', text)
    text = re.sub(r'("(?:time|writer|machine)": "0")(?!,)$', r"\1,", text, flags=re.M)
    return [json.loads(line) for line in text.split("\n") if line] if path.endswith("l") else [json.loads(text)]


def complaint(validator, doc):
    for error in validator.iter_errors(doc):
        deepest = error
        while deepest.context:
            deepest = max(deepest.context, key=lambda e: len(e.absolute_path))
        return "/".join(str(p) for p in deepest.absolute_path) + ": " + deepest.message[:300]
    return None


def forms(check, path, docs):
    """What is wrong with documents that came from here."""
    if len(docs) == 1:
        wrong = complaint(check["document"], docs[0])
    else:
        wrong = complaint(check["header"], docs[0])
        for line in docs[1:]:
            wrong = wrong or complaint(check["line"], line)
    return wrong and "%s: %s" % (path, wrong)


def vectors(check):
    paths = sorted(glob.glob(os.path.join(ROOT, "tests/vectors/*.json")))
    wrong = [forms(check, p, read(p)) for p in paths]
    return [w for w in wrong if w] if paths else ["no vectors"]


def expected(check):
    paths = [p for p in sorted(glob.glob(os.path.join(ROOT, "tests/cli/expect/*.json*")))
             if os.path.basename(p) not in VALUES]
    wrong = [forms(check, p, read(p)) for p in paths]
    return [w for w in wrong if w] if paths else ["no expected outputs"]


def printed(check):
    """What the command prints of every vector, good or bad, as far as it prints anything."""
    wrong, seen = [], 0
    paths = glob.glob(os.path.join(ROOT, "tests/vectors/*.drep")) + glob.glob(
        os.path.join(ROOT, "tests/vectors/bad/*.drep"))
    for path in sorted(paths):
        for form in (["--json"], ["--jsonl"], ["--json", "-H"]):
            done = subprocess.run([DATAREP, "dump", *form, path], capture_output=True, timeout=60, check=False)
            text = done.stdout.decode("utf-8")
            if not text:
                continue
            seen += 1
            try:
                pieces = text.split("\n")[:-1] if form == ["--jsonl"] else [text]
                docs = [json.loads(piece) for piece in pieces]
            except ValueError:
                if done.returncode:
                    continue  # it stopped in the middle
                raise
            if form == ["--jsonl"]:
                wrong.append(forms(check, path, docs + [dict(docs[-1])][:len(docs) == 1]))
            else:
                wrong.append(forms(check, path, docs))
    print("# %d outputs of the command" % seen)
    return [w for w in wrong if w]


def places(doc, path=()):
    """The path of each object whose keys the schema states."""
    if isinstance(doc, dict):
        yield path
        for key, value in doc.items():
            if key in MAPS and isinstance(value, dict):
                for name, one in value.items():
                    yield from places(one, path + (key, name))
            elif key not in FREE:
                yield from places(value, path + (key,))
    elif isinstance(doc, list):
        for i, one in enumerate(doc):
            yield from places(one, path + (i,))


def spoiled(doc):
    """Each a little wrong: (what was done, document)."""
    for place in places(doc):
        def anew(place=place):
            whole = copy.deepcopy(doc)
            at = whole
            for step in place:
                at = at[step]
            return whole, at

        whole, at = anew()
        keys = list(at)
        at["unheard"] = 1
        yield "a key more in %s" % "/".join(map(str, place)), whole
        for key in keys:
            whole, at = anew()
            if key not in OPTIONAL:
                del at[key]
                yield "no %s in %s" % (key, "/".join(map(str, place))), whole
            for value in WRONG if key not in FREE else ():
                whole, at = anew()
                if isinstance(at[key], str) and isinstance(value, str) and \
                        key not in ("kind", "format", "form", "uuid", "time", "layout", "link", "type"):
                    continue
                if isinstance(at[key], bool) and isinstance(value, bool):
                    continue
                at[key] = value
                yield "%r as %s in %s" % (value, key, "/".join(map(str, place))), whole


def values_spoiled(doc):
    """A value that its type cannot have."""
    kinds = {"INT": [1.5, "x", True, {}], "DOUBLE": ["1.5", True, {}], "C_BOOL": [1, "true"],
             "vstring": [1, True, {}], "ref(region)": ["x", 1]}
    for place in places(doc):
        at = doc
        for step in place:
            at = at[step]
        for key in ("data", "value"):
            for value in kinds.get(at.get("type"), []) if at.get(key) is not None else []:
                whole = copy.deepcopy(doc)
                one = whole
                for step in place:
                    one = one[step]
                one[key] = [value] if isinstance(at[key], list) else value
                yield "%r as %s in %s" % (value, key, "/".join(map(str, place))), whole


def refuses(check):
    wrong, tried = [], 0
    for name in ("compound", "links", "dims", "vlen", "user-filter", "contiguous", "types"):
        doc = read(os.path.join(ROOT, "tests/vectors", name + ".json"))[0]
        if name == "types":
            members = doc["root"]["members"]
            doc["root"]["members"] = {n: members[n] for n in ("INT", "DOUBLE", "C_BOOL")}
            cases = values_spoiled(doc)
        else:
            cases = list(spoiled(doc)) + list(values_spoiled(doc))
        for what, bad in cases:
            tried += 1
            if check["document"].is_valid(bad):
                wrong.append("%s: %s is taken" % (name, what))
    print("# %d spoiled documents" % tried)
    return wrong if tried else ["nothing was tried"]


# What every subcommand prints with --json, of a good file and of a bad one where it has one.
OUTPUTS = (["check", "G"], ["check", "-d", "B"], ["check", "-f", "--repair=N", "G"], ["check", "-f", "--repair=N", "B"],
           ["check", "--seal", "C"], ["diff", "G", "C"], ["diff", "G", "O"], ["log", "G"], ["ls", "-rlm", "G"],
           ["ls", "-rl", "L"], ["ls", "-r", "F"], ["reps"], ["reps", "external32", "native"],
           ["reps", "--check", "external32"], ["stat", "-r", "G"], ["validate", "-s", "S", "G"],
           ["validate", "-s", "S", "O"], ["export", "-f", "G", "H"], ["import", "-f", "H", "N"])


def outputs(_):
    """The documents of output.schema.json, and that it takes none with a key more."""
    from jsonschema import Draft202012Validator
    with open(os.path.join(ROOT, "tools", "share", "output.schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    Draft202012Validator.check_schema(schema)
    check, wrong, seen = Draft202012Validator(schema), [], 0
    vector = os.path.join(ROOT, "tests/vectors/%s.drep").__mod__
    with tempfile.TemporaryDirectory() as d:
        files = {"G": vector("compound"), "O": vector("dims"), "L": vector("links"), "F": vector("later"),
                 "B": vector("bad/node-order"), "C": d + "/copy.drep", "N": d + "/new.drep", "S": d + "/s.yaml",
                 "H": d + "/x.h5"}
        shutil.copy(files["G"], files["C"])
        with open(files["S"], "w", encoding="utf-8") as f:
            subprocess.run([DATAREP, "dump", "--yaml", files["O"]], stdout=f, check=True)
        for args in OUTPUTS:
            words = [re.sub(r"(^|=)([A-Z])$", lambda m: m[1] + files[m[2]], a) for a in args]
            done = subprocess.run([DATAREP, words[0], "--json", *words[1:]], capture_output=True, timeout=60,
                                  check=False)
            if args[0] in ("import", "export") and b"HDF5" in done.stderr and not done.stdout:
                print("# without HDF5: " + args[0])
                continue
            try:
                docs = [json.loads(t) for t in re.split(r"\n(?=\{)", done.stdout.decode())]
            except ValueError as e:
                wrong.append("%s: %s; %s" % (" ".join(args), e, done.stderr.decode()[:300]))
                continue
            for doc in docs:
                seen += 1
                said = complaint(check, doc)
                if said:
                    wrong.append("%s: %s" % (" ".join(args), said))
                if check.is_valid(dict(doc, unheard=1)) or check.is_valid(dict(doc, version=2)):
                    wrong.append("%s: a key more, or another version, is taken" % " ".join(args))
    print("# %d documents of %d calls" % (seen, len(OUTPUTS)))
    return wrong


def main():
    tests = (("every vector's JSON is of the schema", vectors),
             ("so are the outputs that the command's tests expect", expected),
             ("so is what the command prints of good and bad vectors", printed),
             ("spoiled documents are refused", refuses),
             ("what the other subcommands print is of their schema", outputs))
    try:
        check = validators()
    except ImportError:
        print("1..0 # SKIP python3-jsonschema is not installed")
        return 0
    tap = Tap()
    for name, function in tests:
        tap.run(name, function, check)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What a formatter cannot check: who may include whom, how long things may be, which calls are banned.

    scripts/tidy.py            the tree
    scripts/tidy.py BUILD      also the objects in that build directory: no mutable file-scope variable

The table ROOMS is the architecture; ARCHITECTURE.md draws it. One line a breach, exit code 1.
"""
import json
import pathlib
import re
import subprocess
import sys

# room -> rooms that it may include, beside itself and the lobby
ROOMS = {
    "engine/include/streamrun": [],
    "engine/base": [],
    "engine/data": ["engine/base"],
    "engine/sql": ["engine/base"],
    "engine/expr": ["engine/data", "engine/base"],
    "engine/state": ["engine/data", "engine/base"],
    "engine/ckpt": ["engine/base"],
    "engine/plug": ["engine/base"],
    "engine/plan": ["engine/expr", "engine/plug", "engine/data", "engine/base"],
    "engine/bind": ["engine/sql", "engine/expr", "engine/plan", "engine/plug", "engine/data", "engine/base"],
    "engine/ops": ["engine/expr", "engine/data", "engine/base"],
    "engine/run": ["engine/plan", "engine/state", "engine/ckpt", "engine/data", "engine/base"],
    "conf": ["engine/plan", "engine/plug", "engine/base"],
    "connectors": [],
    "cli": ["conf", "engine/bind", "engine/plan", "engine/run", "engine/ckpt", "engine/plug", "engine/base"],
    "test": None,  # anything
}
# single headers that a room may include although their room is not in its list
EXTRA = {
    "cli": ["engine/ops/ops.h", "connectors/builtin.h",
            # words about functions and types, computed by `functions` and `eval`
            "engine/expr/func.h", "engine/expr/expr.h", "engine/expr/program.h", "engine/data/schema.h",
            "engine/data/host.h"],
    "engine/bind": ["engine/plug/registry.h"],
    # nested values in a column, as the json format writes them
    "connectors/sqlite": ["connectors/json/json_cell.h"],
    "connectors/confluent": ["connectors/json/json_opts.h"],
    # words of values, for the tables that people read in a savepoint
    "engine/run": ["engine/expr/value_text.h", "engine/expr/json_write.h"],
}
LINE_MAX, FUNC_MAX, SOURCE_MAX, HEADER_MAX, PARAMETERS_MAX = 100, 70, 800, 300, 6
BANNED = {
    r"\bstrcpy\(": "a bounded copy",
    r"\bstrcat\(": "a bounded copy",
    r"\bsprintf\(": "snprintf",
    r"\bstrtok\(": "spans",
    r"\bato[ifl]\(": "a parser that reports errors",
    r"\bgets\(": "fgets",
    r"\balloca\(": "the arena",
    r"\b(u|nano)?sleep\(": "a wait with a reason",
    r"\b(time|gettimeofday|clock_gettime)\(": "the clock of struct env",
    r"\bs?rand(om)?\(\)": "env's random",
    r"__attribute__\(\(constructor": "an explicit table",
    r"\b(FIXME|XXX)\b": "a fix",
    r"\bsetjmp\(|\blongjmp\(": "an answer",
}
# where a banned call belongs: the edge of the world, and test programs
EDGE = {"engine/base/env_posix.c", "engine/base/thread.c"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
SYSTEM = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
TEXT = re.compile(r'"(\\.|[^"\\\n])*"')


def room(path):
    return next((r for r in sorted(ROOMS, key=len, reverse=True) if path.startswith(r + "/")), None)


def includes(path, text):
    here, bad = room(path), []
    if here is None or ROOMS[here] is None:
        return bad
    for inc in INCLUDE.findall(text):
        there = room(inc)
        if there is None:
            continue  # beside the file itself
        if there == here and here != "connectors":
            continue
        if there == "connectors" and here == "connectors":
            mine, other = path.split("/")[1], inc.split("/")[1]
            if mine == other or inc in EXTRA.get(f"connectors/{mine}", []) or other in ("text", "common", "compress", "schemas", "builtin.h"):
                continue
        if there not in ROOMS[here] and inc not in EXTRA.get(here, []):
            bad.append(f"{path}: {here} may not include {inc}")
    if here == "engine/include/streamrun":
        bad += [f"{path}: the lobby includes libc and itself only, not <{i}>" for i in SYSTEM.findall(text)
                if not (i.startswith("streamrun/") or i in ("stdbool.h", "stddef.h", "stdint.h", "stdarg.h"))]
    return bad


def words(path, text):
    plain = TEXT.sub('""', COMMENT.sub("", text))
    if path.startswith("test/") or path in EDGE:
        return []
    bad = [f"{path}: {m.group(0)} is banned, use {use}" for p, use in BANNED.items() for m in re.finditer(p, plain)]
    if not path.startswith("cli/"):
        bad += [f"{path}: only cli prints" for _ in re.finditer(r"\b(printf|puts|putchar)\(|\bfprintf\(std", plain)]
    for m in re.finditer(r"\bTODO\b(?!\(#\d+\))", text):
        bad.append(f"{path}: a TODO without its issue number")
    return bad


def lengths(path, text):
    lines = text.split("\n")
    bad = [f"{path}:{n}: {len(line)} columns" for n, line in enumerate(lines, 1) if len(line) > LINE_MAX
           and not in_table(lines, n)]
    limit = HEADER_MAX if path.endswith(".h") else SOURCE_MAX
    if len(lines) > limit:
        bad.append(f"{path}: {len(lines)} lines, more than {limit}")
    if path.endswith(".h") and not text.startswith("/* "):
        bad.append(f"{path}: a header begins by saying what it is")
    return bad


def in_table(lines, n):
    """Option tables and diagrams stand between format-off marks, and may be wider."""
    state = False
    for line in lines[:n]:
        if "clang-format off" in line:
            state = True
        elif "clang-format on" in line:
            state = False
    return state


def limits(root, files):
    """Every limit of the code has its row in LIMITS.md, and no row is about one that is gone."""
    page = (root / "LIMITS.md").read_text()
    named = set(re.findall(r"`(\w+_MAX)`", page))
    there = {name: path for path in files if not path.startswith("test/")
             for name in re.findall(r"^\s*#\s*define\s+(\w+_MAX)\b", (root / path).read_text(), re.M)}
    return ([f"{path}: {name} is not named in LIMITS.md" for name, path in there.items() if name not in named]
            + [f"LIMITS.md: there is no {name}" for name in sorted(named - set(there))])


def packages(root):
    """README's table names every package of scripts/packages and none that is not installed."""
    lines = [line.split() for line in (root / "scripts" / "packages").read_text().splitlines()
             if line and not line.startswith("#")]
    wanted = {line[1] for line in lines}
    readme = (root / "README.md").read_text()
    table = readme[readme.index("## What it stands on"):readme.index("## Read on")]
    named = {name for row in re.findall(r"^\| (.*?) \|", table, re.M) for name in re.findall(r"`([^`]+)`", row)}
    return ([f"README.md: package {name} is not in its table" for name in sorted(wanted - named)]
            + [f"README.md: {name} is not in scripts/packages" for name in sorted(named - wanted)])


def functions(files):
    out = subprocess.run(["ctags", "--languages=C", "--langmap=C:.c.h", "--C-kinds=f", "--fields=+neS",
                          "--output-format=json", "-o", "-", *files], capture_output=True, text=True, check=True)
    bad = []
    for line in out.stdout.splitlines():
        tag = json.loads(line)
        if "end" not in tag:
            continue
        size = tag["end"] - tag["line"] + 1
        if size > FUNC_MAX:
            bad.append(f"{tag['path']}:{tag['line']}: {tag['name']} has {size} lines")
        n = tag.get("signature", "").count(",") + 1
        lines = pathlib.Path(tag["path"]).read_text().splitlines()
        before = lines[tag["line"] - 2] if tag["line"] > 1 else ""
        is_excused = "NOLINTNEXTLINE(readability-function-size):" in before  # with a reason, as clang-tidy's
        if n > PARAMETERS_MAX + 1 and not is_excused and not tag["path"].startswith("test/"):
            bad.append(f"{tag['path']}:{tag['line']}: {tag['name']} has {n} parameters")
    return bad


def mutable(build):
    """Symbols of our objects that lie in writable sections; relocated constants are none."""
    bad = []
    for archive in sorted(pathlib.Path(build).rglob("*.a")):
        if "/test/" in str(archive):
            continue
        out = subprocess.run(["objdump", "-t", str(archive)], capture_output=True, text=True, check=True).stdout
        for line in out.splitlines():
            m = re.search(r"\sO\s+(\.data|\.bss|\.tdata|\.tbss|\*COM\*)(\.\S+)?\s+\S+\s+(\S+)$", line)
            if m and not (m.group(2) or "").startswith(".rel.ro"):
                bad.append(f"{archive.name}: {m.group(3)} is a mutable file-scope variable")
    return bad


def main(argv):
    root = pathlib.Path(__file__).resolve().parent.parent
    files = subprocess.run(["git", "-C", str(root), "ls-files", "*.c", "*.h", "*.cc"], capture_output=True,
                           text=True, check=True).stdout.split()
    bad = []
    for path in files:
        text = (root / path).read_text()
        bad += includes(path, text) + words(path, text) + lengths(path, text)
    import os
    os.chdir(root)
    bad += limits(root, files) + packages(root)
    bad += functions([f for f in files if not f.endswith(".cc")])
    if len(argv) > 1:
        bad += mutable(argv[1])
    print("\n".join(bad) or f"{len(files)} files: tidy")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

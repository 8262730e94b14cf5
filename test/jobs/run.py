#!/usr/bin/env python3
"""End-to-end tests: the binary as people use it. `test/jobs/run.py BUILD [TEST...]`.

Each job of conf/jobs has one; then commands, exit codes, and what happens at signals, savepoints and resumes.
"""
import importlib
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import harness  # noqa: E402

for path in sorted(HERE.glob("test_*.py")):
    importlib.import_module(path.stem)  # its tests register themselves

if __name__ == "__main__":
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    binary = build / "cli" / "streamrun" if build.is_dir() else build
    sys.exit(harness.main(binary, sys.argv[2:]))

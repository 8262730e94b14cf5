#!/usr/bin/env python3
"""End-to-end tests: the binary as people use it. `test/jobs/run.py BUILD [TEST...]`.

Every test_*.py beside this file is run: jobs of conf/jobs, commands, exit codes, what happens at signals and resumes.
"""
import importlib
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import harness

for path in sorted(HERE.glob("test_*.py")):
    importlib.import_module(path.stem)  # tests register themselves

if __name__ == "__main__":
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    binary = build / "cli" / "streamrun" if build.is_dir() else build
    sys.exit(harness.main(binary, sys.argv[2:]))

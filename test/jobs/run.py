#!/usr/bin/env python3
"""End-to-end tests: the binary as people use it. `test/jobs/run.py BUILD [TEST...]`.

Each job of conf/jobs has one; then commands, exit codes, and what happens at signals, savepoints and resumes.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import harness
import test_cli  # noqa: F401  (tests register themselves)
import test_commands  # noqa: F401
import test_connectors  # noqa: F401
import test_csv  # noqa: F401
import test_faults  # noqa: F401
import test_files  # noqa: F401
import test_hostile  # noqa: F401
import test_jobs  # noqa: F401
import test_readme  # noqa: F401
import test_state  # noqa: F401

if __name__ == "__main__":
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    binary = build / "cli" / "streamrun" if build.is_dir() else build
    sys.exit(harness.main(binary, sys.argv[2:]))

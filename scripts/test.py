#!/usr/bin/env python3
"""Installs what is missing, builds, and runs every test. Ends with "N passed, N failed".

    scripts/test              all stages, in order
    scripts/test STAGE...     only these (and the builds that they need are taken as they are)

Each stage has its minutes in test/budget; one that takes longer fails. So does a test that was skipped, unless
test/allowed-skips names it. Builds lie in build-test (gcc,
release), build-asan (clang, address and undefined, with fuzz targets), build-tsan. Logs lie beside them.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLAIN, ASAN, TSAN = "build-test", "build-asan", "build-tsan"
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed", re.M)
SKIPPED = re.compile(r"^skipped: ([\w-]+): (.*)$", re.M)  # what our drivers print


class Failed(Exception):
    """A command that had to work did not; its output was printed."""


def run(args, log, **env):
    """One command with its output in a log file; the tail is shown when it fails."""
    path = ROOT / log
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as out:
        code = subprocess.run(args, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                              env={**os.environ, **env}).returncode
    text = path.read_text(errors="replace")
    if code != 0:
        print(f"-- {' '.join(map(str, args))[:100]}: exit code {code}; the end of {log}:")
        print("\n".join(text.splitlines()[-60:]))
    return code, text


def must(args, log, **env):
    code, text = run(args, log, **env)
    if code != 0:
        raise Failed
    return text


def allowed_skips():
    """Names of tests that may be skipped, from lines of a name and its reason."""
    lines = (ROOT / "test" / "allowed-skips").read_text().splitlines()
    return {line.split()[0] for line in lines if len(line.split()) > 1 and not line.startswith("#")}


def forbidden(skips):
    """How many of these (name, why) nobody allowed; all are said."""
    count = 0
    for name, why in skips:
        is_allowed = name in allowed_skips()
        print(f"-- {name} was skipped{'' if is_allowed else ', and test/allowed-skips does not name it'}: {why}")
        count += not is_allowed
    return count


def driver(args, log, **env):
    """A test driver of ours: its last line says how many passed and failed."""
    code, text = run(args, log, **env)
    found = CLOSING.findall(text)
    if not found:
        print(f"-- {' '.join(map(str, args))}: no closing line; the end of {log}:")
        print("\n".join(text.splitlines()[-20:]))
        return 0, 1
    passed, failed = map(int, found[-1])
    return passed, failed + (1 if code != 0 and failed == 0 else 0) + forbidden(SKIPPED.findall(text))


def checked(args, log, **env):
    code, _ = run(args, log, **env)
    return (1, 0) if code == 0 else (0, 1)


def add(*results):
    return sum(r[0] for r in results), sum(r[1] for r in results)


def setup(build, options, **env):
    if not (ROOT / build / "meson-private").is_dir():
        must(["meson", "setup", build, *options], f"{build}.setup.log", **env)


def suite(build, name, **env):
    """The tests of one suite, counted from meson's log."""
    run(["meson", "test", "-C", build, "--suite", name, "--no-rebuild", "--print-errorlogs", "--num-processes", "2",
         "--timeout-multiplier", "4"],
        f"{build}/{name}.log", **env)
    passed = failed = 0
    log = ROOT / build / "meson-logs" / "testlog.json"
    for line in log.read_text().splitlines() if log.exists() else []:
        test = json.loads(line)
        if test["result"] in ("OK", "EXPECTEDFAIL"):
            checks = re.search(r"Checks: (\d+), Failures: 0", test.get("stdout") or "")
            passed += int(checks.group(1)) if checks else 1
        elif test["result"] == "SKIP":
            failed += forbidden([(test["name"].split()[-1], "it said so itself")])
        else:
            failed += 1
    if passed + failed == 0:
        print(f"-- suite {name} of {build} ran no test")
        failed = 1
    return passed, failed


def stage_install():
    found = add(checked(["scripts/install", "build", "demo", "test"], "build-test.install.log"),
                checked(["test/kit/kafka.py", "prepare"], "build-test.kafka.log"))
    # by what was installed; where they cannot be had, their tests are skipped
    run(["test/kit/librdkafka.py", "prepare"], "build-test.librdkafka.log")
    run(["test/kit/registry.py", "prepare"], "build-test.registry.log")
    return found


def stage_build():
    setup(PLAIN, ["-Dtests=true", "-Dhot_asserts=true"])
    setup(ASAN, ["-Dtests=true", "-Dfuzz=true", "-Dhot_asserts=true", "-Dbuildtype=debugoptimized",
                 "-Db_sanitize=address,undefined", "-Db_lundef=false"], CC="clang", CXX="clang++")
    setup(TSAN, ["-Dtests=true", "-Dbuildtype=debugoptimized", "-Db_sanitize=thread", "-Db_lundef=false"])
    return add(checked(["ninja", "-C", PLAIN], f"{PLAIN}/build.log"),
               checked(["ninja", "-C", ASAN], f"{ASAN}/build.log"),
               checked(["ninja", "-C", TSAN, "threads"], f"{TSAN}/build.log"))


def stage_tidy():
    files = subprocess.run(["git", "ls-files", "*.c", "*.h", "*.cc"], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.split()
    return add(checked(["clang-format", "--dry-run", "--Werror", *files], f"{PLAIN}/format.log"),
               checked(["scripts/tidy.py", PLAIN], f"{PLAIN}/tidy.log"),
               driver(["scripts/lint", "--part"], f"{PLAIN}/lint.log"))


def stage_unit():
    return add(suite(PLAIN, "unit"), suite(PLAIN, "kit"))


def stage_sanitize():
    quiet = {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=1", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
             "CK_DEFAULT_TIMEOUT": "120"}
    return add(suite(ASAN, "unit", **quiet), suite(ASAN, "kit", **quiet),
               driver([f"{ASAN}/test/sim/sim", "1", "150"], f"{ASAN}/sim.log", **quiet),
               suite(TSAN, "threads", TSAN_OPTIONS="halt_on_error=1"))


def stage_sim():
    return driver(["scripts/sim", "--ci"], f"{PLAIN}/sim.log")


def stage_crash():
    return add(driver(["scripts/crash", "--ci"], f"{PLAIN}/crash.log"),
               driver(["scripts/kafka-chaos", "--ci"], f"{PLAIN}/chaos.log"))


def stage_jobs():
    return driver(["test/jobs/run.py", PLAIN], f"{PLAIN}/jobs.log")


def stage_fuzz():
    return driver(["scripts/fuzz", "--ci"], f"{PLAIN}/fuzz.log")


STAGES = {name[6:]: fn for name, fn in list(globals().items()) if name.startswith("stage_")}


def budgets():
    lines = (ROOT / "test" / "budget").read_text().splitlines()
    return {f[0]: float(f[1]) for f in (line.split() for line in lines) if len(f) == 2 and f[0] != "#"}


def main(names):
    unknown = [n for n in names if n not in STAGES]
    if unknown:
        print(f"test: no stage {', '.join(unknown)}; there are {', '.join(STAGES)}", file=sys.stderr)
        return 2
    minutes, passed, failed = budgets(), 0, 0
    for name in names or STAGES:
        start = time.monotonic()
        try:
            p, f = STAGES[name]()
        except Failed:
            p, f = 0, 1
        took = (time.monotonic() - start) / 60
        limit = minutes.get(name, 0)
        over = took > limit
        print(f"== {name}: {p} passed, {f} failed, {took:.1f} of {limit:g} minutes{', OVER BUDGET' if over else ''}",
              flush=True)
        passed, failed = passed + p, failed + f + (1 if over else 0)
        if name in ("install", "build") and f:
            break  # nothing behind it can run
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What the end-to-end tests share: a place of their own for each, the binary, waiting for a condition."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test" / "kit"))

import kafka

TESTS = []
SHARED = {}  # by name: what all tests of this run use, closed at its end


class Skipped(Exception):
    """This machine cannot run the test; scripts/test fails all the same unless test/allowed-skips names it."""


def test(fn):
    TESTS.append(fn)
    return fn


class Place:
    """A directory for one test, gone with it; and the binary run from there."""

    def __init__(self, binary):
        self.binary = str(pathlib.Path(binary).resolve())
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sr-"))
        self.children = []
        self.brokers, self.shared = {}, "kafka"
        self.env = {**os.environ, "STREAMRUN_RUN_DIR": str(self.dir / "run"), "XDG_STATE_HOME": str(self.dir / "state"),
                    "HOME": str(self.dir), "STREAMRUN_DEMO_DIR": str(self.dir), "PAGE_HITS_DIR": str(self.dir),
                    "WORDS_DIR": str(self.dir), "PARTS_DIR": str(self.dir), "TOTALS_DIR": str(self.dir), "PACKAGE_LOG": str(self.dir / "dpkg.log*")}
        for name in ("STREAMRUN_CONF_DIR", "TZ"):
            self.env.pop(name, None)

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.wait()
        close_brokers(self.brokers)
        shutil.rmtree(self.dir, ignore_errors=True)

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def job(self, name):
        return str(ROOT / "conf" / "jobs" / name)

    def run(self, *args, stdin=None, env=None, timeout=120):
        return subprocess.run([self.binary, *map(str, args)], cwd=self.dir, env={**self.env, **(env or {})}, input=stdin,
                              stdin=None if stdin is not None else subprocess.DEVNULL, capture_output=True,
                              timeout=timeout)

    def start(self, *args, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        kw.setdefault("stdout", subprocess.PIPE)
        kw.setdefault("stderr", subprocess.PIPE)
        env = {**self.env, **kw.pop("env", {})}
        child = subprocess.Popen([self.binary, *map(str, args)], cwd=self.dir, env=env, **kw)
        self.children.append(child)
        return child

    def kafka(self, settings=None, proxy=None):
        """A real broker that serves. Without settings all tests of this run share it: topics with names of their own,
        and leave it running. With settings (of the broker) it is this test's, and may be killed."""
        try:
            if settings is None and proxy is None and self.shared in SHARED:
                return SHARED[self.shared]
            where = tempfile.mkdtemp(prefix="sr-kafka-")
            broker = kafka.Broker(where, settings, proxy=proxy)
            is_shared = settings is None and proxy is None
            (SHARED if is_shared else self.brokers)[self.shared if is_shared else where] = broker
            broker.open()
            return broker
        except kafka.Missing as why:
            raise Skipped(str(why)) from why

    def status(self, job=None):
        done = self.run("status", "--json", *([job] if job else []))
        return json.loads(done.stdout) if done.returncode == 0 else None


def ok(done, code=0):
    """The command ended with this code; else its words are the failure."""
    assert done.returncode == code, f"exit code {done.returncode}, not {code}\n{done.stdout.decode(errors='replace')[-2000:]}" \
                                    f"\n{done.stderr.decode(errors='replace')[-3000:]}"
    return done


def ended(child, code=0, timeout=60):
    out, err = child.communicate(timeout=timeout)
    return ok(subprocess.CompletedProcess(child.args, child.returncode, out or b"", err or b""), code)


def wait_for(what, condition, seconds=30):
    """Polls until the condition holds, and answers its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError(f"{what}: not within {seconds} s")


def close_brokers(brokers):
    for broker in brokers.values():
        broker.close()
        shutil.rmtree(broker.dir, ignore_errors=True)
    brokers.clear()


def main(binary, names):
    try:
        return run_all(binary, names)
    finally:
        close_brokers(SHARED)


def run_all(binary, names):
    failed = passed = 0
    for fn in TESTS:
        if names and fn.__name__ not in names:
            continue
        place = Place(binary)
        start = time.monotonic()
        try:
            fn(place)
            passed += 1
        except Skipped as why:
            print(f"skipped: {fn.__name__}: {why}", flush=True)
        except Exception:
            failed += 1
            print(f"-- {fn.__name__}\n{traceback.format_exc()}", flush=True)
        finally:
            place.close()
        if time.monotonic() - start > 10:
            print(f"   {fn.__name__} took {time.monotonic() - start:.1f} s", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


SIGTERM, SIGKILL, SIGINT = signal.SIGTERM, signal.SIGKILL, signal.SIGINT

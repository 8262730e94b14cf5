"""What long forms share: a word now and then of how far they are, and a tally when they are cut short.

On SIGINT or SIGTERM a long form ends what it is at, leaves that out, and prints its closing line over what was done before.
"""
import concurrent.futures
import signal
import threading
import time

WORD_EVERY = 30  # seconds
CUT_SHORT = 130  # exit code

_is_cut = threading.Event()


def catch():
    """From the main thread, before anything is begun."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: _is_cut.set())


def is_cut():
    return _is_cut.is_set()


def each(fn, items, workers):
    """As map, on so many threads. Python handles signals in the main thread only, which therefore never waits for long."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(fn, item) for item in items]:
            while not future.done():
                concurrent.futures.wait([future], timeout=0.2)
            yield future.result()


class Progress:
    """Counts from any thread. total 0: nobody knows how many there will be."""

    def __init__(self, name, total=0):
        self.name, self.total, self.done, self.failed = name, total, 0, 0
        self.lock, self.begun = threading.Lock(), time.monotonic()
        self.told = self.begun

    def step(self, is_good=True, count=1, where=""):
        with self.lock:
            self.done, self.failed = self.done + count, self.failed + (not is_good)
            now = time.monotonic()
            if now - self.told < WORD_EVERY:
                return
            self.told = now
            of = f" of {self.total}" if self.total else ""
            print(f"{self.name}: {self.done}{of}, {self.failed} failed, {now - self.begun:.0f} s{where and ', ' + where}", flush=True)


def close(passed, failed):
    """Prints the closing line; the exit code."""
    if is_cut():
        print("cut short: this is what was done until then")
    print(f"{passed} passed, {failed} failed", flush=True)
    if failed or not (passed or is_cut()):
        return 1
    return CUT_SHORT if is_cut() else 0

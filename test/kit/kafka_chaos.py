"""Jobs that read and write a real Kafka broker exactly once, what is done to them, and whether each row is there once."""
import collections
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import kafka
import kafka_proxy as network

ROWS, RATE, HUNG = 2500, 2500, 120
TIMEOUT_MS = 3000  # of a transaction
ABORTS_EACH = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
PHASES = {
    "start": ["store: locked", "store: older attempts sealed", "store: attempt taken", "run: tasks opened"],
    "settle": ["run: settled what was pending", "store: pending dropped", "run: after a restored commit"],
    "prepare": ["run: after a sink prepared", "run: before a task reports saved"],
    "store": ["run: before publish", "store: build directory made", "store: data written", "store: data synced",
              "store: metadata synced", "store: build directory synced", "store: renamed", "store: published"],
    "decide": ["run: after publish", "run: pending was published"],
    "complete": ["run: decided", "store: pending made complete"],
    "show": ["run: after show", "run: after a commit", "run: before retain"],
    "run": ["run: after retain", "store: moved to trash", "store: trash synced", "store: trash removed"],
    "end": ["run: before the end", "store: end marked"],
}
PHASE = {point: phase for phase, points in PHASES.items() for point in points}
OF_DECIDER = ("run: pending was published", "run: decided", "store: pending made complete", "store: pending dropped",
              "run: settled what was pending")  # not passed where rows wait in files
ONCE = ("start", "settle", "end")  # phases that a life passes once
FOREIGN = "holds what this job did not write there"
GONE = "is gone (deleted, or expired)"

CKPT = """pipeline.name: {name}
execution.checkpointing: {{interval: 60 ms, dir: "{dir}/store-{name}"}}
high-availability: {{lease-duration: 500 ms, kill-hung-leader: false}}
poison.max-failures: 0
"""
FROM_FILE = """sources:
  numbers: {{connector: filesystem, path: {dir}/in.csv, format: csv, schema: "n STRING", rate-limit: {rate}}}
"""
FROM_TOPIC = """sources:
  numbers:
    connector: kafka
    topic: {source}
    format: raw
    schema: "n STRING"
    rate-limit: {rate}
    scan.startup.mode: earliest-offset
    scan.bounded.mode: latest-offset
    properties: {{bootstrap.servers: "{broker}"}}
"""
TO_TOPIC = """  out:
    from: numbers
    connector: kafka
    topic: {topic}
    format: raw
    properties: {{bootstrap.servers: "{broker}", transaction.timeout.ms: {timeout}}}
    sink.delivery-guarantee: exactly-once
    exactly-once.method: {method}
    sink.transactional-id-prefix: {name}
"""
TO_FILES = "  copy: {{from: numbers, connector: filesystem, path: {dir}/{files}/, format: csv}}\n"
SHAPES = {  # jobs one behind the other: name's end, text, and where rows must be found
    "file-kafka": [("", CKPT + FROM_FILE + "sinks:\n" + TO_TOPIC + TO_FILES)],
    "kafka-kafka": [("", CKPT + FROM_TOPIC + "sinks:\n" + TO_TOPIC + TO_FILES)],
    "file-kafka-file": [("", CKPT + FROM_FILE + "sinks:\n" + TO_TOPIC), ("-back", CKPT + FROM_TOPIC + "sinks:\n" + TO_FILES)],
}
PLAIN = ["stop", "zombie", "zombie", "broker_kill", "broker_stop", "forget", "forget", "forget_live", "alter", "foreign"]
BY_PROXY = ["cut", "freeze", "slow", "swallow", "swallow", "late", "late"]
ATTACKS = ["point", "kill", *sorted({*PLAIN, *BY_PROXY})]


class Refused(Exception):
    """The job said that it cannot know what was written, which is right after what was done to it."""


class Wrong(AssertionError):
    """Rows are lost, doubled, or out of their order."""


class Field:
    """What all cases share: the broker, the proxy in front of it, random numbers, and what has happened so far."""

    def __init__(self, binary, broker, proxy, r, method):
        self.binary, self.broker, self.proxy, self.r, self.method = binary, broker, proxy, r, method
        self.proxied = 0.6  # of the jobs
        self.log, self.phases, self.points = collections.Counter(), collections.Counter(), collections.Counter()
        self.aims = [p for p in PHASE if p not in ("store: locked", "run: after a restored commit", "store: trash removed")
                     and (method == "decider" or p not in OF_DECIDER)]

    def kills(self):
        return sum(self.phases.values())

    def rarest(self):
        """The phase that was hit least, and whether that is too little."""
        least = min(sorted({PHASE[p] for p in self.aims}), key=lambda p: self.phases[p])
        return least, self.phases[least] * 16 < self.kills()

    def point(self):
        least, is_rare = self.rarest()
        is_aimed = is_rare or self.r.random() < 0.3
        point = self.r.choice([p for p in self.aims if not is_aimed or PHASE[p] == least])
        return f"{point}:{1 if PHASE[point] in ONCE else self.r.choice((1, 1, 2, 3, 5))}"


class Case:
    """One job or two, to their end, with the attacks on the way."""

    def __init__(self, field, number, shape):
        self.f, self.r, self.log, self.broker, self.shape = field, field.r, field.log, field.broker, shape
        self.name = f"chaos{number}"
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sr-chaos-"))
        self.proxy = field.proxy if self.r.random() < field.proxied else None
        self.is_tampered, self.said_from = False, 0
        self.broker.create(self.name, 2)
        self._input()
        self.jobs = [self._job(*stage) for stage in SHAPES[shape]]

    def _input(self):
        if self.shape != "kafka-kafka":
            (self.dir / "in.csv").write_text("".join(f"{i}\n" for i in range(ROWS)))
            return
        self.broker.create(self.name + "-in", 2)
        rows = []
        for i in range(ROWS):
            rows.append({"value": str(i), "partition": i % 2})
            if i % 500 == 499:  # with aborted ones between them, which nobody must see
                rows += [{"transaction": "commit"}, {"value": "-1", "partition": 0}, {"value": "-1", "partition": 1},
                         {"transaction": "abort"}]
        self.broker.put(self.name + "-in", rows, f"transactional.id={self.name}-in")

    def _job(self, end, text):
        path = self.dir / f"job{end}.yaml"
        bootstrap = (self.proxy or self.broker).bootstrap
        path.write_text(text.format(name=self.name + end, dir=self.dir, rate=RATE, broker=bootstrap, timeout=TIMEOUT_MS,
                                    method=self.f.method, topic=self.name, files="back" if end else "copy",
                                    source=self.name if end else self.name + "-in"))
        return path

    # --- A life --------------------------------------------------------------------------------------

    def start(self, at=None, how="--continue"):
        env = {**os.environ, "STREAMRUN_RUN_DIR": str(self.dir / "run"), "STREAMRUN_REHEARSE_TRACE": str(self.dir / "trace")}
        if at:
            env["STREAMRUN_REHEARSE"] = at
        self.said_from = len(self.said())
        return subprocess.Popen([self.f.binary, "run", str(self.jobs[0]), how, "-p", str(self.r.choice((1, 2))),
                                 "-D", "log.level=INFO"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=open(self.dir / "err", "ab"))

    def said(self, begin=0):
        return (self.dir / "err").read_text(errors="replace")[begin:] if (self.dir / "err").exists() else ""

    def waits(self, child, seconds):
        try:
            return child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def hit(self):
        trace = self.dir / "trace"
        point = trace.read_text().split("\n")[0].strip("\0") if trace.exists() else ""
        self.f.phases[PHASE.get(point, "start")] += 1
        self.f.points[point] += 1

    def kill(self, child):
        child.kill()
        child.wait()
        self.hit()

    def is_over(self, code):
        """A life ended by itself: was it the last one?"""
        if code == 0:
            self.jobs.pop(0)
            return not self.jobs
        said = self.said(self.said_from)
        if self.is_tampered and FOREIGN in said and self.f.method == "decider":
            self.forget()  # as the sentence advises
            self.log["foreign offset refused, the group deleted"] += 1
            return False
        if self.is_tampered and (FOREIGN in said or GONE in said) and self.f.method == "redo":
            raise Refused
        raise AssertionError(f"exit code {code}: {said[-300:]}")

    def attack(self, kind):
        """One life, cut short. True: all came to its end all the same."""
        point = None
        if kind in ("point", "stop", "zombie", "forget"):
            point = self.f.point()
            if kind in ("stop", "zombie", "forget") and self.f.method == "decider" and self.r.random() < 0.5:
                point = f"{self.r.choice(OF_DECIDER[:2])}:{self.r.choice((1, 2, 3))}"
            if kind in ("stop", "zombie"):
                point += ":stop"
        if kind == "late":
            self.proxy.hold(self.r.choice((1, 2, 3, 4)))
        child = self.start(point)
        code = self.waits(child, 3 if kind == "point" else 0.05 + self.r.random() * (1.4 if point else 1.0))
        if code == -signal.SIGKILL:
            self.hit()
        elif code is not None:
            return self.is_over(code)
        try:
            return self.goes_on(getattr(self, "do_" + kind)(child)) if code is None else self._afterwards(kind)
        finally:
            child.kill()
            child.wait()

    def _afterwards(self, kind):
        if kind == "forget":
            self.forget()
        return False

    def goes_on(self, code):
        return self.is_over(code) if code not in (None, -signal.SIGKILL) else False

    def lives(self, child, seconds=1.0):
        """On for a while, then killed. Its exit code, when it ended before that."""
        code = self.waits(child, seconds)
        if code is None:
            self.kill(child)
        return code

    # --- Attacks -------------------------------------------------------------------------------------

    def do_kill(self, child):
        self.kill(child)

    do_point = do_kill

    def do_stop(self, child):
        """Longer than its transaction may be open, then on for a while."""
        child.send_signal(signal.SIGSTOP)
        time.sleep(TIMEOUT_MS / 1000 + int(self.broker.settings[ABORTS_EACH]) / 1000 + 0.5)
        child.send_signal(signal.SIGCONT)
        self.log["stopped beyond the time-out"] += 1
        return self.lives(child, 0.5)

    def do_zombie(self, child):
        """Another process takes over while this one is stopped, which then wakes."""
        child.send_signal(signal.SIGSTOP)
        second = self.start(how="--standby")
        try:
            self.waits(second, 1.2 + self.r.random())
            child.send_signal(signal.SIGCONT)
            self.log["zombies"] += 1
            self.waits(child, 0.5 + self.r.random())
        finally:
            second.kill()
            second.wait()

    def do_broker_kill(self, child):
        self.broker.kill()
        self.broker.settings[ABORTS_EACH] = self.r.choice(("20", "200", "500"))
        self.broker.start()
        self.log["broker killed"] += 1
        return self.lives(child)

    def do_broker_stop(self, child):
        self.broker.pause()
        time.sleep(self.r.choice((1, TIMEOUT_MS / 1000 + 1)))
        self.broker.resume()
        self.log["broker stopped"] += 1
        return self.lives(child)

    def do_forget(self, child):
        self.kill(child)
        self.forget()

    def do_forget_live(self, child):
        self.forget()
        return self.lives(child)

    def do_alter(self, child):
        """Somebody resets the group that holds the marker, while the job runs or after it."""
        if self.r.random() < 0.5:
            self.kill(child)
        for group in self.groups():
            with contextlib.suppress(AssertionError):
                self.broker.group_alter(group, self.name, 0, self.r.randrange(100))
                self.is_tampered = True
                self.log["marker overwritten"] += 1
        return self.lives(child) if child.poll() is None else None

    def do_foreign(self, child):
        """A consumer of others becomes a member of the marker's group, commits its positions, and leaves."""
        for group in self.groups()[:1]:
            self.is_tampered = True
            self.broker.join(group, self.name, 2)
            self.log["foreign member of the marker's group"] += 1
        return self.lives(child, 0.5)

    def do_cut(self, child):
        self.proxy.cut()
        code = self.waits(child, self.r.choice((0.3, 1, TIMEOUT_MS / 1000 + 1)))
        self.proxy.heal()
        self.log["network cut"] += 1
        return self.lives(child) if code is None else code

    def do_freeze(self, child):
        self.proxy.freeze()
        code = self.waits(child, self.r.choice((0.5, 1.5, TIMEOUT_MS / 1000 + 1)))
        self.proxy.heal()
        self.log["network frozen"] += 1
        return self.lives(child) if code is None else code

    def do_slow(self, child):
        self.proxy.slow(self.r.choice((0.005, 0.03, 0.15)))
        code = self.lives(child, 2)
        self.proxy.heal()
        self.log["network slow"] += 1
        return code

    def do_swallow(self, child):
        before = self.proxy.swallowed
        for request in self.r.sample(sorted(network.FLEXIBLE), 2):
            self.proxy.swallow(request)
        code = self.lives(child, 2)
        self.proxy.heal()
        self.log["answers lost"] += self.proxy.swallowed - before
        return code

    def do_late(self, child):
        """A request to commit is held back, and arrives in a later transaction."""
        before, code, end = len(self.proxy.late), None, time.monotonic() + 2.5
        while code is None and len(self.proxy.late) == before and time.monotonic() < end:
            code = self.waits(child, 0.01)
        if code is None:
            code = self.lives(child, self.r.choice((0, 0.02, 0.5)))
        self.proxy.release()
        self.proxy.heal()
        for error in self.proxy.late[before:]:
            self.log[f"commits that came late: error {error}"] += 1
        return code

    # --- The marker ----------------------------------------------------------------------------------

    def groups(self):
        """Those with markers of this job. A broker that was just started may not know them yet."""
        for _ in range(100):
            with contextlib.suppress(AssertionError):
                return [group for group in self.broker.groups() if group.startswith(self.name + "-")]
            time.sleep(0.1)
        raise AssertionError("the broker does not tell its groups")

    def forget(self):
        for group in self.groups():
            with contextlib.suppress(AssertionError):  # it may have a member
                self.broker.group_delete(group)
                self.is_tampered = True
                self.log["marker deleted"] += 1

    # --- The end -------------------------------------------------------------------------------------

    def finish(self):
        if self.proxy:
            self.proxy.release()
            self.proxy.heal()
        for _ in range(6):
            child = self.start()
            code = self.waits(child, HUNG)
            if code is None:
                child.send_signal(signal.SIGQUIT)
                child.kill()
                child.wait()
                raise AssertionError(f"the last life did not end in {HUNG} s")
            if self.is_over(code):
                return
        raise AssertionError("there is no end of it")

    def check(self, is_whole=True):
        """Each number once, and those of one partition in their order."""
        got = collections.defaultdict(list)
        for record in self.broker.dump(self.name):
            n = int(record["value"])
            got[record["partition"], n % 2 if self.shape == "kafka-kafka" else 0].append(n)
        found = {"topic": [n for part in got.values() for n in part]}
        for kind in ("copy", "back"):
            if (self.dir / kind).exists():
                found[kind] = [int(n) for f in (self.dir / kind).glob("[!.]*") for n in f.read_text().split()]
        faults = [f"partition {partition} is out of order" for (partition, _), numbers in got.items() if numbers != sorted(numbers)]
        for what, numbers in found.items():
            assert set(numbers) <= set(range(ROWS)), f"{what}: rows that were never written"
            lost, doubled = ROWS - len(set(numbers)), len(numbers) - len(set(numbers))
            self.log["rows lost"] += lost if is_whole else 0
            self.log["rows doubled"] += doubled
            if doubled or (lost and is_whole):
                faults.append(f"{what}: {lost} rows lost, {doubled} doubled")
        if faults:
            raise Wrong(", ".join(faults))
        assert not is_whole or len(found) == 2, f"only {sorted(found)} there"

    def is_spoiled(self):
        """The broker itself left out markers of this job's transactions, as it says in its log: of one that was committed too,
        which nobody can tell from one that was not."""
        return re.search(rf"Couldn't find leader endpoint .*{self.name}-", self.broker.log()) is not None

    def close(self, is_good):
        for fate in re.findall(r"was pending: its transaction was (committed|not committed)", self.said()):
            self.log[f"pending, {fate}"] += 1
        if is_good:
            shutil.rmtree(self.dir)

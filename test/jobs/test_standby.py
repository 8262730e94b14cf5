"""Processes that stand by: they take a job over when its leader dies or hangs, and nothing is lost or doubled."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import time

from harness import SIGTERM, Place, ended, ok, test, wait_for

JOB = """pipeline.name: led
execution.checkpointing: {interval: 20 ms, dir: "STORE"}
restart-strategy.type: none
high-availability.lease-duration: LEASE
sources:
  events: {connector: filesystem, path: in, format: csv, schema: {id: BIGINT}, rate-limit: RATE}
sinks:
  out: {from: events, SINK, sink.delivery-guarantee: exactly-once}
"""
FILES = "connector: filesystem, path: out/, format: csv"
TABLE = "connector: sqlite, path: out.sqlite, table-name: t"
STORES = {"directory": "file://{}/store", "sqlite": "sqlite://{}/store.db"}


def write_job(p, rows=2000, rate=2000, store="directory", sink=FILES, lease="1 min"):
    p.write("in/a.csv", "".join(f"{i}\n" for i in range(rows)))
    text = JOB.replace("STORE", STORES[store].format(p.dir)).replace("RATE", str(rate)).replace("SINK", sink)
    return p.write("job.yaml", text.replace("LEASE", lease))


def written(p, sink):
    if sink == FILES:
        return sorted(int(x) for f in (p.dir / "out").glob("part-*") for x in f.read_text().splitlines())
    with sqlite3.connect(p.dir / "out.sqlite") as db:
        return sorted(row[0] for row in db.execute("select id from t"))


def states(p):
    return {j["jid"]: j["state"] for j in json.loads(ok(p.run("list", "--json")).stdout)}


def stand_by(p, job, *more):
    child = p.start("run", "--standby", job, *more)
    wait_for("it stands by", lambda: any(k.endswith(f".standby-{child.pid}") for k in states(p)))
    return child


def lead(p, job):
    child = p.start("run", "--standby", job)
    leads(p, child)
    return child


def leads(p, child, seconds=30):
    def asked():
        status = p.status("led")
        return status if status and status["pid"] == child.pid and status["state"] == "RUNNING" else None
    return wait_for("it leads", asked, seconds)


def holder(p):
    """Who has the lock: a leader that is stopped answers nothing."""
    for path in [*p.dir.glob("store/*/LOCK"), *p.dir.glob("store.db.lock")]:
        words = path.read_text().split()
        return int(words[1]) if len(words) > 1 else None


def seized(p, child):
    wait_for("it has the lock", lambda: holder(p) == child.pid)
    return leads(p, child)


def checkpoints(p, least):
    wait_for("checkpoints", lambda: (p.status("led") or {"checkpoints": {"completed": 0}})["checkpoints"]["completed"] >= least)


def killed_with(binary, store, sink):
    """Seconds from the leader's death until another process leads."""
    p = Place(binary)
    try:
        job = write_job(p, rows=4000, store=store, sink=sink)
        leader = lead(p, job)
        other = stand_by(p, job)
        checkpoints(p, 3)
        start = time.monotonic()
        leader.kill()
        status = leads(p, other)
        took = time.monotonic() - start
        assert status["checkpoints"]["restored"] > 0, status
        assert b"taking over job 'led'" in ended(other).stderr
        assert written(p, sink) == list(range(4000)), (store, sink)
        return took
    finally:
        p.close()


@test
def a_standby_takes_over_when_the_leader_is_killed(p):
    cases = [(store, sink) for store in STORES for sink in (FILES, TABLE)]
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        times = list(pool.map(lambda c: killed_with(p.binary, *c), cases))
    print(f"   takeover after kill -9: {', '.join(f'{1000 * t:.0f} ms' for t in times)}")
    assert max(times) < 1, times


# where a leader is stopped: between any two steps of a checkpoint. Not where it may be within a transaction of SQLite, on
# whatever thread: then nobody gets at the file until it goes on, or is killed
POINTS = [("directory", FILES, point) for point in (
    "run: before a task reports saved", "run: after a sink prepared", "run: before publish", "store: build directory made",
    "store: data synced", "store: build directory synced", "store: renamed", "store: published", "run: after show",
    "run: after a commit", "store: moved to trash")]
POINTS += [("sqlite", FILES, point) for point in ("run: before publish", "store: published", "run: before retain")]
POINTS += [("directory", TABLE, point) for point in ("run: after a sink prepared", "run: after a commit")]


def stopped_at(binary, n):
    """A leader stops at the n-th of these points, is taken over, goes on, and must do no harm."""
    p, (store, sink, point) = Place(binary), POINTS[n]
    try:
        job = write_job(p, rows=800, rate=800, store=store, sink=sink, lease="500 ms")
        p.write("job.yaml", pathlib.Path(job).read_text() + "high-availability.kill-hung-leader: false\n")
        leader = p.start("run", "--standby", job, env={"STREAMRUN_REHEARSE": f"{point}:4:stop"})
        wait_for("it has the lock", lambda: holder(p) == leader.pid)
        other = p.start("run", "--standby", job)
        wait_for("the other has the lock", lambda: holder(p) == other.pid)
        wait_for("it goes on", lambda: other.poll() is not None or (p.status("led") or {"checkpoints": {"completed": 0}})["checkpoints"]["completed"] > 1)
        leader.send_signal(signal.SIGCONT)
        done = ended(leader, 5)
        assert b"another process has taken over" in done.stderr or b"was taken over" in done.stderr, (point, done.stderr)
        assert b"did not move for 500 ms: its lock was seized" in ended(other).stderr, point
        assert written(p, sink) == list(range(800)), (point, store, sink)
    finally:
        p.close()


@test
def a_leader_that_was_stopped_commits_nothing_after_the_takeover(p):
    with concurrent.futures.ThreadPoolExecutor(7) as pool:
        list(pool.map(lambda n: stopped_at(p.binary, n), range(len(POINTS))))


@test
def a_leader_that_hangs_on_this_machine_is_killed(p):
    job = write_job(p, store="sqlite", sink=TABLE, lease="500 ms")
    leader = p.start("run", "--standby", job, env={"STREAMRUN_REHEARSE": "store: rows inserted:4:stop"})
    wait_for("it has the lock", lambda: holder(p) == leader.pid)
    other = p.start("run", "--standby", job)
    assert f"its process {leader.pid} was killed".encode() in ended(other).stderr
    assert leader.wait() == -9 and written(p, TABLE) == list(range(2000))


@test
def twenty_takeovers_in_a_row_lose_and_double_nothing(p):
    job = write_job(p, rows=100000, rate=1500, lease="500 ms")  # it lasts longer than the takeovers
    now, waiting, stopped = lead(p, job), [stand_by(p, job), stand_by(p, job)], []
    for n in range(20):
        checkpoints(p, 1)
        if n % 5 == 4:
            now.send_signal(signal.SIGSTOP)
            stopped.append(now)
        else:
            now.kill()
        now = wait_for("another one leads", lambda: next((c for c in waiting if holder(p) == c.pid), None))
        leads(p, now)
        waiting.remove(now)
        if n < 18:
            waiting.append(stand_by(p, job))
    assert [child.wait() for child in stopped] == [-9] * 4  # they hung on this machine
    checkpoints(p, 1)
    ok(p.run("stop", "led", "--dir", "sp"))
    ended(now)
    rows = written(p, FILES)
    assert rows and rows == list(range(len(rows)))


@test
def those_who_stand_by_end_with_the_job(p):
    job = write_job(p, rate=300)
    for command, code in ((["cancel", "led"], 0), (["stop", "led", "--dir", "sp"], 0)):
        leader = lead(p, job)
        others = [stand_by(p, job), stand_by(p, job)]
        ok(p.run(*command))
        leader.wait()
        for other in others:
            assert b"nothing to stand by for" in ended(other, code).stderr
    leader = lead(p, write_job(p, rows=300, rate=300))
    other = stand_by(p, job)
    ended(leader)
    assert b"(finished)" in ended(other).stderr


@test
def a_suspended_leader_is_followed(p):
    job = write_job(p, rate=1000)
    leader, other = lead(p, job), None
    other = stand_by(p, job)
    checkpoints(p, 2)
    leader.send_signal(SIGTERM)
    ended(leader, 9)
    leads(p, other)
    ended(other)
    assert written(p, FILES) == list(range(2000))


@test
def a_standby_is_seen_and_can_be_ended_alone(p):
    job = write_job(p, rate=300)
    leader = lead(p, job)
    one, two = stand_by(p, job), stand_by(p, job)
    job_id = p.status("led")["jid"]
    seen = states(p)
    assert seen[job_id] == "RUNNING" and sorted(seen.values()) == ["RUNNING", "STANDBY", "STANDBY"], seen
    assert b"2 processes stand by" in ok(p.run("status")).stdout
    one.send_signal(SIGTERM)
    ended(one)
    ok(p.run("cancel", f"{job_id}.standby-{two.pid}"))
    ended(two)
    assert list(states(p).values()) == ["RUNNING"]
    leader.kill()
    leader.wait()
    ok(p.run("run", "--standby", "--fresh", job), 2)
    text = pathlib.Path(job).read_text().replace("STORE", "x")
    memory = p.write("memory.yaml", text.replace("sink.delivery-guarantee: exactly-once", "format: csv").replace(", format: csv, format", ", format"))
    assert b"die with the process" in ok(p.run("run", "--standby", memory, "-D", "execution.checkpointing.storage=jobmanager"), 2).stderr


@test
def a_standby_in_the_background_is_detached_once_it_waits(p):
    job = write_job(p, rate=1000)
    leader = lead(p, job)
    other = ok(p.run("run", "-d", "--standby", job)).stdout.decode().strip()
    assert any(k.startswith(other + ".standby-") for k in states(p))
    leader.kill()
    wait_for("it leads", lambda: (p.status("led") or {}).get("pid", leader.pid) != leader.pid)
    wait_for("its end", lambda: not p.status("led"))
    assert written(p, FILES) == list(range(2000))


@test
def an_edited_job_takes_over_if_its_state_fits(p):
    job = write_job(p, rate=300)
    leader = lead(p, job)
    checkpoints(p, 1)
    edited = p.write("edited.yaml", pathlib.Path(job).read_text().replace("  out:", "  other:"))
    other = stand_by(p, edited)
    leader.kill()
    done = ended(other, 4)
    assert b"runs another edition of the job" in done.stderr and b"'out'" in done.stderr, done.stderr


@test
def who_deletes_a_checkpoint_of_a_finished_job_leaves_it_finished(p):
    for store in STORES:
        shutil.rmtree(p.dir / "out", ignore_errors=True)
        job = write_job(p, rows=2000, rate=2000, store=store)
        first = lead(p, job)
        first.send_signal(signal.SIGSTOP)  # it does not end before the other one waits
        second = p.start("run", "--standby", job)
        wait_for("it stands by", lambda: [*(p.dir / "run").glob(f"*.standby-{second.pid}*")])
        second.send_signal(signal.SIGSTOP)
        first.send_signal(signal.SIGCONT)
        ended(first)
        place = STORES[store].format(p.dir).split("://")[1]
        newest = json.loads(ok(p.run("checkpoints", "list", "--json", place)).stdout)[-1]
        ok(p.run("checkpoints", "delete", newest["path"]))
        second.send_signal(signal.SIGCONT)
        done = ended(second)
        assert b"the job has ended (finished)" in done.stderr, done.stderr
        assert written(p, FILES) == list(range(2000))

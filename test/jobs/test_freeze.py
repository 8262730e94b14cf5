"""Keyed state is saved while rows go on: checkpoints are of one moment, and a status tells their phases."""
import collections
import random
import sqlite3

from harness import SIGKILL, ended, ok, test, wait_for

JOB = """pipeline.name: frozen
execution.checkpointing: {interval: 10 ms, max-concurrent-checkpoints: 2, dir: "STORE"}
sources:
  events: {connector: filesystem, path: in, format: csv, rate-limit: 60000, schema: {k: STRING, v: BIGINT, t: STRING}}
transforms:
  sums: {from: events, group-by: [k], select: [k, COUNT(*) AS n, SUM(v) AS s, MAX(t) AS t]}
sinks:
  out: {from: sums, connector: sqlite, path: out.sqlite, table-name: sums, primary-key: [k]}
"""


def rows(p, count, keys):
    """Rows to files, and what must become of them; texts of changing length, so that they move."""
    r = random.Random(count)
    (p.dir / "in").mkdir()
    sums = collections.defaultdict(lambda: [0, 0, ""])
    files = [open(p.dir / "in" / f"{i}.csv", "w") for i in range(3)]
    for i in range(count):
        k, text = f"key-{r.randrange(keys)}", "x" * r.randrange(1, 90) + str(i)
        files[i % 3].write(f"{k},{i},{text}\n")
        one = sums[k]
        one[0], one[1], one[2] = one[0] + 1, one[1] + i, max(one[2], text)
    for f in files:
        f.close()
    return {k: tuple(one) for k, one in sums.items()}


def completed(p):
    state = p.status()
    state = state[0] if isinstance(state, list) and state else state
    return state["checkpoints"]["completed"] if state else 0


@test
def kills_while_state_is_saved_beside_the_rows_change_no_answer(p):
    expect = rows(p, 60_000, 5_000)
    for store in (f"sqlite://{p.dir}/store.db", f"file://{p.dir}/store"):
        job = p.write("job.yaml", JOB.replace("STORE", store))
        (p.dir / "out.sqlite").unlink(missing_ok=True)
        for parallelism in (1, 3, 2):
            child = p.start("run", job, "--continue", "-p", str(parallelism))
            wait_for("checkpoints", lambda: completed(p) >= 3 or child.poll() is not None)
            child.kill()  # or it was through before
            child.communicate()
        ok(p.run("run", job, "--continue", "-p", "2"))
        with sqlite3.connect(p.dir / "out.sqlite") as db:
            got = {k: (n, s, t) for k, n, s, t in db.execute("select k, n, s, t from sums")}
        assert got == expect, f"{len(got)} keys, not {len(expect)}; {[k for k in got if got[k] != expect[k]][:3]}"


@test
def status_tells_the_phases_of_the_last_checkpoint(p):
    rows(p, 60_000, 5_000)
    child = p.start("run", p.write("job.yaml", JOB.replace("STORE", f"file://{p.dir}/store")))

    wait_for("a checkpoint", lambda: completed(p) > 1)
    state = p.status()
    phases = (state[0] if isinstance(state, list) else state)["checkpoints"]["last-phases"]
    assert set(phases) == {"alignment_duration", "sync_duration", "async_duration", "store_duration", "show_duration"}, phases
    assert phases["store_duration"] > 0 and all(ms >= 0 for ms in phases.values()), phases
    child.send_signal(SIGKILL)
    ended(child, -9)

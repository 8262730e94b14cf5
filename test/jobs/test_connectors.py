"""Connectors as people use them: what a sink writes and a source reads, also behind kill -9."""
import collections
import random
import sqlite3

from harness import SIGKILL, ok, test, wait_for


def rows_of(database, query):
    with sqlite3.connect(database) as db:
        return sorted(db.execute(query).fetchall())


UPSERT = """pipeline.name: upsert
parallelism.default: 3
execution.checkpointing: {interval: 10ms, dir: "file://%(dir)s/store"}
restart-strategy.type: none
sources:
  events:
    connector: filesystem
    path: in
    format: csv
    rate-limit: %(rate)d
    schema: {id: BIGINT, name: STRING, amount: BIGINT}
transforms:
  totals:
    from: events
    group-by: [name]
    select: [name, COUNT(*) AS n, SUM(amount) AS total]
sinks:
  out:
    from: totals
    connector: sqlite
    path: out.sqlite
    table-name: totals
    primary-key: [name]
    sink.delivery-guarantee: exactly-once
"""


def upsert_input(p, rows, seed):
    r, expect = random.Random(seed), collections.defaultdict(lambda: [0, 0])
    lines = []
    for i in range(rows):
        name, amount = f"n{r.randrange(200)}", r.randrange(-50, 50)
        lines.append(f"{i},{name},{amount}\n")
        expect[name][0] += 1
        expect[name][1] += amount
    for k in range(5):
        p.write(f"in/{k}.csv", "".join(lines[k::5]))
    return sorted((name, n, total) for name, (n, total) in expect.items())


@test
def updating_results_replace_rows_by_primary_key(p):
    expect = upsert_input(p, 20000, 1)
    job = p.write("job.yaml", UPSERT % {"dir": p.dir, "rate": 10000000})
    ok(p.run("run", job))
    assert rows_of(p.dir / "out.sqlite", "select * from totals") == expect


@test
def updating_results_survive_kills(p):
    expect = upsert_input(p, 6000, 2)
    job = p.write("job.yaml", UPSERT % {"dir": p.dir, "rate": 12000})
    for parallelism in (3, 2, 4):
        child = p.start("run", job, "--continue", "-p", parallelism)
        wait_for("a few rows", lambda: (p.dir / "out.sqlite").exists() and child.poll() is None
                 and (p.status("upsert") or {}).get("state"))
        child.send_signal(SIGKILL)
        child.wait()
    ok(p.run("run", job, "--continue"))
    assert rows_of(p.dir / "out.sqlite", "select * from totals") == expect


@test
def updating_results_need_a_key(p):
    upsert_input(p, 10, 3)
    job = p.write("job.yaml", UPSERT.replace("    primary-key: [name]\n", "") % {"dir": p.dir, "rate": 100})
    done = ok(p.run("run", job), 3)
    assert b"primary-key" in done.stderr, done.stderr

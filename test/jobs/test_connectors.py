"""Connectors as people use them: what a sink writes and a source reads, also behind kill -9."""
import base64
import collections
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys

from harness import SIGKILL, SIGTERM, ended, ok, test, wait_for


def rows_of(database, query):
    with sqlite3.connect(database) as db:
        return sorted(db.execute(query).fetchall())


def completed(p, job=None):
    """Checkpoints that the running job has taken; 0: it does not answer."""
    return ((p.status(job) or {}).get("checkpoints") or {}).get("completed", 0)


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


PARTED = """execution.checkpointing: {interval: 10ms, dir: "file://%(dir)s/store"}
sources:
  events:
    connector: filesystem
    path: in.csv
    format: csv
    csv.null-literal: "NULL"
    schema: {v: INT, d: DATE, ts: TIMESTAMP(3), dc: "DECIMAL(10, 2)", b: BOOLEAN, s: STRING}
sinks:
  out:
    from: events
    connector: filesystem
    path: out/
    format: csv
    partition-keys: [d, ts, dc, b, s]
    sink.partition-commit.policy.kind: success-file
"""


@test
def partitions_are_named_as_flink_names_them(p):
    """Names that Flink 2.3 gave for these values; but DATE, which it writes as a number that it cannot read back."""
    p.write("in.csv", "1,2026-01-31,2026-01-31 10:00:00.123,1.50,true,\"a b/c=d:é%\"\"#'*?\\{}[]^|<>!$&~ü,;@`\"\n"
                      "2,2026-01-31,2026-01-31 10:00:00,NULL,NULL,\n"
                      "3,NULL,2026-01-31 10:00:00.120,100,false, \n"
                      "4,NULL,2026-01-31 10:00:01,100,false,\t\x7f.\n")
    job = p.write("job.yaml", PARTED % {"dir": p.dir})
    ok(p.run("run", job))
    none = "__DEFAULT_PARTITION__"
    expect = {
        "d=2026-01-31/ts=2026-01-31T10%3A00%3A00.123/dc=1.50/b=true/"
        "s=a b%2Fc%3Dd%3Aé%25%22%23%27%2A%3F%5C%7B%7D%5B%5D%5E|<>!$&~ü,;@`": "1\n",
        f"d=2026-01-31/ts=2026-01-31T10%3A00/dc={none}/b={none}/s={none}": "2\n",
        f"d={none}/ts=2026-01-31T10%3A00%3A00.120/dc=100.00/b=false/s= ": "3\n",
        f"d={none}/ts=2026-01-31T10%3A00%3A01/dc=100.00/b=false/s=%09%7F.": "4\n",
    }
    found = {str(f.parent.relative_to(p.dir / "out")): f.read_text() for f in (p.dir / "out").rglob("part-*")}
    assert found == expect, found
    marks = {str(f.parent.relative_to(p.dir / "out")) for f in (p.dir / "out").rglob("_SUCCESS")}
    assert marks == set(expect), marks


@test
def partitions_survive_kills(p):
    rows = 4000
    p.write("in/a.csv", "".join(f"{i},{i % 60},x{i}\n" for i in range(rows)))
    job = p.write("job.yaml", f"""pipeline.name: parted
execution.checkpointing: {{interval: 10ms, dir: "sqlite://{p.dir}/store.db"}}
restart-strategy.type: none
sources:
  events: {{connector: filesystem, path: in, format: csv, rate-limit: 8000, schema: {{id: INT, k: INT, t: STRING}}}}
sinks:
  out:
    from: events
    connector: filesystem
    path: out/
    format: csv
    partition-keys: [k]
    compression: zstd
    sink.rolling-policy.file-size: 4 kb
    sink.delivery-guarantee: exactly-once
""")
    for i in range(3):
        child = p.start("run", job, "--continue")
        wait_for("checkpoints", lambda: child.poll() is not None
                 or completed(p, "parted") >= 3 + i)
        child.send_signal(SIGKILL)
        child.wait()
    ok(p.run("run", job, "--continue"))
    found = []
    for f in (p.dir / "out").glob("k=*/*.zst"):
        text = ok(subprocess.run(["zstd", "-dc", f], capture_output=True)).stdout.decode()
        found += [(int(line.split(",")[0]), f.parent.name) for line in text.splitlines()]
    assert sorted(found) == [(i, f"k={i % 60}") for i in range(rows)], len(found)
    assert not list((p.dir / "out").glob(".*"))


LATE = """execution.checkpointing: {interval: 10ms, dir: "file://%(dir)s/store"}
sources:
  events:
    connector: stdin
    format: csv
    schema: {id: INT, dt: STRING, ts: TIMESTAMP(3)}
    watermark: ts AS ts
sinks:
  out:
    from: events
    connector: filesystem
    path: out
    format: csv
    partition-keys: [dt]
    sink.partition-commit.policy.kind: success-file
    sink.partition-commit.trigger: partition-time
    sink.partition-commit.delay: 1d
"""


@test
def a_partition_is_committed_once_its_time_is_over(p):
    job = p.write("job.yaml", LATE % {"dir": p.dir})
    child = p.start("run", job, stdin=subprocess.PIPE)
    mark = p.dir / "out" / "dt=2026-01-01" / "_SUCCESS"

    def send(text):
        child.stdin.write(text.encode())
        child.stdin.flush()

    def parts():
        return [f.read_text() for f in sorted((p.dir / "out" / "dt=2026-01-01").glob("part-*"))]

    send("1,2026-01-01,2026-01-01 10:00:00\n2,2026-01-01,2026-01-01 23:59:59\n")
    wait_for("the rows", lambda: "".join(parts()).count("\n") == 2)
    assert not mark.exists()
    send("3,2026-01-02,2026-01-02 00:00:00.001\n")
    wait_for("the success file", mark.exists)
    mark.unlink()
    send("4,2026-01-01,2026-01-01 10:00:00\n")  # late: its partition is committed again
    wait_for("the success file, again", mark.exists)
    assert "".join(parts()).splitlines()[-1].startswith("4,"), parts()
    child.stdin.close()
    child.stdin = None
    ended(child)
    assert (p.dir / "out" / "dt=2026-01-02" / "_SUCCESS").exists()


PLAIN = """sources:
  events: {connector: filesystem, path: in.csv, format: csv, schema: {a: INT, b: STRING}}
sinks:
  out: {from: events, connector: filesystem, path: %s, format: csv, csv.write-header: true}
"""


@test
def a_plain_file_is_compressed_as_its_name_says(p):
    p.write("in.csv", "1,x\n2,y\n")
    for name, command in (("o.csv.gz", "gzip"), ("o.csv.zst", "zstd")):
        ok(p.run("run", p.write("job.yaml", PLAIN % name)))
        out = ok(subprocess.run([command, "-dc", p.dir / name], capture_output=True)).stdout
        assert out == b"a,b\n1,x\n2,y\n", out


@test
def a_file_behind_a_link_keeps_place_and_mode(p):
    p.write("in.csv", "1,x\n")
    (p.dir / "real").mkdir()
    target = p.dir / "real" / "o.csv"
    target.write_text("old\n")
    target.chmod(0o640)
    (p.dir / "link.csv").symlink_to("real/o.csv")
    ok(p.run("run", p.write("job.yaml", PLAIN % "link.csv")))
    assert (p.dir / "link.csv").is_symlink() and target.read_text() == "a,b\n1,x\n"
    assert target.stat().st_mode & 0o7777 == 0o640


@test
def two_sinks_do_not_write_one_file(p):
    p.write("in.csv", "1,x\n")
    text = PLAIN % "o.csv"
    done = ok(p.run("run", p.write("job.yaml", text + text.splitlines()[-1].replace("out:", "b:") + "\n")), 3)
    assert b"both write" in done.stderr, done.stderr


@test
def the_directory_may_vanish_between_two_checkpoints(p):
    """A partition's directory that somebody takes away is made again; no row of others is lost."""
    job = p.write("job.yaml", LATE.replace("partition-time", "process-time").replace("delay: 1d", "delay: 0s")
                  % {"dir": p.dir})
    child = p.start("run", job, stdin=subprocess.PIPE)
    where = p.dir / "out" / "dt=1"
    for i in range(2):
        child.stdin.write(f"{i},1,2026-01-01 10:00:00\n".encode())
        child.stdin.flush()
        wait_for("a part", lambda: any(where.glob("part-*")) and (where / "_SUCCESS").exists())
        seen = completed(p)
        wait_for("its commit to be over", lambda: completed(p) >= seen + 2)
        shutil.rmtree(where)
    child.stdin.close()
    child.stdin = None
    ended(child)


def totals_of(p, *more):
    ok(p.run("run", p.job("totals.yaml"), "-D", "sources.events.rows-per-second=1000000000", *more))
    return rows_of(p.dir / "totals.sqlite", "select customer, orders, notes, total, last_id from totals")


@test
def totals_of_made_up_orders(p):
    rows = totals_of(p)
    assert sum(r[1] for r in rows) == 100000 and max(r[4] for r in rows) == 100000, rows[:3]
    assert len(rows) == 500 and 45000 < sum(r[2] for r in rows) < 55000
    assert all(1 <= float(r[3]) / r[1] <= 1000 for r in rows)
    (p.dir / "totals.sqlite").unlink()
    assert totals_of(p, "--fresh", "-p", "1") == rows, "the same seed made other rows"


@test
def made_up_rows_go_on_behind_kills(p):
    job = p.write("job.yaml", f"""pipeline.name: made
parallelism.default: 2
execution.checkpointing: {{interval: 10ms, dir: "file://{p.dir}/store"}}
restart-strategy.type: none
sources:
  events:
    connector: datagen
    rows-per-second: 20000
    fields.id: {{kind: sequence, start: 1, end: 10000}}
    fields.x.length: 6
    schema: {{id: BIGINT, x: STRING}}
sinks:
  out: {{from: events, connector: filesystem, path: out/, format: csv, sink.delivery-guarantee: exactly-once}}
""")
    for parallelism in (2, 3, 1):
        child = p.start("run", job, "--continue", "-p", parallelism)
        wait_for("checkpoints", lambda: child.poll() is not None or completed(p, "made") >= 3)
        child.send_signal(SIGKILL)
        child.wait()
    ok(p.run("run", job, "--continue"))
    lines = [line for f in (p.dir / "out").glob("part-*") for line in f.read_text().splitlines()]
    assert sorted(int(line.split(",")[0]) for line in lines) == list(range(1, 10001)), len(lines)


READ = """pipeline.name: reads
execution.checkpointing: {interval: 10ms, dir: "file://%(dir)s/store"}
restart-strategy.type: none
sources:
  events:
    connector: sqlite
    path: in.sqlite
%(how)s
    schema: {id: BIGINT, name: STRING, at: "TIMESTAMP(3)", price: "DECIMAL(10, 2)", share: DOUBLE, day: DATE, ok: BOOLEAN}
sinks:
  out: {from: events, connector: filesystem, path: out/, format: csv, sink.delivery-guarantee: exactly-once}
"""


def make_table(p, rows, where="", key="id INTEGER PRIMARY KEY"):
    with sqlite3.connect(p.dir / "in.sqlite") as db:
        db.execute(f"create table t ({key}, name TEXT, at TEXT, price TEXT, share REAL, day TEXT, ok INTEGER) {where}")
        add_rows(db, rows)


def add_rows(db, rows):
    db.executemany("insert into t values (?, ?, ?, ?, ?, ?, ?)",
                   [(i, f"n{i % 7}", f"2026-01-31 10:00:{i % 60:02d}.{i % 1000:03d}", f"{i}.50", i / 4, "2026-01-31", i % 2)
                    for i in rows])


def out_ids(p):
    return sorted(int(line.split(",")[0]) for f in (p.dir / "out").glob("part-*")
                  for line in f.read_text().splitlines())


@test
def a_table_is_read_as_its_schema_says(p):
    make_table(p, [3, 1001])
    with sqlite3.connect(p.dir / "in.sqlite") as db:
        db.execute("insert into t values (7, NULL, NULL, 12, 3, NULL, NULL)")
    job = p.write("job.yaml", READ % {"dir": p.dir, "how": "    table-name: t"})
    ok(p.run("run", job))
    lines = sorted(line for f in (p.dir / "out").glob("part-*") for line in f.read_text().splitlines())
    assert lines == ['1001,n0,2026-01-31 10:00:41.001,1001.5,250.25,2026-01-31,true',
                     '3,n3,2026-01-31 10:00:03.003,3.5,0.75,2026-01-31,true', "7,,,12,3.0,,"], lines


@test
def a_table_is_read_in_ranges_behind_kills(p):
    make_table(p, range(1, 20001, 3))
    expect = list(range(1, 20001, 3))
    for n, how in enumerate(("table-name: t\n    scan.partition.num: 5\n    parallelism: 2",
                             "table-name: t\n    scan.partition.column: name",
                             "query: select * from t where id > 0\n    scan.partition.column: name")):
        job = p.write("job.yaml", READ.replace("reads", f"reads{n}") % {
            "dir": p.dir, "how": f"    {how}\n    rate-limit: 20000"})
        for _ in range(2):
            child = p.start("run", job, "--continue")
            wait_for("checkpoints", lambda: child.poll() is not None or completed(p, f"reads{n}") >= 3)
            child.send_signal(SIGKILL)
            child.wait()
        ok(p.run("run", job, "--continue"))
        assert out_ids(p) == expect, (how, len(out_ids(p)))
        shutil.rmtree(p.dir / "out")


@test
def bounds_limit_what_is_read(p):
    make_table(p, range(100))
    how = "    table-name: t\n    scan.partition.num: 3\n    scan.partition.lower-bound: 10\n    scan.partition.upper-bound: 20"
    ok(p.run("run", p.write("job.yaml", READ % {"dir": p.dir, "how": how})))
    assert out_ids(p) == list(range(10, 21))


@test
def what_no_column_can_hold_is_a_bad_row(p):
    make_table(p, range(1, 6))
    with sqlite3.connect(p.dir / "in.sqlite") as db:
        db.execute("update t set day = '0000-00-00' where id = 3")
    text = READ % {"dir": p.dir, "how": "    table-name: t"}
    done = ok(p.run("run", p.write("job.yaml", text)), 1)
    assert b"'0000-00-00'" in done.stderr and b"day" in done.stderr, done.stderr
    text = text.replace("    table-name", "    on-error: dead-letter\n    table-name") + \
        "dead-letter: {connector: filesystem, path: dead/, format: json}\n"
    ok(p.run("run", "--fresh", p.write("job.yaml", text)))
    assert out_ids(p) == [1, 2, 4, 5]
    letters = [json.loads(line) for f in (p.dir / "dead").glob("*") for line in f.read_text().splitlines()]
    assert len(letters) == 1 and letters[0]["offset"] == 2, letters
    assert json.loads(base64.b64decode(letters[0]["raw"]))["day"] == "0000-00-00"


@test
def a_growing_table_is_followed(p):
    """Equal values over the border of two looks are neither lost nor doubled; a later run goes on, too."""
    make_table(p, [1, 1, 2], key="id INTEGER")
    how = "    table-name: t\n    scan.incremental.column: id\n    scan.incremental.interval: 10 ms"
    job = p.write("job.yaml", READ % {"dir": p.dir, "how": how})
    child = p.start("run", job)
    wait_for("the first rows", lambda: len(out_ids(p)) == 3)
    with sqlite3.connect(p.dir / "in.sqlite") as db:
        add_rows(db, [2, 2, 3])
    wait_for("the next rows", lambda: len(out_ids(p)) == 6)
    child.send_signal(SIGTERM)
    ended(child)
    with sqlite3.connect(p.dir / "in.sqlite") as db:
        add_rows(db, [3, 4])
    job = p.write("job.yaml", READ % {"dir": p.dir, "how": "    table-name: t\n    scan.incremental.column: id"})
    for more in ([], [4, 5], []):
        with sqlite3.connect(p.dir / "in.sqlite") as db:
            add_rows(db, more)
        ok(p.run("run", job, "--continue"))
    assert out_ids(p) == [1, 1, 2, 2, 2, 3, 3, 4, 4, 5], out_ids(p)


@test
def what_cannot_be_read_is_said(p):
    make_table(p, range(3), key="id INTEGER PRIMARY KEY", where="WITHOUT ROWID")
    for how, code, words in (("table-name: t", 1, b"no rowids"), ("table-name: nothing", 1, b"no such table"),
                             ("query: select 1 as id", 3, b"scan.partition.column"),
                             ("table-name: t\n    query: x", 3, b"either"),
                             ("table-name: t\n    scan.partition.column: nope", 1, b"no such column"),
                             ("table-name: t\n    scan.incremental.interval: 1s", 3, b"scan.incremental.column")):
        done = ok(p.run("run", p.write("job.yaml", READ % {"dir": p.dir, "how": "    " + how})), code)
        assert words in done.stderr, done.stderr
    done = ok(p.run("run", p.write("job.yaml", READ % {"dir": p.dir, "how": "    table-name: t"}),
                    "-D", f"sources.events.path={p.dir}/absent"), 1)
    assert b"there is no database" in done.stderr, done.stderr


# Writes more than the cache holds, and dies amid the transaction.
KILLED_WRITER = """import os, sqlite3
db = sqlite3.connect("a.db", isolation_level=None)
db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
db.execute("INSERT INTO t VALUES (1, 'x')")
db.execute("PRAGMA cache_size = 2")
db.execute("BEGIN IMMEDIATE")
for i in range(10, 300):
    db.execute("INSERT INTO t VALUES (?, ?)", (i, "y" * 5000))
os.kill(os.getpid(), 9)
"""


@test
def an_sqlite_source_reads_what_was_committed_before_its_writer_was_killed(p):
    subprocess.run([sys.executable, "-c", KILLED_WRITER], cwd=p.dir, check=False)
    assert (p.dir / "a.db-journal").stat().st_size > 0
    job = p.write("job.yaml", "pipeline.name: torn\nsources: {e: {connector: sqlite, path: a.db, table-name: t, schema: {id: INT, v: STRING}}}\n"
                              "sinks: {o: {from: e, connector: stdout, format: csv}}\n")
    assert ok(p.run("run", "-q", job)).stdout == b"1,x\n"


@test
def a_table_that_vanished_between_runs_stops_the_job(p):
    """What was committed there is gone: no new file is made in silence, neither with rows that wait nor without; put back, it goes on."""
    p.write("in/1.csv", "1\n2\n")
    job = p.write("job.yaml", """execution.checkpointing: {interval: 1h, dir: ckpt}
sources: {in: {connector: filesystem, path: in/, format: csv, schema: {n: INT}}}
sinks: {out: {from: in, connector: sqlite, path: t.db, table-name: t}}
""")
    ok(p.run("run", job, "--continue"))
    ok(p.run("run", job, "--continue"))  # its checkpoint has no rows of its own
    (p.dir / "t.db").rename(p.dir / "kept.db")
    p.write("in/2.csv", "3\n")
    for n in range(2):  # the second time an empty file is there
        done = p.run("run", job, "--continue")
        assert done.returncode == 1 and b"t.db holds nothing of this sink" in done.stderr and b"--fresh" in done.stderr, done.stderr
    (p.dir / "kept.db").rename(p.dir / "t.db")
    ok(p.run("run", job, "--continue"))
    with sqlite3.connect(p.dir / "t.db") as db:
        assert [r[0] for r in db.execute("SELECT n FROM t ORDER BY n")] == [1, 2, 3]
    p.write("in/3.csv", "4\n")
    ok(p.run("run", job, "--continue"))
    (p.dir / "t.db").unlink()
    ok(p.run("run", job, "--fresh"))
    with sqlite3.connect(p.dir / "t.db") as db:
        assert [r[0] for r in db.execute("SELECT n FROM t ORDER BY n")] == [1, 2, 3, 4]


@test
def a_stdin_that_will_never_be_readable_ends_the_job(p):
    """A directory, or a closed descriptor: no restart would do better."""
    job = "execution.checkpointing: {interval: 1 s, dir: ckpt}\n" \
          "sources: {e: {connector: stdin, MORE format: raw, schema: {x: STRING}}}\nsinks: {o: {from: e, connector: print}}\n"
    for more in ("", "journal: j,"):
        path = p.write("job.yaml", job.replace("MORE", more))
        directory = os.open(p.dir, os.O_RDONLY)
        done = ended(p.start("run", path, "--fresh", stdin=directory), 1)
        os.close(directory)
        assert b"stdin cannot be read: Is a directory" in done.stderr, done.stderr

"""`dead-letter list | show | replay`: what was set aside can be looked at, mended, and put through the job once."""
import base64
import json
import sqlite3
import subprocess
import sys

from harness import ok, test, wait_for

JOB = """pipeline.name: replayed
sources:
  events:
    connector: filesystem
    path: in.csv
    format: csv
    csv.header: skip
    schema: {id: INT, d: STRING}
transforms:
  t:
    from: events
    select: [id, "CAST(d AS DATE) AS d"]
    on-error: dead-letter
sinks:
  out: {from: t, connector: filesystem, path: out/, format: csv}
dead-letter: {connector: filesystem, path: dead/}
"""
FIXED = JOB.replace("CAST(d AS DATE) AS d", "CASE WHEN d LIKE '%.%' THEN TO_DATE(d, 'dd.MM.yyyy') ELSE CAST(d AS DATE) END AS d")
INPUT = "id,d\n1,2026-01-01\n2,02.01.2026\n3,2026-01-03\n"


def rows(p, directory="out"):
    return sorted(line for f in (p.dir / directory).glob("part-*") for line in f.read_text().splitlines())


def listed(p, where):
    return json.loads(ok(p.run("dead-letter", "list", where, "--json")).stdout)


@test
def replayed_letters_give_what_the_fixed_job_gives(p):  # C09
    p.write("in.csv", INPUT)
    job = p.write("job.yaml", JOB)
    ok(p.run("dead-letter", "list", job))
    ok(p.run("run", job))
    (letter,) = listed(p, job)
    assert letter["text"] == "2,02.01.2026" and letter["line"] == 3 and not letter["replayed"], letter
    assert ok(p.run("dead-letter", "show", p.dir / "dead", letter["id"], "--raw")).stdout == b"2,02.01.2026\n"
    shown = ok(p.run("dead-letter", "show", "dead/")).stdout
    assert b"02.01.2026" in shown and b"  attempt 1\n" in shown and letter["attempt"] == 1, shown
    assert b"there are no letters at " in ok(p.run("dead-letter", "list", "nothing.jsonl"), 1).stderr
    fixed = p.write("fixed.yaml", FIXED)
    done = ok(p.run("dead-letter", "replay", fixed, "--fail-on-dead-letter"))
    assert b"read 1 = written 1" in done.stderr, done.stderr
    replayed = rows(p)
    ok(p.run("run", p.write("all.yaml", FIXED.replace("out/", "all/").replace("name: replayed", "name: all"))))
    assert replayed == rows(p, "all") == ["1,2026-01-01", "2,2026-01-02", "3,2026-01-03"], replayed
    done = ok(p.run("dead-letter", "replay", fixed))
    assert b"nothing to replay: 1 letter was replayed before" in done.stderr and rows(p) == replayed, done.stderr
    assert listed(p, job)[0]["replayed"]


@test
def a_replay_that_was_interrupted_goes_on(p):
    p.write("in.csv", INPUT)
    ok(p.run("run", p.write("job.yaml", JOB)))
    # The job was not mended, and now it fails: the replay is not done.
    failing = p.write("failing.yaml", JOB.replace("    on-error: dead-letter\n", "") + "poison.max-failures: 0\n")
    done = ok(p.run("dead-letter", "replay", failing), 1)
    assert b"replay 1 is not done" in done.stderr and rows(p) == ["1,2026-01-01", "3,2026-01-03"], done.stderr
    done = ok(p.run("dead-letter", "replay", p.write("fixed.yaml", FIXED)))
    assert b"replay 1 was interrupted: it is finished first" in done.stderr, done.stderr
    assert rows(p) == ["1,2026-01-01", "2,2026-01-02", "3,2026-01-03"]
    assert not [x.name for x in (p.dir / "dead").iterdir() if x.name.startswith(".replay-")]


@test
def letters_can_be_mended_by_hand_and_chosen(p):
    p.write("in.csv", "id,d\n1,yesterday\n2,today\n")
    job = p.write("job.yaml", JOB)
    ok(p.run("run", job))
    first, second = listed(p, job)
    (path,) = (p.dir / "dead").glob("part-*")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["raw"] = base64.b64encode(b"1,2026-01-01").decode()
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ok(p.run("dead-letter", "replay", job, first["id"]))
    assert rows(p) == ["1,2026-01-01"]
    assert [x["replayed"] for x in listed(p, job)] == [True, False]
    ok(p.run("dead-letter", "replay", job, "nosuchletter"), 2)
    done = ok(p.run("dead-letter", "replay", job, first["id"]))
    assert b"nothing to replay" in done.stderr and rows(p) == ["1,2026-01-01"], done.stderr
    # What fails again is a letter again, of the replay.
    ok(p.run("dead-letter", "replay", job, second["id"], "--fail-on-dead-letter"), 6)
    assert sorted(x["text"] for x in listed(p, job)) == ["1,2026-01-01", "2,today", "2,today"]


@test
def letters_in_sqlite_can_be_replayed(p):
    p.write("in.csv", INPUT)
    to = "dead-letter: {connector: sqlite, path: dead.db, table-name: letters}\n"
    text = JOB.replace("dead-letter: {connector: filesystem, path: dead/}\n", to)
    job = p.write("job.yaml", text)
    ok(p.run("run", job))
    assert [x["text"] for x in listed(p, job)] == [x["text"] for x in listed(p, "dead.db")] == ["2,02.01.2026"]
    fixed = p.write("fixed.yaml", FIXED.replace("dead-letter: {connector: filesystem, path: dead/}\n", to))
    ok(p.run("dead-letter", "replay", fixed))
    assert rows(p) == ["1,2026-01-01", "2,2026-01-02", "3,2026-01-03"]
    assert b"nothing to replay" in ok(p.run("dead-letter", "replay", fixed)).stderr


@test
def what_a_replay_cannot_do_is_said(p):
    p.write("in.csv", INPUT)
    job = p.write("job.yaml", JOB.replace("path: out/", "path: out.csv"))
    ok(p.run("run", job))
    done = ok(p.run("dead-letter", "replay", job), 3)
    assert b"-D sinks.out.path=" in done.stderr and (p.dir / "out.csv").read_text() == "1,2026-01-01\n3,2026-01-03\n"
    ok(p.run("dead-letter", "replay", p.write("fixed.yaml", FIXED.replace("path: out/", "path: out.csv")), "-D", f"sinks.out.path={p.dir}/more.csv"))
    assert (p.dir / "more.csv").read_text() == "2,2026-01-02\n"
    ok(p.run("dead-letter", "replay", "dead/"), 2)
    ok(p.run("dead-letter", "list", "absent/"), 1)
    ok(p.run("dead-letter", "list", p.write("plain.yaml", JOB.split("dead-letter: {")[0].replace("    on-error: dead-letter\n", ""))), 3)
    ok(p.run("dead-letter", "lst", job), 2)
    p.write("broken.json", '{"time": "x", "raw": "!"}\n')
    assert b"base64" in ok(p.run("dead-letter", "list", "broken.json"), 1).stderr


@test
def a_replay_that_was_killed_gives_each_letter_once(p):
    points = ("run: tasks opened", "run: after a sink prepared", "run: before publish", "run: after publish", "run: after show",
              "run: after a commit", "run: after retain", "run: before the end")
    for n, point in enumerate(points):
        text = FIXED.replace("out/", f"out{n}/").replace("dead/", f"dead{n}/").replace("replayed", f"replayed{n}")
        p.write("in.csv", INPUT)
        broken = p.write("job.yaml", text.replace("CASE WHEN d LIKE '%.%' THEN TO_DATE(d, 'dd.MM.yyyy') ELSE CAST(d AS DATE) END", "CAST(d AS DATE)"))
        ok(p.run("run", broken))
        fixed = p.write("fixed.yaml", text)
        ok(p.run("dead-letter", "replay", fixed, env={"STREAMRUN_REHEARSE": f"{point}:1"}), -9)
        done = ok(p.run("dead-letter", "replay", fixed))
        assert b"it is finished first" in done.stderr, (point, done.stderr)
        assert rows(p, f"out{n}") == ["1,2026-01-01", "2,2026-01-02", "3,2026-01-03"], (point, rows(p, f"out{n}"))
        assert b"nothing to replay" in ok(p.run("dead-letter", "replay", fixed)).stderr


@test
def letters_of_a_replay_join_those_in_a_plain_file(p):
    p.write("in.csv", "id,d\n1,yesterday\n2,today\n3,02.01.2026\n")
    text = JOB.replace("path: dead/", "path: dead.json")
    job = p.write("job.yaml", text)
    ok(p.run("run", job))
    (p.dir / "dead.json").chmod(0o640)
    first = listed(p, job)[0]
    ok(p.run("dead-letter", "replay", job, first["id"]))
    assert [x["text"] for x in listed(p, job)] == ["1,yesterday", "2,today", "3,02.01.2026", "1,yesterday"]
    assert (p.dir / "dead.json").stat().st_mode & 0o777 == 0o640
    # Killed when the letters were put there, or just before: they are there once.
    for n, point in enumerate(["run: before the end", "store: end marked"]):
        ok(p.run("dead-letter", "replay", job, listed(p, job)[n + 1]["id"], env={"STREAMRUN_REHEARSE": point + ":1"}), -9)
        done = ok(p.run("dead-letter", "replay", job, first["id"]))
        assert b"was interrupted" in done.stderr and len(listed(p, job)) == 5 + n, (done.stderr, listed(p, job))
    assert [x["replayed"] for x in listed(p, job)] == [True] * 3 + [False] * 3
    assert sorted(x.name for x in p.dir.iterdir() if "dead" in x.name) == ["dead.json", "dead.json.replayed"]


@test
def a_replay_into_a_new_plain_file_can_be_interrupted(p):
    p.write("in.csv", INPUT)
    ok(p.run("run", p.write("job.yaml", JOB)))
    again = ("dead-letter", "replay", p.write("fixed.yaml", FIXED), "-D", f"sinks.out.path={p.dir}/more.csv")
    ok(p.run(*again, env={"STREAMRUN_REHEARSE": "store: end marked:1"}), -9)
    assert (p.dir / "more.csv").read_text() == "2,2026-01-02\n"
    done = ok(p.run(*again))
    assert b"was interrupted" in done.stderr and (p.dir / "more.csv").read_text() == "2,2026-01-02\n", done.stderr


# Writes to a table, more than the cache holds, and dies: what is in the file must be taken back by whoever reads it.
TORN = """import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA cache_size = 2")
db.execute("BEGIN IMMEDIATE")
for i in range(200):
    db.execute("INSERT INTO letters (time, raw) VALUES (?, 'MQ==')", ("x" * 5000,))
os.kill(os.getpid(), 9)
"""


@test
def letters_in_sqlite_can_be_read_behind_a_killed_writer(p):
    p.write("in.csv", INPUT)
    job = p.write("job.yaml", JOB.replace("{connector: filesystem, path: dead/}", "{connector: sqlite, path: dead.db, table-name: letters}"))
    ok(p.run("run", job))
    subprocess.run([sys.executable, "-c", TORN, p.dir / "dead.db"], check=False)
    assert (p.dir / "dead.db-journal").stat().st_size > 0
    assert [x["text"] for x in listed(p, job)] == ["2,02.01.2026"]


@test
def a_job_is_named_by_its_name_or_id_running_or_not(p):
    p.write("in.csv", INPUT)
    job = p.write("job.yaml", JOB + "execution.checkpointing: {interval: 1h, dir: ckpt}\n")
    ok(p.run("run", job))
    assert b"no job of that name" in ok(p.run("dead-letter", "list", "replayed"), 1).stderr
    (letter,) = json.loads(ok(p.run("dead-letter", "list", "replayed", "--checkpoints", "ckpt", "--json")).stdout)
    (jid,) = [d.name for d in (p.dir / "ckpt").iterdir() if len(d.name) == 32]
    job2 = p.write("job2.yaml", JOB)  # the default directory is looked into too
    ok(p.run("run", job2, "--continue"))
    (p.dir / "job.yaml").unlink()
    (p.dir / "job2.yaml").unlink()
    assert letter["id"] in ok(p.run("dead-letter", "show", jid, "--json")).stdout.decode()
    letters = json.loads(ok(p.run("dead-letter", "list", "replayed", "--json")).stdout)
    mended = p.write("mended.json", "".join(
        json.dumps({**{k: v for k, v in row.items() if k != "raw"}, "raw": base64.b64encode(b"2,2026-01-02\n").decode()}) + "\n"
        for row in (json.loads(line) for f in sorted((p.dir / "dead").glob("part-*")) for line in f.read_text().splitlines())))
    done = ok(p.run("dead-letter", "replay", "replayed", "--letters", mended))
    assert b"read 2 = written 2" in done.stderr, done.stderr  # of both runs; and the originals count as replayed
    assert all(row["replayed"] for row in json.loads(ok(p.run("dead-letter", "list", "replayed", "--json")).stdout)), letters
    assert b"nothing to replay" in ok(p.run("dead-letter", "replay", "replayed")).stderr
    assert b"nothing to replay" in ok(p.run("dead-letter", "replay", "replayed", "--letters", mended)).stderr


@test
def a_running_job_is_named_by_its_name(p):
    p.write("in.csv", INPUT)
    job = p.write("job.yaml", JOB.replace("csv.header: skip", "csv.header: skip\n    source.monitor-interval: 50ms") + "execution.checkpointing.interval: 20ms\n")
    p.start("run", job)
    wait_for("the letter", lambda: p.run("dead-letter", "list", "replayed").stdout.count(b"02.01.2026") or list((p.dir / "dead").glob("part-*")))
    (letter,) = json.loads(ok(p.run("dead-letter", "list", "replayed", "--json")).stdout)
    assert letter["text"] == "2,02.01.2026", letter
    ok(p.run("cancel"))


@test
def a_header_that_matched_needs_none_to_be_replayed(p):
    p.write("in.csv", INPUT)
    match = JOB.replace("header: skip", "header: match")
    ok(p.run("run", p.write("job.yaml", match)))
    done = ok(p.run("dead-letter", "replay", p.write("fixed.yaml", FIXED.replace("header: skip", "header: match"))))
    assert b"read 1 = written 1" in done.stderr and rows(p)[1] == "2,2026-01-02", done.stderr


@test
def rows_of_sources_that_make_them_are_replayed_as_rows(p):
    """sqlite and nexmark give rows, not bytes: a letter's JSON goes into the step behind the source."""
    with sqlite3.connect(p.dir / "t.db") as db:
        db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, d TEXT, b BLOB, n REAL)")
        db.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [(1, "2026-01-01", b"\x00\xff", 0.1), (2, "02.01.2026", b"\x01\x02", 1.5), (3, "x", None, None)])
    text = """pipeline.name: rows
sources:
  t: {connector: sqlite, path: t.db, table-name: t, schema: {id: BIGINT, d: STRING, b: BYTES, n: DOUBLE}}
transforms:
  dates: {from: t, select: [id, "CAST(d AS DATE) AS d", b, n], on-error: dead-letter}
  more: {from: dates, select: [id, d, "CAST(1 / (id - 1) AS INT) AS q", n], where: "b IS NOT NULL", on-error: dead-letter}
sinks: {out: {from: more, connector: filesystem, path: out/, format: csv}}
dead-letter: {connector: filesystem, path: dead/}
"""
    ok(p.run("run", p.write("job.yaml", text)))
    assert rows(p) == [] and len(listed(p, "dead/")) == 2, (rows(p), listed(p, "dead/"))
    fixed = p.write("fixed.yaml", text.replace("CAST(d AS DATE)", "CASE WHEN d LIKE '%.%' THEN TO_DATE(d, 'dd.MM.yyyy') ELSE CAST('2026-01-03' AS DATE) END"))
    done = ok(p.run("dead-letter", "replay", fixed))
    assert rows(p) == ["2,2026-01-02,1,1.5"], (rows(p), done.stderr)
    assert b"read 2 = written 1 + filtered 0 + aggregated 0 + late 0 + dead-lettered 1" in done.stderr, done.stderr
    done = ok(p.run("dead-letter", "replay", fixed))  # what was set aside again is another letter
    assert b"read 1 = written 0" in done.stderr, done.stderr
    text = """pipeline.name: bids
sources: {n: {connector: nexmark, events.num: 200}}
transforms: {t: {from: n, select: ["CAST(channel AS INT) AS c", price, dateTime], on-error: dead-letter}}
sinks: {out: {from: t, connector: filesystem, path: bids/, format: csv}}
dead-letter: {connector: filesystem, path: bad/}
"""
    ok(p.run("run", p.write("job.yaml", text)))
    n = len(listed(p, "bad/"))
    done = ok(p.run("dead-letter", "replay", p.write("fixed.yaml", text.replace("CAST(channel AS INT)", "channel"))))
    assert n > 20 and len(rows(p, "bids")) == n and f"read {n} = written {n}".encode() in done.stderr, (n, done.stderr)


@test
def a_name_that_is_a_job_and_a_path_too_is_asked_back(p):
    p.write("in.csv", INPUT)
    job = p.write("job.yaml", JOB)
    ok(p.run("run", job, "-D", f"execution.checkpointing.dir={p.dir}/state.db", "-D", "pipeline.name=both"))
    store = ("--checkpoints", "state.db")
    assert b"02.01.2026" in ok(p.run("dead-letter", "list", "both", "--json", *store)).stdout
    (p.dir / "both").mkdir()
    done = ok(p.run("dead-letter", "list", "both", *store), 2)
    assert b"'both' is a job, and a path here" in done.stderr and b"./both" in done.stderr, done.stderr
    ok(p.run("dead-letter", "list", "./both", *store))


@test
def a_letter_is_one_record_of_its_replay_whatever_it_holds(p):
    """Messages may hold newlines, a source may end records otherwise, and mended letters hold anything."""
    job = p.write("job.yaml", """pipeline.name: whole
sources: {in: {connector: filesystem, path: in, format: raw, schema: {line: STRING}}}
transforms: {t: {from: in, select: ["CHAR_LENGTH(line) AS n", "SUBSTRING(line FROM 1 FOR 3) AS a"]}}
sinks: {out: {from: t, connector: filesystem, path: out/, format: json}}
dead-letter: {connector: filesystem, path: dead/}
""")
    p.write("in", "")
    raws = [b"a\nb\n", b"", b"x" * 2_500_000 + b"\n", *(f"{i}\r\n".encode() for i in range(2000))]
    letters = [{"time": "2026-01-01 00:00:00.000Z", "step": "t", "source": "in", "split": "in", "offset": i, "line": None,
                "error": "no", "raw": base64.b64encode(raw).decode(), "attempt": 1} for i, raw in enumerate(raws)]
    (p.dir / "dead").mkdir()
    p.write("dead/part-1", "".join(json.dumps(letter) + "\n" for letter in letters))
    done = ok(p.run("dead-letter", "replay", job))
    assert f"read {len(raws):,} = written {len(raws):,} ".encode() in done.stderr, done.stderr
    got = sorted((row["n"], row["a"]) for row in map(json.loads, rows(p)))
    assert got == sorted((len(raw), raw[:3].decode()) for raw in raws), got[:5]
    text = JOB.replace("{id: INT, d: STRING}", "{d: STRING}").replace("select: [id, ", "select: [").replace("out/", "lines/").replace("dead/", "bad/")
    p.write("in.csv", "d\n2026-01-01\n\nx\n")
    ok(p.run("run", p.write("lines.yaml", text)))
    ok(p.run("dead-letter", "replay", p.write("fixed.yaml", text.replace("CAST(d AS DATE)", "CHAR_LENGTH(d)")), "-D", "sinks.out.path=again/"))
    assert rows(p, "again") == ["0", "1"], "an empty line is a record of one column"


@test
def metadata_of_a_replayed_record_is_null_and_said_to_be(p):
    """A letter has the bytes, not what its source knew beside them; of a connector that replays nothing, too."""
    text = """pipeline.name: beside
sources: {in: {connector: filesystem, path: in.json, format: json, on-error: dead-letter,
               schema: "id BIGINT, file STRING METADATA FROM 'file.path', size BIGINT METADATA FROM 'file.size'"}}
sinks: {out: {from: in, connector: filesystem, path: out/, format: json}}
dead-letter: {connector: filesystem, path: dead/}
"""
    p.write("in.json", '{"id": "one"}\n')
    ok(p.run("run", p.write("job.yaml", text)))
    done = ok(p.run("dead-letter", "replay", p.write("fixed.yaml", text.replace("id BIGINT", "id STRING"))))
    assert [json.loads(row) for row in rows(p)] == [{"id": "one", "file": None, "size": None}], rows(p)
    assert b"columns of METADATA are NULL" in done.stderr, done.stderr
    http = p.write("http.yaml", """pipeline.name: web
execution.checkpointing: {interval: 1s, dir: ckpt}
sources: {in: {connector: http, listen: "127.0.0.1:0", journal: j, format: json,
               schema: "id STRING, sender STRING METADATA FROM 'remote-address'"}}
sinks: {out: {from: in, connector: filesystem, path: web/, format: json}}
dead-letter: {connector: filesystem, path: dead-web/}
""")
    (p.dir / "dead-web").mkdir()
    (letter,) = (path.read_text() for path in (p.dir / "dead").glob("part-*"))
    p.write("dead-web/part-1", letter)
    ok(p.run("dead-letter", "replay", http))
    assert [json.loads(row) for row in rows(p, "web")] == [{"id": "one", "sender": None}], rows(p, "web")


@test
def letters_that_cannot_be_read_back_as_they_lie_are_told_of(p):
    """Packed ones, and those in partitions, of which each can be named."""
    p.write("in.csv", INPUT)
    for name, more, words in (("gz", "compression: gzip", b"is compressed: unpack it"), ("zst", "compression: zstd", b"is compressed: unpack it"),
                              ("parts", "partition-keys: [step]", b"step=t is a partition: name it")):
        job = p.write(f"{name}.yaml", JOB.replace("path: dead/", f"path: {name}/, {more}").replace("path: out/", f"path: out-{name}/"))
        ok(p.run("run", job))
        done = ok(p.run("dead-letter", "list", job), 1)
        assert words in done.stderr and b"--letters" in done.stderr, done.stderr
    job = p.write("mixed.yaml", JOB.replace("path: dead/", "path: mixed/").replace("path: out/, format: csv", "path: mixed/, format: json"))
    ok(p.run("run", job))
    assert b"this is no dead letter: it has no 'error'" in ok(p.run("dead-letter", "list", job), 1).stderr
    fixed = p.write("fixed.yaml", FIXED.replace("path: dead/", "path: parts/, partition-keys: [step]"))
    ok(p.run("dead-letter", "replay", fixed, "--letters", "parts/step=t"))
    assert rows(p) == ["2,2026-01-02"], rows(p)

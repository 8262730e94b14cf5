"""Replay of rows, where there are no bytes of a source to read again: a letter's row enters the step that refused it."""
import json
import sqlite3

from harness import ok, test

DEAD = "dead-letter: {connector: filesystem, path: dead/}\n"


def rows(p, directory="out"):
    return sorted(line for f in (p.dir / directory).glob("part-*") for line in f.read_text().splitlines())


def listed(p, where="dead/"):
    return json.loads(ok(p.run("dead-letter", "list", where, "--json")).stdout)


def replay(p, text, *more, code=0):
    return ok(p.run("dead-letter", "replay", p.write("fixed.yaml", text), *more), code)


def table(p, name, columns, data):
    with sqlite3.connect(p.dir / f"{name}.db") as db:
        db.execute(f"CREATE TABLE {name} ({columns})")
        db.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(data[0]))})", data)


@test
def a_row_of_a_later_step_enters_that_step_and_no_branch_beside_it(p):
    """Of sqlite: `all` has the rows already and gets none twice; the values of the row are those that the step had."""
    table(p, "t", "id INTEGER PRIMARY KEY, d TEXT, b BLOB, n REAL, m TEXT",
          [(1, "4", b"\x00\xff", 0.1, "9.99"), (2, "0", b"\x01\x02", 1.5, "12345678901234567890.123456789"), (3, "5", b"", -0.0, "1")])
    text = """pipeline.name: rows
sources:
  t: {connector: sqlite, path: t.db, table-name: t, schema: {id: BIGINT, d: STRING, b: BYTES, n: DOUBLE, m: 'DECIMAL(38, 9)'}}
transforms:
  typed: {from: t, select: [id, "CAST(d AS INT) AS d", b, "n + 1 AS n", m, "ARRAY[d, NULL] AS l", "MAP['k', n] AS k", "ROW(d, m) AS r",
          "TIMESTAMPADD(SECOND, CAST(id AS INT), TIMESTAMP '2026-01-01 00:00:00.123456789') AS ts"]}
  halves: {from: typed, select: [id, "100 / d AS q", b, n, m, l, k, r, ts], on-error: dead-letter}
sinks:
  all: {from: typed, connector: filesystem, path: all/, format: json}
  out: {from: halves, connector: filesystem, path: out/, format: json}
""" + DEAD
    ok(p.run("run", p.write("job.yaml", text)))
    assert len(rows(p)) == 2 and len(rows(p, "all")) == 3, rows(p)
    (letter,) = listed(p)
    assert letter["step"] == "halves" and letter["source"] == "t", letter
    done = replay(p, text.replace("100 / d", "CASE WHEN d = 0 THEN -1 ELSE 100 / d END"))
    assert len(rows(p, "all")) == 3, done.stderr
    ok(p.run("run", p.write("all.yaml", text.replace("100 / d", "CASE WHEN d = 0 THEN -1 ELSE 100 / d END").replace("out/", "once/")
                            .replace("all/", "again/").replace("name: rows", "name: once"))))
    assert rows(p) == rows(p, "once") and len(rows(p)) == 3, (rows(p), rows(p, "once"))
    assert b"nothing to replay: 1 letter was replayed before" in replay(p, text).stderr


@test
def rows_of_a_step_behind_a_step_of_what_datagen_and_nexmark_make(p):
    text = """pipeline.name: made
sources:
  g: {connector: datagen, number-of-rows: 40, fields.id.kind: sequence, fields.id.start: 1, fields.id.end: 40, schema: {id: BIGINT}}
  n: {connector: nexmark, events.num: 400}
transforms:
  a: {from: g, select: [id, "MOD(id, 4) AS m"], on-error: skip}
  b: {from: a, select: [id, "12 / m AS q"], on-error: dead-letter}
  c: {from: b, select: [id, "q / (id - 21) AS q"], on-error: dead-letter, where: "id > 0"}
  bids: {from: n, select: [price, channel], on-error: skip}
  channels: {from: bids, select: [price, "CAST(channel AS INT) AS c"], on-error: dead-letter}
sinks:
  out: {from: c, connector: filesystem, path: out/, format: csv}
  bought: {from: channels, connector: filesystem, path: bought/, format: csv}
""" + DEAD
    ok(p.run("run", p.write("job.yaml", text)))
    letters = listed(p)
    by = {step: [x for x in letters if x["step"] == step] for step in {x["step"] for x in letters}}
    first, bids = len(rows(p)), sum(len(x) for step, x in by.items() if "channels" in step)
    assert first == 29 and bids > 50, (first, {k: len(v) for k, v in by.items()})
    fixed = text.replace("12 / m", "CASE WHEN m = 0 THEN 0 ELSE 12 / m END").replace("CAST(channel AS INT)", "channel")
    done = replay(p, fixed)
    assert len(rows(p)) == 39 and len(rows(p, "bought")) == bids, (len(rows(p)), len(rows(p, "bought")), bids, done.stderr)
    (again,) = [x for x in listed(p) if "b + c" in x["step"] and not x["replayed"]]  # row 21: a letter of the replay
    assert again["text"] == '{"id":21,"m":1}', again
    done = replay(p, fixed.replace("(id - 21)", "CAST(id AS INT)"))
    assert len(rows(p)) == 40 and b"21,0" in "\n".join(rows(p)).encode(), (rows(p), done.stderr)


@test
def late_rows_and_results_of_windows_enter_where_they_were_refused(p):
    """A late row lacks what WHERE looked at: it goes to the window itself. A result goes behind it."""
    table(p, "hits", "id INTEGER PRIMARY KEY, ts TEXT, page TEXT, status INTEGER",
          [(1, "2026-01-01 00:00:01", "a", 200), (2, "2026-01-01 00:02:00", "b", 200), (3, "2026-01-01 00:00:30", "A", 200),
           (4, "2026-01-01 00:00:31", "x", 500), (5, "2026-01-01 00:02:05", "B", 200)])
    text = """pipeline.name: late
sources:
  hits: {connector: sqlite, path: hits.db, table-name: hits, schema: {id: BIGINT, ts: TIMESTAMP(3), page: STRING, status: INT}, watermark: ts AS ts}
transforms:
  counted:
    from: hits
    where: status = 200
    window: TUMBLE(ts, INTERVAL '1' MINUTE)
    group-by: [UPPER(page)]
    select: [UPPER(page) AS page, window_start, COUNT(*) AS n, "100 / (COUNT(*) - 2) AS q"]
    on-late: dead-letter
    on-error: dead-letter
  named: {from: counted, select: [page, window_start, n, q, "CAST(CASE WHEN page = 'A' THEN '1' ELSE page END AS INT) AS i"], on-error: dead-letter}
sinks: {out: {from: named, connector: filesystem, path: out/, format: csv}}
""" + DEAD
    ok(p.run("run", p.write("job.yaml", text)))
    letters = listed(p)
    late = [x for x in letters if x["error"].startswith("too late")]
    assert len(late) == 1 and "status" not in late[0]["text"] and len(letters) == 2, letters
    result = [x for x in letters if x not in late][0]
    assert result["source"] == "" and '"COUNT(*)":2' in result["text"], result
    done = replay(p, text.replace("COUNT(*) - 2", "COUNT(*) + 2").replace("page = 'A'", "page = 'A' OR page = 'B'"))
    assert rows(p) == ["A,2026-01-01 00:00:00,1,-100,1", "A,2026-01-01 00:00:00,1,33,1", "B,2026-01-01 00:02:00,2,25,1"], (rows(p), done.stderr)


@test
def rows_of_a_sink_and_of_a_union_are_replayed_and_what_was_not_kept_is_asked_for(p):
    table(p, "x", "id INTEGER PRIMARY KEY, v TEXT", [(1, "1"), (2, "two"), (3, "3")])
    table(p, "y", "id INTEGER PRIMARY KEY, v TEXT", [(4, "4"), (5, "five")])
    text = """pipeline.name: several
sources:
  x: {connector: sqlite, path: x.db, table-name: x, schema: {id: BIGINT, v: STRING}}
  y: {connector: sqlite, path: y.db, table-name: y, schema: {id: BIGINT, v: STRING}}
transforms:
  both: {from: [x, y], select: [id, "CAST(v AS INT) AS v"], on-error: dead-letter}
sinks: {out: {from: both, connector: filesystem, path: out/, format: csv}}
""" + DEAD
    ok(p.run("run", p.write("job.yaml", text)))
    assert len(listed(p)) == 2 and len(rows(p)) == 3, listed(p)
    replay(p, text.replace("CAST(v AS INT)", "COALESCE(TRY_CAST(v AS INT), CHAR_LENGTH(v))"))
    assert rows(p) == ["1,1", "2,3", "3,3", "4,4", "5,4"], rows(p)
    # A mended job that needs what the letter has not: no NULL is made up, the letter stays one.
    text = text.replace("out/", "less/").replace("dead/", "less-dead/").replace("several", "less").replace("select: [id, ", "select: [")
    ok(p.run("run", p.write("less.yaml", text)))
    done = replay(p, text.replace("select: [", "select: [id, "), "--fail-on-dead-letter", code=6)
    again = [x for x in listed(p, "less-dead/") if not x["replayed"]]
    assert len(again) == 2 and all("id" in x["error"] for x in again) and len(rows(p, "less")) == 3, (again, done.stderr)
    ok(p.run("dead-letter", "replay", p.write("fixed.yaml", text.replace("CAST(v AS INT)", "v"))))
    assert rows(p, "less") == ["1", "3", "4", "five", "two"], rows(p, "less")


@test
def a_row_that_failed_the_job_too_often_enters_its_source_again(p):
    """It was set aside where it is read, though a later step could not take it; and again by that step, in the replay."""
    table(p, "t", "id INTEGER PRIMARY KEY, v TEXT", [(1, "1"), (2, "two"), (3, "3")])
    text = """pipeline.name: poison
restart-strategy: {type: fixed-delay, fixed-delay: {attempts: 5, delay: 10 ms}}
poison.max-failures: 2
sources: {t: {connector: sqlite, path: t.db, table-name: t, schema: {id: BIGINT, v: STRING}}}
transforms:
  a: {from: t, select: [id, "CONCAT(v, '0') AS v"], on-error: skip}
  b: {from: a, on-error: fail, select: [id, "CAST(v AS INT) AS v"]}
sinks: {out: {from: b, connector: filesystem, path: out/, format: csv}}
""" + DEAD
    ok(p.run("run", p.write("job.yaml", text)))
    (letter,) = listed(p)
    assert letter["step"] == "b" and letter["text"] == '{"id":2,"v":"two"}' and letter["error"].startswith("failed the job too often: "), letter
    replay(p, text.replace("on-error: fail", "on-error: dead-letter"))
    (letter,) = [x for x in listed(p) if not x["replayed"]]
    assert letter["step"] == "b" and letter["text"] == '{"id":2,"v":"two"}', letter
    replay(p, text.replace("CAST(v AS INT)", "CHAR_LENGTH(v)"))
    assert rows(p) == ["1,10", "2,4", "3,30"], rows(p)


BRANCHES = """pipeline.name: branches
sources:
  e: {connector: filesystem, path: in.csv, format: csv, schema: {id: BIGINT, v: STRING, up: AS UPPER(v), ts: "AS TO_TIMESTAMP_LTZ(id, 3)"},
      watermark: ts AS ts - INTERVAL '1' SECOND}
  f: {connector: filesystem, path: more.csv, format: csv, schema: {id: BIGINT, v: STRING}}
transforms:
  a: {from: e, select: [id, "CONCAT(v, '') AS v"], where: id > 0}
  both: {from: [a, f], select: [id, v]}
  n: {from: both, select: [id, "CAST(v AS INT) AS v"], on-error: dead-letter}
  m: {from: e, select: [id, "CAST(v AS INT) + 1 AS v", ts], on-error: dead-letter}
sinks:
  all: {from: e, connector: filesystem, path: all/, format: json}
  some: {from: a, connector: filesystem, path: some/, format: csv}
  n_out: {from: n, connector: filesystem, path: n/, format: csv}
  m_out: {from: m, connector: filesystem, path: m/, format: json}
""" + DEAD


@test
def a_record_goes_to_the_step_that_refused_it_and_to_no_other(p):
    """Whoever reads the source as well has had it; two steps that refused one record each get their own."""
    p.write("in.csv", "1,1\n2,two\n3,3\n")
    p.write("more.csv", "4,4\n5,five\n")
    ok(p.run("run", p.write("job.yaml", BRANCHES)))
    letters = listed(p)
    assert sorted((x["step"], x["source"], x["text"]) for x in letters) == [("m", "e", "2,two"), ("n", "e", "2,two"), ("n", "f", "5,five")], letters
    again = p.write("less.yaml", BRANCHES.replace("CAST(v AS INT) AS v", "CASE WHEN v = 'two' THEN 2 ELSE CAST(v AS INT) END AS v")
                    .replace("CAST(v AS INT) + 1", "CAST(REPLACE(v, 'two', '2') AS INT) + 1"))
    for point in ("run: after a sink prepared", "run: after publish"):
        ok(p.run("dead-letter", "replay", again, env={"STREAMRUN_REHEARSE": f"{point}:1"}), -9)
    done = ok(p.run("dead-letter", "replay", again))
    assert len(rows(p, "all")) == 3 and rows(p, "some") == ["1,1", "2,two", "3,3"], done.stderr
    assert rows(p, "n") == ["1,1", "2,2", "3,3", "4,4"] and [json.loads(x)["v"] for x in rows(p, "m")] == [2, 3, 4], (rows(p, "n"), rows(p, "m"))
    (letter,) = [x for x in listed(p) if not x["replayed"]]  # the replay set it aside again: it knows where it was on its way to
    assert letter["text"] == "5,five" and letter["step"] == "n", letter
    replay(p, BRANCHES.replace("CAST(v AS INT) AS v", "CHAR_LENGTH(v) AS v"))
    assert rows(p, "n") == ["1,1", "2,2", "3,3", "4,4", "5,4"] and len(rows(p, "some")) == 3, rows(p, "n")


@test
def a_record_that_failed_the_job_too_often_goes_to_all_that_read_its_source(p):
    """It was set aside where it is read: no step has had it."""
    p.write("in.csv", "1,1\n2,two\n3,3\n")
    p.write("more.csv", "")
    text = "restart-strategy: {type: fixed-delay, fixed-delay: {attempts: 5, delay: 10 ms}}\npoison.max-failures: 2\n" + BRANCHES.replace(", on-error: dead-letter", "")
    ok(p.run("run", p.write("job.yaml", text)))
    (letter,) = listed(p)
    assert letter["text"] == "2,two" and letter["error"].startswith("failed the job too often: ") and len(rows(p, "all")) == 2, letter
    replay(p, text.replace("CAST(v AS INT)", "CHAR_LENGTH(v)"))
    assert len(rows(p, "all")) == len(rows(p, "some")) == len(rows(p, "n")) == len(rows(p, "m")) == 3, rows(p, "n")


@test
def no_letter_of_a_replay_is_late(p):
    """Late rows lie there as they came: the watermark of the first would make the second late for ever."""
    text = """pipeline.name: late
sources: {e: {connector: filesystem, path: in.csv, format: csv, schema: {ts: TIMESTAMP(3), v: STRING}, watermark: ts AS ts}}
transforms:
  w: {from: e, window: "TUMBLE(ts, INTERVAL '1' MINUTE)", group-by: [v], select: [v, window_start, COUNT(*) AS n], on-late: dead-letter}
sinks: {out: {from: w, connector: filesystem, path: out/, format: csv}}
""" + DEAD
    p.write("in.csv", "".join(f"2026-01-01 0{h}:00:01,{v}\n" for h, v in ((9, "a"), (5, "b"), (3, "c"), (5, "b"))))
    ok(p.run("run", p.write("job.yaml", text)))
    assert len(listed(p)) == 3 and len(rows(p)) == 1
    replay(p, text, "--fail-on-dead-letter")
    assert rows(p) == ["a,2026-01-01 09:00:00,1", "b,2026-01-01 05:00:00,2", "c,2026-01-01 03:00:00,1"], rows(p)

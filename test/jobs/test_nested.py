"""ROW, ARRAY, MAP and MULTISET columns from one end of a job to the other."""
import contextlib
import json
import sqlite3

from harness import ok, test

COLUMNS = """
      id: INT
      who: ROW<name STRING, tags ARRAY<STRING>, geo ROW<lat DOUBLE, lon DOUBLE>>
      scores: MAP<STRING, ARRAY<INT>>
      path: ARRAY<ROW<x INT, `y` DECIMAL(10, 2)>>"""


def job(p, sink, more=""):
    return p.write("job.yaml", f"""
sources:
  events:
    connector: filesystem
    path: in.json
    format: json
    schema:{COLUMNS}
    {more}
transforms:
  some: {{from: events, where: id <> 7, select: [id AS n, who, scores, path]}}
sinks:
  out:
    from: some
    {sink}
""")


def rows(count):
    """Rows of every shape: NULL, empty, deep."""
    for i in range(count):
        geo = None if i % 5 == 0 else {"lat": i / 4, "lon": -1.5}
        who = None if i % 7 == 3 else {"name": f"né \"{i}\"\n", "tags": ["t%d" % k for k in range(i % 4)], "geo": geo}
        scores = None if i % 11 == 0 else {f"k{k}": [k, None, i][: k] for k in range(i % 6)}
        path = [None if k == 1 else {"x": k, "y": k + 0.25} for k in range(i % 9)]
        yield {"id": i, "who": who, "scores": scores, "path": path}


@test
def nested_rows_are_written_as_they_were_read(p):
    given = list(rows(5000))
    p.write("in.json", "".join(json.dumps(r) + "\n" for r in given))
    ok(p.run("run", job(p, "connector: filesystem\n    path: out.json\n    format: json"), "-p", "2"))
    got = [json.loads(line) for line in (p.dir / "out.json").read_text().splitlines()]
    want = [{"n": r["id"], "who": r["who"], "scores": r["scores"], "path": r["path"]} for r in given if r["id"] != 7]
    assert sorted(got, key=lambda r: r["n"]) == want, (len(got), len(want))
    assert list(got[0]) == ["n", "who", "scores", "path"]


@test
def nested_rows_are_json_in_a_table(p):
    given = list(rows(200))
    p.write("in.json", "".join(json.dumps(r) + "\n" for r in given))
    path = job(p, "connector: sqlite\n    path: t.sqlite\n    table-name: t\n    primary-key: [n]")
    ok(p.run("run", path))
    with sqlite3.connect(p.dir / "t.sqlite") as db:
        got = list(db.execute("SELECT n, who, scores, path FROM t ORDER BY n"))
        deep = list(db.execute("SELECT json_extract(who, '$.geo.lat') FROM t WHERE n = 9"))
    want = [r for r in given if r["id"] != 7]
    assert len(got) == len(want) and deep == [(9 / 4,)], (len(got), deep)
    for (n, *values), r in zip(got, want):
        parsed = [None if v is None else json.loads(v) for v in values]
        assert [n, *parsed] == list(r.values()), (n, parsed)


@test
def nested_values_come_back_from_a_table(p):
    """The sqlite source reads what the sink wrote; a text that is no JSON, or another shape, is a bad row with its path."""
    given = list(rows(2000))
    p.write("in.json", "".join(json.dumps(r) + "\n" for r in given))
    ok(p.run("run", job(p, "connector: sqlite\n    path: t.sqlite\n    table-name: t\n    primary-key: [n]")))
    columns = COLUMNS.replace("id: INT", "n: INT")
    back = p.write("back.yaml", f"""
sources:
  t:
    connector: sqlite
    path: t.sqlite
    table-name: t
    on-error: dead-letter
    schema:{columns}
sinks: {{out: {{from: t, connector: filesystem, path: out.json, format: json}}}}
dead-letter: {{connector: filesystem, path: dead/}}
""")
    ok(p.run("run", back, "-p", "2"))
    got = [json.loads(line) for line in (p.dir / "out.json").read_text().splitlines()]
    want = [{"n": r["id"], "who": r["who"], "scores": r["scores"], "path": r["path"]} for r in given if r["id"] != 7]
    assert sorted(got, key=lambda r: r["n"]) == want, len(got)
    with contextlib.closing(sqlite3.connect(p.dir / "t.sqlite")) as db, db:
        bad = ["{'a': 1}", '{"name": 1', "[]", "7", '{"geo": {"lat": "x"}}', '{"name": "a"} {}', "\x01", '"text"']
        db.execute("DELETE FROM t")
        db.executemany("INSERT INTO t (n, who) VALUES (?, ?)", [*enumerate(bad), (98, "null"), (99, ' {"name": null, "more": [{}]} ')])
        db.execute("INSERT INTO t (n, who) VALUES (100, 7), (101, x'00')")
    ok(p.run("run", back))
    got = [json.loads(line) for line in (p.dir / "out.json").read_text().splitlines()]
    assert [(r["n"], r["who"]) for r in got] == [(98, None), (99, {"name": None, "tags": None, "geo": None})], got
    letters = [json.loads(line) for f in (p.dir / "dead").glob("part-*") for line in f.read_text().splitlines()]
    assert len(letters) == 10 and any("who.geo.lat" in x["error"] for x in letters), [x["error"] for x in letters]
    keys = p.write("keys.yaml", (p.dir / "back.yaml").read_text().replace("scores: MAP<STRING, ARRAY<INT>>", "scores: MAP<INT, STRING>"))
    assert b"column scores" in ok(p.run("validate", keys), 3).stderr


@test
def print_shows_nested_rows_as_flink_does(p):
    p.write("in.json", '{"id":1,"who":{"name":"a","tags":["x",null],"geo":{"lat":1,"lon":2}},'
                       '"scores":{"k":[1,2],"z":null},"path":[{"x":3,"y":1.5},null]}\n{"id":2,"path":[]}\n')
    done = ok(p.run("run", "-q", job(p, "connector: print")))
    assert done.stdout.decode() == ("+I[1, +I[a, [x, null], +I[1.0, 2.0]], {k=[1, 2], z=null}, [+I[3, 1.50], null]]\n"
                                    "+I[2, null, null, []]\n"), done.stdout


@test
def what_is_wrong_inside_a_row_is_told_with_its_path(p):
    p.write("in.json", '{"id":1}\n{"id":2,"path":[{"x":1},{"x":"one"}]}\n{"id":3}\n')
    path = job(p, "connector: print")
    done = p.run("run", "-q", path, "-D", "restart-strategy.type=none")
    assert done.returncode == 1 and b"column 'path[1].x': 'one' is not a value of type INT" in done.stderr, done.stderr
    done = ok(p.run("run", path, "-D", "sources.events.on-error=skip"))
    assert b"skipped 1" in done.stderr and done.stdout.count(b"+I[") == 2, done


@test
def types_that_json_cannot_have_are_faults(p):
    for kind in ("MULTISET<INT>", "MAP<INT, STRING>", "ROW<a ARRAY<MAP<DATE, INT>>>"):
        done = p.run("validate", p.write("bad.yaml", f"""
sources:
  events: {{connector: stdin, format: json, schema: {{v: "{kind}"}}}}
sinks:
  out: {{from: events, connector: blackhole}}
"""))
        assert done.returncode == 3 and b"is not supported by the json format" in done.stderr, (kind, done.stderr)


@test
def multisets_are_objects_of_counts(p):
    p.write("in.json", "".join(line + "\n" for line in [
        '{"id": 1, "bag": {"a": 2, "b": 1}, "other": {"b": 1, "a": 2}}',
        '{"id": 2, "bag": {"a": "3", "z": 0, "n": null, "m": -1}, "other": {"a": 2}}',
        '{"id": 3, "bag": {}}',
        '{"id": 4, "bag": {"a": 1.5}}',
        '{"id": 5, "bag": {"a": [1]}}',
        '{"id": 6, "bag": ["a"]}']))
    path = p.write("job.yaml", """
sources:
  events:
    connector: filesystem
    path: in.json
    format: json
    schema: {id: INT, bag: MULTISET<STRING>, other: MULTISET<STRING>}
    on-error: skip
transforms:
  some:
    from: events
    select:
      - id
      - bag
      - CAST(bag AS STRING) AS text
      - CARDINALITY(bag) AS n
      - JSON_STRING(bag) AS j
      - bag = other AS same
      - COALESCE(other, bag) AS either
sinks:
  out: {from: some, connector: stdout, format: json}
""")
    done = ok(p.run("run", path))
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"id": 1, "bag": {"a": 2, "b": 1}, "text": "{a=2, b=1}", "n": 3, "j": '{"a":2,"b":1}', "same": True,
         "either": {"b": 1, "a": 2}},
        {"id": 2, "bag": {"a": 3}, "text": "{a=3}", "n": 3, "j": '{"a":3}', "same": False, "either": {"a": 2}},
        {"id": 3, "bag": {}, "text": "{}", "n": 0, "j": "{}", "same": None, "either": {}}]
    assert b"skipped 3" in done.stderr, done.stderr
    path = p.write("print.yaml", """
sources:
  events: {connector: filesystem, path: in.json, format: json, schema: {bag: MULTISET<STRING>}, on-error: skip}
sinks:
  out: {from: events, connector: print}
""")
    assert ok(p.run("run", path)).stdout.decode().splitlines() == ["+I[{a=2, b=1}]", "+I[{a=3}]", "+I[{}]"]
    path = p.write("table.yaml", """
sources:
  events: {connector: filesystem, path: in.json, format: json, schema: {id: INT, bag: MULTISET<STRING>}, on-error: skip}
sinks:
  out: {from: events, connector: sqlite, path: t.sqlite, table-name: t, primary-key: [id]}
""")
    ok(p.run("run", path))
    with contextlib.closing(sqlite3.connect(p.dir / "t.sqlite")) as db:
        assert list(db.execute("SELECT id, bag, json_extract(bag, '$.a') FROM t ORDER BY id")) == [
            (1, '{"a":2,"b":1}', 2), (2, '{"a":3}', 3), (3, "{}", None)]
    path = p.write("key.yaml", (p.dir / "table.yaml").read_text().replace("[id]", "[bag]"))
    done = ok(p.run("validate", path), 3)
    assert b"'bag' cannot be a key" in done.stderr, done.stderr
    path = p.write("made.yaml", """
sources:
  events: {connector: datagen, schema: {bag: MULTISET<INT>}}
sinks:
  out: {from: events, connector: sqlite, path: t.sqlite, table-name: t}
""")
    done = ok(p.run("validate", path), 3)
    assert b"column 'bag': type MULTISET of what is not text is not supported by SQLite" in done.stderr, done.stderr
    path = p.write("numbers.yaml", """
sources:
  events: {connector: filesystem, path: in.json, format: json, schema: {bag: MULTISET<INT>}}
sinks:
  out: {from: events, connector: print}
""")
    done = p.run("run", path)
    assert done.returncode == 3 and b"MULTISET of what is not text" in done.stderr, done.stderr


@test
def an_absent_element_is_what_flink_makes_of_it(p):
    p.write("in.json", '{"a": [1, 2], "b": [1, 2], "i": 4}\n{"i": 1}\n{"a": [7], "b": [7], "i": 1}\n')
    path = p.write("job.yaml", """
sources:
  events:
    connector: filesystem
    path: in.json
    format: json
    schema:
      a: ARRAY<INT NOT NULL>
      b: ARRAY<INT>
      i: INT
      c: AS a[i]
transforms:
  some:
    from: events
    select: ["a[i] AS x", "b[i] AS y", "a[i] + 1 AS z", "a[i] IS NULL AS n", "COALESCE(a[i], 5) AS o", c]
sinks:
  out: {from: some, connector: print}
""")
    assert ok(p.run("run", path)).stdout.decode().splitlines() == [
        "+I[-1, null, null, false, 5, -1]", "+I[-1, null, null, false, 5, -1]", "+I[7, 7, 8, false, 7, 7]"]


@test
def made_up_rows_have_values_inside(p):
    """datagen makes ARRAY, MAP, MULTISET and ROW, as options for what is inside say; a job goes on with them."""
    job = """
sources:
  s:
    connector: datagen
    number-of-rows: 500
    rows-per-second: 1000000
    fields.id: {kind: sequence, start: 1, end: 1000}
    fields.a: {length: 5, element: {min: 1, max: 6}}
    fields.m.key.length: 2
    fields.m.value.n: {min: 10, max: 20}
    fields.r: {null-rate: 0.5, t.length: 4}
    fields.u.element.length: 1
    schema: {id: INT, a: ARRAY<INT>, m: "MAP<STRING, ROW<n INT, f ARRAY<BOOLEAN>>>", r: "ROW<t STRING, d DECIMAL(4, 2)>",
             u: MULTISET<STRING>}
transforms:
  some: {from: s, select: [id, a, m, r, u, "CARDINALITY(a) AS n", "r.t AS t"]}
sinks:
  out: {from: some, connector: filesystem, path: out1/, format: json}
"""
    def rows_of(parallelism):
        out = f"out{parallelism}"
        ok(p.run("run", p.write("job.yaml", job.replace("out1", out)), "--fresh", "-p", str(parallelism)))
        lines = [line for f in (p.dir / out).glob("part-*") for line in f.read_text().splitlines()]
        return sorted((json.loads(line) for line in lines), key=lambda r: r["id"])

    rows = rows_of(1)
    assert [r["id"] for r in rows] == list(range(1, 501)), len(rows)
    for r in rows:
        assert r["n"] == len(r["a"]) == 5 and all(1 <= x <= 6 for x in r["a"]), r
        assert 1 <= len(r["m"]) <= 3 and all(len(k) == 2 for k in r["m"]), r
        assert all(10 <= v["n"] <= 20 and len(v["f"]) == 3 for v in r["m"].values()), r
        assert (r["r"] is None and r["t"] is None) or (len(r["r"]["t"]) == 4 and r["r"]["t"] == r["t"]), r
        assert len(r["u"]) <= 3 and all(len(k) == 1 and 1 <= n <= 10 for k, n in r["u"].items()), r
    assert 150 < sum(r["r"] is None for r in rows) < 350
    assert rows_of(2) == rows, "the same seed made other rows"

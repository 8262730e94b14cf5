"""VARIANT and STRUCTURED values in whole jobs: parsed, taken apart, printed, stored, grouped by, and after a restore."""
import contextlib
import json
import sqlite3

from harness import ended, ok, test, wait_for

LINES = ['{"id": 1, "t": "{\\"b\\": 1, \\"a\\": [1, 2.50]}"}', '{"id": 2, "t": "5"}', '{"id": 3}', '{"id": 4, "t": "oops"}',
         '{"id": 5, "t": " 5"}', '{"id": 6, "t": "{\\"a\\": [\\"x\\", null]}"}', '{"id": 7, "t": "{\\"a\\":1,\\"a\\":2}"}',
         r'{"id": 8, "t": "[-1e999, \"\\\"I\"]"}']


@test
def a_variant_goes_through_a_job(p):
    """Parts of it, and all of it as text; printed and kept in SQLite as the JSON that it is."""
    p.write("in.json", "\n".join(LINES) + "\n")
    job = """
sources:
  s: {connector: filesystem, path: in.json, format: json, schema: {id: INT, t: STRING}}
transforms:
  v: {from: s, select: [id, TRY_PARSE_JSON(t) AS v, "OBJECT_OF('a.U', 'id', id, 't', TRY_PARSE_JSON(t)) AS o"]}
  parts:
    from: v
    where: JSON_STRING(v) LIKE '{%'
    select: [id, "JSON_STRING(v['a'][1]) AS first", "v['a'][2] IS NULL AS is_gone", "o.t = v AS is_same"]
sinks:
  out-print: {from: v, connector: print}
  out-db: {from: v, connector: sqlite, path: out.db, table-name: v, primary-key: [id]}
  out-json: {from: v, connector: filesystem, path: v.json, format: json}
  out-parts: {from: parts, connector: filesystem, path: parts.json, format: json}
"""
    done = ok(p.run("run", p.write("job.yaml", job)))
    assert sorted(done.stdout.decode().splitlines()) == [
        '+I[1, {"a":[1,2.5],"b":1}, +I[1, {"a":[1,2.5],"b":1}]]', "+I[2, 5, +I[2, 5]]", "+I[3, null, +I[3, null]]",
        "+I[4, null, +I[4, null]]", "+I[5, 5, +I[5, 5]]", '+I[6, {"a":["x",null]}, +I[6, {"a":["x",null]}]]',
        "+I[7, null, +I[7, null]]", r'+I[8, [-Infinity,"\"I"], +I[8, [-Infinity,"\"I"]]]'], done.stdout
    with contextlib.closing(sqlite3.connect(p.dir / "out.db")) as db:
        rows = db.execute("SELECT id, typeof(v), v ->> '$.a[0]', o FROM v ORDER BY id").fetchall()
    assert rows[0][:3] == (1, "text", 1) and rows[3][:3] == (4, "null", None), rows
    assert json.loads(rows[5][3]) == {"id": 6, "t": {"a": ["x", None]}}, rows
    lines = (p.dir / "v.json").read_text().splitlines()
    assert '{"id":1,"v":{"a":[1,2.5],"b":1},"o":{"id":1,"t":{"a":[1,2.5],"b":1}}}' in lines, lines
    assert '{"id":8,"v":["-Infinity","\\"I"],"o":{"id":8,"t":["-Infinity","\\"I"]}}' in lines, lines
    parts = [json.loads(line) for line in (p.dir / "parts.json").read_text().splitlines()]
    assert sorted(parts, key=lambda r: r["id"]) == [
        {"id": 1, "first": "1", "is_gone": False, "is_same": True},
        {"id": 6, "first": '"x"', "is_gone": False, "is_same": True}], parts


@test
def what_is_no_json_is_a_bad_row_of_parse_json(p):
    p.write("in.json", "\n".join(LINES) + "\n")
    job = """
sources:
  s: {connector: filesystem, path: in.json, format: json, schema: {id: INT, t: STRING}}
transforms:
  v: {from: s, select: [id, PARSE_JSON(t) AS v]}
  a: {from: v, select: [id, "JSON_STRING(v['a']) AS a"]}
sinks:
  out: {from: a, connector: stdout, format: csv}
"""
    done = p.run("run", "-q", p.write("job.yaml", job), "-D", "restart-strategy.type=none")
    assert done.returncode == 1 and b"5 is no JSON object, and has no key 'a'" in done.stderr, done.stderr
    done = ok(p.run("run", p.write("skip.yaml", job.replace("select: [id, ", "on-error: skip, select: [id, "))))
    assert sorted(done.stdout.decode().splitlines()) == ['1,"[1,2.5]"', "3,", '6,"[""x"",null]"'], done.stdout
    assert b"skipped 5" in done.stderr, done.stderr


@test
def a_variant_is_a_key_and_outlives_a_restore(p):
    """Counts by VARIANT and by STRUCTURED go on where a savepoint left them."""
    p.write("in/1.json", "\n".join(LINES[:2]) + "\n")
    job = p.write("job.yaml", """
pipeline.name: counts
execution.checkpointing.interval: 50 ms
execution.checkpointing.dir: chk
sources:
  s: {connector: filesystem, path: in, format: json, source.monitor-interval: 10 ms, schema: {id: INT, t: STRING}}
transforms:
  v: {from: s, where: t IS NOT NULL, select: [TRY_PARSE_JSON(t) AS v, "OBJECT_OF('U', 'l', CHAR_LENGTH(t)) AS o"]}
  n: {from: v, group-by: [v], select: [v, COUNT(*) AS n]}
sinks:
  out: {from: n, connector: sqlite, path: out.db, table-name: n, primary-key: [v]}
""")

    def counts():
        with contextlib.closing(sqlite3.connect(p.dir / "out.db")) as db:
            try:
                return dict(db.execute("SELECT v, n FROM n"))
            except sqlite3.OperationalError:
                return {}

    child = p.start("run", job)
    first = {'{"a":[1,2.5],"b":1}': 1, "5": 1}
    wait_for("the first rows", lambda: counts() == first)
    stopped = ok(p.run("stop", "counts", "--dir", p.dir / "sp")).stdout.decode().strip()
    ended(child)
    p.write("in/2.json", "\n".join([LINES[4], LINES[0], LINES[5]]) + "\n")
    child = p.start("resume", "--from", stopped, job)
    wait_for("the rows behind the restore",
             lambda: counts() == {'{"a":[1,2.5],"b":1}': 2, "5": 2, '{"a":["x",null]}': 1})
    ok(p.run("cancel", "counts"))
    child.wait(60)


@test
def formats_refuse_a_variant_and_tell_what_helps(p):
    for fmt in ("json", "csv", "raw"):
        done = ok(p.run("validate", p.write("bad.yaml", f"""
sources:
  s: {{connector: stdin, format: {fmt}, schema: {{v: VARIANT}}}}
sinks:
  out: {{from: s, connector: blackhole}}
""")), 3)
        assert b"VARIANT" in done.stderr, done.stderr
    done = ok(p.run("eval", "PARSE_JSON('1') < PARSE_JSON('2')"), 3)
    assert b"have no order" in done.stderr, done.stderr
    done = ok(p.run("eval", "CAST(PARSE_JSON('1') AS INT)"), 3)
    assert b"use JSON_STRING, or JSON_VALUE" in done.stderr, done.stderr
    done = ok(p.run("eval", "OBJECT_UPDATE(OBJECT_OF('U', 'a', 1), 'b', 2)"), 3)
    assert b"has no field 'b'" in done.stderr, done.stderr

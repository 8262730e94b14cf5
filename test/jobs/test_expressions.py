"""Expressions and types in whole jobs: through formats, filters, keys, aggregates and state."""
import contextlib
import csv
import io
import json
import sqlite3
import time

from harness import ok, test


NANOS = ["2020-02-29 12:34:56.123456789", "2020-02-29 12:34:56.123456788", "1969-12-31 23:59:59.999999999", ""]


@test
def timestamps_of_nine_digits_go_through_a_job(p):
    """Read as csv and json, shifted, formatted, compared, grouped by, aggregated, written as both."""
    p.write("in.csv", "".join(f"{i},{t},{t and t + 'Z'}\n" for i, t in enumerate(NANOS)))
    job = """
sources:
  s: {connector: filesystem, path: in.csv, format: csv, csv.null-literal: "",
      schema: {id: INT, t: TIMESTAMP(9), z: TIMESTAMP_LTZ(9)}}
transforms:
  calc:
    from: s
    select: [id, t, z, "t + INTERVAL '1' DAY AS later", "DATE_FORMAT(t, 'ss.SSSSSSSSS') AS words",
             "EXTRACT(NANOSECOND FROM t) AS nanos", "CAST(t AS STRING) AS text", "CAST(t AS TIMESTAMP(3)) AS short"]
  some: {from: calc, where: "t >= TIMESTAMP '2020-02-29 12:34:56.123456789' OR t IS NULL"}
  groups: {from: s, where: t IS NOT NULL, group-by: [t], select: [t, COUNT(*) AS n]}
  ends: {from: s, select: [MIN(t) AS low, MAX(t) AS high, MAX(z) AS z]}
sinks:
  out-all: {from: calc, connector: filesystem, path: all.json, format: json}
  out-some: {from: some, connector: filesystem, path: some.csv, format: csv, csv.null-literal: "-"}
  out-groups: {from: groups, connector: sqlite, path: out.db, table-name: g, primary-key: [t]}
  out-ends: {from: ends, connector: sqlite, path: out.db, table-name: e, primary-key: [low]}
"""
    ok(p.run("run", p.write("job.yaml", job)))
    rows = sorted((json.loads(line) for line in (p.dir / "all.json").read_text().splitlines()), key=lambda r: r["id"])
    assert rows[0] == {"id": 0, "t": NANOS[0], "z": NANOS[0] + "Z", "later": "2020-03-01 12:34:56.123456789",
                       "words": "56.123456789", "nanos": 123456789, "text": NANOS[0],
                       "short": "2020-02-29 12:34:56.123"}, rows[0]
    assert rows[2]["later"] == "1970-01-01 23:59:59.999999999" and rows[2]["short"] == "1969-12-31 23:59:59.999", rows
    assert rows[3] == {**dict.fromkeys(rows[3]), "id": 3}, rows[3]
    some = {r[0]: r[1] for r in csv.reader(io.StringIO((p.dir / "some.csv").read_text()))}
    assert some == {"0": NANOS[0], "3": "-"}, some
    with contextlib.closing(sqlite3.connect(p.dir / "out.db")) as db:
        assert dict(db.execute("SELECT t, n FROM g")) == dict.fromkeys(NANOS[:3], 1)
        ends = db.execute("SELECT * FROM e").fetchall()
        assert ends == [(NANOS[2], NANOS[0], NANOS[0])], ends


@test
def a_time_zone_of_the_session_is_meant_throughout(p):
    """table.local-time-zone in casts, parts, formats and comparisons; unknown zones are faults."""
    p.write("in.csv", "0,2020-07-01 12:00:00\n1,2020-03-08 02:30:00\n2,2020-11-01 01:30:00\n")
    job = """
table.local-time-zone: America/New_York
sources:
  s: {connector: filesystem, path: in.csv, format: csv, schema: {id: INT, t: TIMESTAMP(3)}}
transforms:
  calc:
    from: s
    select: [id, CAST(t AS TIMESTAMP_LTZ(3)) AS z, "DATE_FORMAT(TO_TIMESTAMP_LTZ(0), 'yyyy-MM-dd HH:mm') AS f",
             FROM_UNIXTIME(0) AS u, CAST(CAST(t AS TIMESTAMP_LTZ(3)) AS STRING) AS c, UNIX_TIMESTAMP(CAST(t AS STRING)) AS x,
             CAST(FLOOR(TO_TIMESTAMP_LTZ(0) TO DAY) AS STRING) AS d, "TO_TIMESTAMP_LTZ(0) < TIMESTAMP '1970-01-01 00:00:00' AS b",
             "CAST(t AS TIMESTAMP_LTZ(3)) IN (TIMESTAMP '2020-07-01 12:00:00', TIMESTAMP '2020-07-01 16:00:00') AS i",
             "'1969-12-31 19:00:00' IN (FROM_UNIXTIME(0), 'x', 'y') AS k",
             "CAST(ARRAY[TO_TIMESTAMP_LTZ(0)] AS STRING) AS l"]
sinks:
  out: {from: calc, connector: filesystem, path: out.json, format: json}
"""
    ok(p.run("run", p.write("job.yaml", job)))
    rows = sorted((json.loads(line) for line in (p.dir / "out.json").read_text().splitlines()), key=lambda r: r["id"])
    same = {"f": "1969-12-31 19:00", "u": "1969-12-31 19:00:00", "d": "1969-12-31 00:00:00.000", "b": True, "k": True,
            "l": "[1969-12-31 19:00:00.000]"}
    assert rows == [
        {"id": 0, "z": "2020-07-01 16:00:00Z", "i": True, "c": "2020-07-01 12:00:00.000", "x": 1593619200, **same},
        {"id": 1, "z": "2020-03-08 07:30:00Z", "i": False, "c": "2020-03-08 03:30:00.000", "x": 1583652600, **same},
        {"id": 2, "z": "2020-11-01 05:30:00Z", "i": False, "c": "2020-11-01 01:30:00.000", "x": 1604212200, **same}], rows
    done = ok(p.run("run", p.write("bad.yaml", job.replace("New_York", "Old_York"))), 3)
    assert b"bad.yaml:2:" in done.stderr and b"no time zone 'America/Old_York'" in done.stderr, done.stderr


@test
def the_time_now_is_that_of_the_row(p):
    job = """
sources:
  s: {connector: stdin, format: raw, schema: {line: STRING}}
transforms:
  calc: {from: s, select: [CURRENT_TIMESTAMP AS now, LOCALTIMESTAMP AS wall, UNIX_TIMESTAMP() AS seconds, UUID() AS id]}
sinks:
  out: {from: calc, connector: filesystem, path: out.json, format: json}
"""
    before = int(time.time())
    ok(p.run("run", p.write("job.yaml", job), stdin=b"a\nb\n"))
    rows = [json.loads(line) for line in (p.dir / "out.json").read_text().splitlines()]
    assert len(rows) == 2 and rows[0]["id"] != rows[1]["id"], rows
    for row in rows:
        assert before <= row["seconds"] <= time.time() and row["now"] == row["wall"] + "Z", row


@test
def nested_values_are_made_and_taken_apart(p):
    """Fields, elements, constructors, casts, CASE and comparison of ROW, ARRAY and MAP between json and json."""
    rows = [{"id": i, "r": {"a": {"b": i, "c": f"x{i}"}}, "l": list(range(i)), "m": {"k": f"v{i}"} if i % 2 else {}}
            for i in range(300)]
    rows += [{"id": 300, "r": None, "l": None, "m": None}]
    p.write("in.json", "".join(json.dumps(r) + "\n" for r in rows))
    job = """
sources:
  s:
    connector: filesystem
    path: in.json
    format: json
    schema: {id: INT, r: "ROW<a ROW<b INT, c STRING>>", l: ARRAY<INT>, m: "MAP<STRING, STRING>"}
transforms:
  calc:
    from: s
    where: "r.a.b <> 7 OR r IS NULL"
    select: [id, r.a.b AS b, s.r.a.c AS c, r.a AS inner_row, "l[2] AS item", "m['k'] AS v", CARDINALITY(l) AS n,
             "ARRAY[id, r.a.b, NULL] AS made", "MAP['id', id] AS made_map", "CAST(ROW(id, r.a.c) AS ROW<x BIGINT, y STRING>) AS made_row",
             "CASE WHEN CARDINALITY(l) > 2 THEN ARRAY_SLICE(l, -2) ELSE l END AS chosen", "l = ARRAY[0, 1] AS same",
             "CAST(ARRAY_REVERSE(l) AS ARRAY<STRING>) AS turned", "CAST(r AS STRING) AS words", JSON_STRING(r) AS as_json]
sinks:
  out: {from: calc, connector: filesystem, path: out.json, format: json}
"""
    ok(p.run("run", p.write("job.yaml", job)))
    got = {r["id"]: r for r in map(json.loads, (p.dir / "out.json").read_text().splitlines())}
    assert len(got) == 300 and 7 not in got, len(got)
    for i in (0, 1, 2, 5, 256, 299):
        assert got[i] == {
            "id": i, "b": i, "c": f"x{i}", "inner_row": {"b": i, "c": f"x{i}"}, "item": 1 if i > 1 else None,
            "v": f"v{i}" if i % 2 else None, "n": i, "made": [i, i, None], "made_map": {"id": i},
            "made_row": {"x": i, "y": f"x{i}"}, "chosen": list(range(i))[-2:], "same": i == 2,
            "turned": [str(x) for x in range(i)][::-1], "words": f"(({i}, x{i}))",
            "as_json": json.dumps({"a": {"b": i, "c": f"x{i}"}}, separators=(",", ":"))}, got[i]
    nothing = {"id": 300, "made": [300, None, None], "made_map": {"id": 300}, "made_row": {"x": 300, "y": None}}
    assert got[300] == {**dict.fromkeys(got[300]), **nothing}, got[300]
    done = ok(p.run("run", p.write("bad.yaml", job.replace("r.a.b AS b", "r.a.z AS b"))), 3)
    assert b"has no field 'z'" in done.stderr, done.stderr


@test
def codes_of_no_character_are_refused(p):
    for text, want in ((r"U&'\+01F600\00E9'", "😀é\n"), (r"U&'\+1FFFFF'", None), (r"U&'\D800'", None)):
        done = ok(p.run("eval", text), 0 if want else 3)
        assert done.stdout.decode() == (want or ""), done


@test
def json_goes_in_as_it_is_only_where_json_is_made(p):
    """JSON(...) as a value of JSON_OBJECT and JSON_ARRAY; elsewhere a fault at its place, and text that is none a bad row."""
    p.write("in.csv", '1;{"b": 1, "a": [1e3]}\n2; \n3;"{"\n4;x\n'.replace('"{"', "{"))
    job = """
sources:
  s: {connector: filesystem, path: in.csv, format: csv, csv.field-delimiter: ";", csv.disable-quote-character: true,
      schema: {id: INT, t: STRING}}
transforms:
  calc:
    from: s
    on-error: skip
    select: [id, "JSON_OBJECT('t' VALUE JSON(t), 'one' VALUE JSON_ARRAY(1), 'q' VALUE t) AS j", CURRENT_DATABASE() AS d]
sinks:
  out: {from: calc, connector: filesystem, path: out.json, format: json}
"""
    ok(p.run("run", p.write("job.yaml", job)))
    rows = [json.loads(line) for line in (p.dir / "out.json").read_text().splitlines()]
    assert [r["id"] for r in rows] == [1, 2] and {r["d"] for r in rows} == {"default_database"}, rows
    assert rows[0]["j"] == '{"one":[1],"q":"{\\"b\\": 1, \\"a\\": [1e3]}","t":{"a":[1E+3],"b":1}}', rows
    assert rows[1]["j"] == '{"one":[1],"q":" ","t":null}', rows
    for bad in "JSON(t)", "JSON_OBJECT('a' VALUE UPPER(JSON(t)))", "JSON_STRING(JSON(t))", "JSON_OBJECT(JSON('1') VALUE 1)":
        done = ok(p.run("validate", p.write("bad.yaml", job.replace("CURRENT_DATABASE()", bad))), 3)
        assert b"bad.yaml:" in done.stderr and b"JSON(...) is only for values of JSON_OBJECT" in done.stderr, done.stderr


@test
def no_source_makes_watermarks_itself(p):
    """watermark: ts AS SOURCE_WATERMARK() is a fault that says what to write."""
    job = """
sources:
  s: {connector: datagen, schema: {t: TIMESTAMP(3)}, watermark: t AS SOURCE_WATERMARK()}
sinks:
  out: {from: s, connector: blackhole}
"""
    done = ok(p.run("validate", p.write("job.yaml", job)), 3)
    assert b"job.yaml:3:" in done.stderr and b"no connector does that: write one" in done.stderr, done.stderr


@test
def a_text_that_would_be_too_long_is_a_fault_and_no_shorter_text(p):
    long = "REPEAT('a', 40000000)"
    for text in (f"HEX({long})", f"TO_BASE64({long} || REPEAT('b', 20000000))", f"ENCODE({long}, 'UTF-16')",
                 f"DECODE(CAST({long} AS BYTES), 'ISO-8859-1')"):
        assert b"would be longer than 67108864 bytes" in ok(p.run("eval", text), 1).stderr, text
    # Towards the beginning of a long text it is looked at once, and not from its start for each character.
    assert ok(p.run("eval", "INSTR(REPEAT('ab', 3000000), 'b', -1, 2)")).stdout == b"5999998\n"
    done = ok(p.run("eval", "DATE_FORMAT(TIMESTAMP '2020-01-01 00:00:00', REPEAT('E', 3000))"), 1)
    assert b"is not a pattern of DATE_FORMAT" in done.stderr, done.stderr


@test
def a_double_is_cut_by_its_digits_however_far_they_are_from_the_point(p):
    """TRUNCATE of very small and very large DOUBLEs; none of them is rounded on the way."""
    for number, digits, want in (("9.9999999999999991E-6", 5, "0.0"), ("1.5E-24", 24, "1.0E-24"),
                                 ("1.23456789E24", -20, "1.2345E24"), ("-123.999", -1, "-120.0")):
        done = ok(p.run("eval", f"TRUNCATE(CAST('{number}' AS DOUBLE), {digits})"))
        assert done.stdout.decode() == want + "\n", (number, digits, done.stdout)

"""Expressions and types in whole jobs: through formats, filters, keys, aggregates and state."""
import contextlib
import csv
import io
import json
import sqlite3

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

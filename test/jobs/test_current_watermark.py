"""CURRENT_WATERMARK: the watermark that a row meets where it is computed."""
import json

from harness import ok, test

ROWS = ["1,2024-01-01 00:00:10", "2,2024-01-01 00:00:20", "3,2024-01-01 00:00:05", "4,2024-01-01 00:00:40"]
SOURCE = ("{connector: filesystem, path: in.csv, format: csv, schema: {id: INT, t: TIMESTAMP(3)}, "
          "watermark: \"t AS t - INTERVAL '5' SECOND\"}")


def lines(done, who):
    return sorted(line.split("> ", 1)[1] for line in done.stdout.decode().splitlines() if line.startswith(who + ">"))


@test
def each_row_sees_the_watermark_of_those_before_it(p):
    """As in Flink: NULL first; of rows that a filter drops too; in WHERE, and in aggregates."""
    p.write("in.csv", "\n".join(ROWS) + "\n")
    path = p.write("job.yaml", f"""
sources:
  s: {SOURCE}
transforms:
  plain: {{from: s, select: [id, CURRENT_WATERMARK(t) AS w]}}
  some: {{from: s, where: id <> 2, select: [id, t AS q]}}
  renamed: {{from: some, select: [id, CURRENT_WATERMARK(q) AS w]}}
  early: {{from: s, where: "CURRENT_WATERMARK(t) IS NULL OR t > CURRENT_WATERMARK(t)", select: [id]}}
  counts: {{from: s, window: "TUMBLE(t, INTERVAL '10' SECOND)", select: [window_start, MAX(CURRENT_WATERMARK(t)) AS m]}}
sinks:
  a: {{from: plain, connector: print, print-identifier: a}}
  b: {{from: renamed, connector: print, print-identifier: b}}
  c: {{from: early, connector: print, print-identifier: c}}
  d: {{from: counts, connector: print, print-identifier: d}}
""")
    done = ok(p.run("run", path))
    day = "2024-01-01T00:00:"
    assert lines(done, "a") == ["+I[1, null]", f"+I[2, {day}05]", f"+I[3, {day}15]", f"+I[4, {day}15]"], done.stdout
    assert lines(done, "b") == ["+I[1, null]", f"+I[3, {day}15]", f"+I[4, {day}15]"], done.stdout
    assert lines(done, "c") == ["+I[1]", "+I[2]", "+I[4]"], done.stdout
    assert lines(done, "d") == [f"+I[{day}10, null]", f"+I[{day}20, {day}05]", f"+I[{day}40, {day}15]"], done.stdout


@test
def behind_a_union_it_is_that_of_all_inputs(p):
    """An input without a row holds it back, so what is computed behind the union must stay there."""
    p.write("in.csv", "\n".join(ROWS) + "\n")
    path = p.write("job.yaml", f"""
sources:
  s: {SOURCE}
  quiet:
    connector: stdin
    format: csv
    schema: {{id: INT, t: TIMESTAMP(3)}}
    watermark: t AS t
transforms:
  both: {{from: [s, quiet], select: [id, t, CURRENT_WATERMARK(t) AS w]}}
sinks:
  out: {{from: both, connector: stdout, format: json}}
""")
    plan = ok(p.run("plan", path)).stdout.decode()
    assert "both: calc            id, t, CURRENT_WATERMARK(t) AS w\n" in plan, plan
    done = ok(p.run("run", path, stdin=b"9,1970-01-01 00:00:01\n"))
    rows = {r["id"]: r["w"] for r in map(json.loads, done.stdout.splitlines())}
    assert set(rows) == {1, 2, 3, 4, 9} and rows[1] is None, rows
    for row in (2, 3, 4):  # the other input has said 00:00:01, or has ended, or nothing yet
        assert rows[row] is None or rows[row] <= "2024-01-01 00:00:15", rows


@test
def it_takes_the_event_time_and_nothing_else(p):
    for select, hint in (("CURRENT_WATERMARK(id) AS w", b"here it is 't'"), ("CURRENT_WATERMARK(CAST(t AS TIMESTAMP(6))) AS w", b"here it is 't'")):
        done = ok(p.run("validate", p.write("bad.yaml", f"""
sources:
  s: {SOURCE}
transforms:
  x: {{from: s, select: [{select}]}}
sinks:
  out: {{from: x, connector: blackhole}}
""")), 3)
        assert b"CURRENT_WATERMARK takes the event time" in done.stderr and hint in done.stderr, done.stderr
    done = ok(p.run("eval", "CURRENT_WATERMARK(TIMESTAMP '2020-01-01 00:00:00')"), 3)
    assert b"give the source a `watermark:`" in done.stderr, done.stderr
    done = ok(p.run("validate", p.write("self.yaml", f"""
sources:
  s: {SOURCE.replace("t AS t - INTERVAL '5' SECOND", "t AS CURRENT_WATERMARK(t)")}
sinks:
  out: {{from: s, connector: blackhole}}
""")), 3)
    assert b"CURRENT_WATERMARK takes the event time" in done.stderr, done.stderr

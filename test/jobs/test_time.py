"""Event time: what windows hold, which rows are late, what the end of the input does."""
import collections
import csv
import datetime
import io
import json
import random

from harness import ok, test

JOB = """pipeline.name: {name}
sources:
  events:
    connector: filesystem
    path: {path}
    format: csv
    {more}
    schema: {{k: STRING, ts: TIMESTAMP(3), v: BIGINT}}
    watermark: ts AS ts - INTERVAL '{delay}' SECOND
transforms:
  w:
    {window}
sinks:
  out: {{from: w, connector: filesystem, path: {out}, format: csv}}
"""
SHORT = """from: events
    window: {window}
    group-by: [k]
    select: [k, window_start, window_end, COUNT(*) AS n, SUM(v) AS s]"""


def stamp(ms):
    return (datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=ms)).isoformat(" ", "milliseconds")


def unstamp(text):
    return stamp(round((datetime.datetime.fromisoformat(text) - datetime.datetime(1970, 1, 1)) / datetime.timedelta(milliseconds=1)))


def rows_of(times, k="k"):
    return "".join(f"{k},{stamp(ms)},{i}\n" for i, ms in enumerate(times))


def windows(p, window, rows, delay=0, code=0):
    """The windows as (start, end, count), in the order that they came; and the summary's words."""
    p.write("events.csv", rows)
    out = p.dir / "out.csv"
    out.unlink(missing_ok=True)
    text = window if ":" in window else SHORT.format(window=window)
    job = p.write("job.yaml", JOB.format(name="time", path=p.dir / "events.csv", delay=delay, window=text, out=out, more=""))
    done = ok(p.run("run", job, "--fresh"), code)
    found = [(unstamp(row[1]), unstamp(row[2]), int(row[3])) for row in csv.reader(io.StringIO(out.read_text()))] if code == 0 else []
    return found, done.stderr.decode()


def span(start, end):
    return stamp(start), stamp(end)


@test
def the_end_of_a_bounded_input_closes_the_last_window(p):  # F03 a
    found, _ = windows(p, "TUMBLE(ts, INTERVAL '10' SECOND)", rows_of([1000, 9000, 17000]), delay=1)
    assert found == [(*span(0, 10000), 2), (*span(10000, 20000), 1)], found


@test
def times_before_1970_fall_into_the_right_windows(p):  # F04
    found, _ = windows(p, "TUMBLE(ts, INTERVAL '10' SECOND)", rows_of([-1, -10000, -10001, 0, 9999]), delay=100)
    assert [(f[0], f[2]) for f in found] == [(stamp(-20000), 1), (stamp(-10000), 2), (stamp(0), 2)], found
    found, _ = windows(p, "TUMBLE(ts, INTERVAL '10' SECOND, INTERVAL '5' SECOND)", rows_of([-86398000, -86388000]), delay=100)
    assert [f[:2] for f in found] == [("1969-12-30 23:59:55.000", "1969-12-31 00:00:05.000"),
                                      ("1969-12-31 00:00:05.000", "1969-12-31 00:00:15.000")], found
    found, _ = windows(p, "HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)", rows_of([-1]))
    assert [f[0] for f in found] == [stamp(-10000), stamp(-5000)], found


@test
def a_day_may_begin_elsewhere_than_in_utc(p):  # F05
    days = [int(datetime.datetime(2024, 1, 1, 15, 59, 59, tzinfo=datetime.timezone.utc).timestamp()) * 1000]
    days.append(days[0] + 1000)
    found, _ = windows(p, "TUMBLE(ts, INTERVAL '1' DAY, INTERVAL -'8' HOUR)", rows_of(days))
    assert [f[0] for f in found] == ["2023-12-31 16:00:00.000", "2024-01-01 16:00:00.000"], found
    _, words = windows(p, "TUMBLE(ts, INTERVAL '1' DAY, INTERVAL '24' HOUR)", rows_of(days), code=3)
    assert "a window's offset must be shorter than its size" in words, words


@test
def a_row_is_late_by_the_millisecond(p):  # F11
    found, words = windows(p, "TUMBLE(ts, INTERVAL '10' SECOND)", rows_of([9999, 10000, 10000, 9999, 19999]))
    assert found == [(*span(0, 10000), 1), (*span(10000, 20000), 3)], found
    assert "aggregated 4 + late 1 " in words, words


@test
def late_rows_are_counted_and_no_window_fires_twice(p):  # F12, without lateness: Flink SQL has none for these windows
    found, words = windows(p, "TUMBLE(ts, INTERVAL '10' SECOND)", rows_of([1000, 12000, 8000, 16000, 7000]))
    assert found == [(*span(0, 10000), 1), (*span(10000, 20000), 2)], found
    assert "aggregated 3 + late 2 " in words, words


@test
def windows_without_rows_do_not_exist(p):  # F13
    far = int(datetime.datetime(2200, 1, 1, tzinfo=datetime.timezone.utc).timestamp()) * 1000
    for window in ("TUMBLE(ts, INTERVAL '10' SECOND)", "HOP(ts, INTERVAL '10' SECOND, INTERVAL '10' SECOND)",
                   "CUMULATE(ts, INTERVAL '10' SECOND, INTERVAL '10' SECOND)"):
        found, _ = windows(p, window, rows_of([1000, 95000, far]))
        assert found == [(*span(0, 10000), 1), (*span(90000, 100000), 1), (*span(far, far + 10000), 1)], found


def expected(times, delay, spans):
    """By brute force: a window holds the rows that came before the watermark reached its last millisecond."""
    counts, late, watermark = collections.Counter(), 0, -(1 << 62)
    for ms in times:
        open_ = [s for s in spans(ms) if watermark < s[1] - 1]
        late += not open_
        counts.update(open_)
        watermark = max(watermark, ms - delay - 1)
    return sorted((end, start, n) for (start, end), n in counts.items()), late


def hops(slide, size, offset):
    return lambda ms: [(s, s + size) for s in range(ms - size + 1, ms + 1) if (s - offset) % slide == 0]


def longer(step, size, offset):
    def spans(ms):
        start = ms - (ms - offset) % size
        return [(start, end) for end in range(start + step, start + size + 1, step) if ms < end]
    return spans


@test
def hopping_and_cumulating_windows_hold_what_they_should(p):
    rnd = random.Random(7)
    times = [i * 400 + rnd.randrange(-9000, 2000) for i in range(700)]
    tvf = "sql: SELECT k, x.window_start, window_end, COUNT(*) AS n, SUM(v) AS s FROM TABLE({}) AS x GROUP BY window_start, window_end, k"
    cases = [
        (SHORT.format(window="HOP(ts, INTERVAL '2' SECOND, INTERVAL '10' SECOND)"), hops(2000, 10000, 0)),
        (tvf.format("HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND, INTERVAL '17' SECOND)"),
         hops(5000, 15000, 17000)),
        ("sql: SELECT k, HOP_START(ts, INTERVAL '4' SECOND, INTERVAL '10' SECOND) AS a, HOP_END(ts, INTERVAL '4' SECOND, INTERVAL "
         "'10' SECOND) AS b, COUNT(*) AS n FROM events GROUP BY k, HOP(ts, INTERVAL '4' SECOND, INTERVAL '10' SECOND)",
         hops(4000, 10000, 0)),
        (tvf.format("CUMULATE(TABLE events, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND, INTERVAL '1' SECOND)"),
         longer(5000, 20000, 1000)),
    ]
    for text, spans in cases:
        want, late = expected(times, 3000, spans)
        if "CUMULATE" in text:  # a longer window has what the shorter ones have, and fires without new rows too
            assert late > 0
        found, words = windows(p, text, rows_of(times), delay=3)
        assert [(e, s, n) for s, e, n in found] == [(stamp(e), stamp(s), n) for e, s, n in want], text
        assert f" late {late} " in words, (late, words)


@test
def busy_users_come_out_with_each_hop(p):
    base = int(datetime.datetime(2026, 3, 2, tzinfo=datetime.timezone.utc).timestamp()) * 1000
    rnd = random.Random(3)
    events = [(rnd.choice("abc"), base + i * 7000 + rnd.randrange(8000)) for i in range(400)]
    p.write("events/1.json", "".join(json.dumps({"user_id": u, "ts": stamp(ms)}) + "\n" for u, ms in events))
    ok(p.run("run", p.job("busy-users.yaml"), env={"BUSY_DIR": str(p.dir)}))
    counts = collections.Counter((u, end) for u, ms in events for _, end in hops(60000, 300000, 0)(ms))
    want = sorted((u, stamp(end), n) for (u, end), n in counts.items() if n > 10)
    found = sorted((u, unstamp(end), int(n)) for u, end, n in csv.reader(io.StringIO((p.dir / "busy.csv").read_text())))
    assert found == want and len(want) > 20, (len(found), len(want))

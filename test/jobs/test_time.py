"""Event time: what windows hold, which rows are late, what the end of the input does."""
import collections
import csv
import datetime
import io
import itertools
import json
import random
import sqlite3

from harness import SIGTERM, ended, ok, test, wait_for

JOB = """pipeline.name: {name}
sources:
  events:
    connector: filesystem
    path: {path}
    format: csv
    {more}
    schema: {{k: STRING, ts: TIMESTAMP(3), v: BIGINT}}
    watermark: ts AS ts - INTERVAL '{delay}' SECOND(3)
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
    def spans(ms):
        last = ms - (ms - offset) % slide
        return [(start, start + size) for start in range(last, ms - size, -slide)]
    return spans


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


UNION = """pipeline.name: union
execution.checkpointing: {{interval: 20 ms, dir: {dir}/state.db}}
sources:
{sources}
transforms:
  w: {{from: [{names}], window: "TUMBLE(ts, INTERVAL '10' SECOND)", select: [window_start, COUNT(*) AS n]}}
sinks:
  out: {{from: w, connector: print}}
"""
FOLLOWED = """  {name}:
    connector: filesystem
    path: {dir}/{name}
    format: csv
    source.monitor-interval: 10 ms
    schema: {{k: STRING, ts: TIMESTAMP(3), v: BIGINT}}
    watermark: ts AS ts
    {more}
"""


class Followed:
    """A job over directories that are followed; what it prints, and rows given to it."""

    def __init__(self, p, names, more="", *args):
        self.p, self.out, self.files = p, p.dir / "printed", 0
        for name in names:
            (p.dir / name).mkdir(exist_ok=True)
        sources = "".join(FOLLOWED.format(name=name, dir=p.dir, more=more) for name in names)
        self.job = p.write("union.yaml", UNION.format(dir=p.dir, sources=sources, names=", ".join(names)))
        self.start(*args)

    def start(self, *args):
        with open(self.out, "ab") as out:
            self.child = self.p.start("run", self.job, *args, stdout=out)

    def give(self, name, *times):
        self.files += 1
        hidden = self.p.dir / name / f".{self.files}"
        hidden.write_text(rows_of(times))
        hidden.rename(self.p.dir / name / f"{self.files}.csv")

    def printed(self):
        return [line[3:-1].split(", ") for line in self.out.read_text().splitlines()]

    def windows(self):
        epoch = datetime.datetime(1970, 1, 1)
        return [((datetime.datetime.fromisoformat(start) - epoch).seconds, int(n)) for start, n in self.printed()]

    def rows(self, what):
        vertices = (self.p.status("union") or {"vertices": []})["vertices"]
        return sum(v[what] for v in vertices if what != "read-records" or "source" in v["name"])

    def suspend(self):
        self.child.send_signal(SIGTERM)
        return ended(self.child)


@test
def a_followed_file_keeps_its_last_window_open(p):  # F03 b
    job = Followed(p, ["a"])
    job.give("a", 1000, 9000, 17000)
    wait_for("the first window", lambda: job.windows() == [(0, 2)])
    assert job.suspend() and job.windows() == [(0, 2)]


@test
def an_input_without_rows_holds_windows_back_unless_it_is_idle(p):  # F01
    job = Followed(p, ["a", "b"])
    job.give("a", *range(1000, 26000, 1000))
    wait_for("the rows", lambda: job.rows("read-records") >= 25)
    wait_for("a checkpoint behind them", lambda: p.status("union")["checkpoints"]["completed"] > 2)
    job.suspend()
    assert job.windows() == []
    job.start("--continue", "-D", "table.exec.source.idle-timeout=100 ms")
    wait_for("two windows", lambda: job.windows() == [(0, 9), (10, 10)])
    job.give("b", 5000)  # b wakes, and its row is late
    wait_for("the late row", lambda: job.rows("late") == 1)
    job.suspend()
    job.start("--continue", "-D", "table.exec.source.idle-timeout=100 ms")
    job.give("b", 6000)
    wait_for("the late row after a resume", lambda: job.rows("late") == 2)
    job.give("a", 31000)
    wait_for("the third window", lambda: job.windows() == [(0, 9), (10, 10), (20, 6)])
    job.suspend()


@test
def watermarks_by_the_clock_hold_windows_of_an_endless_input_until_they_are_sent(p):
    job = Followed(p, ["a"], "scan.watermark.emit.strategy: on-periodic", "-D", "pipeline.auto-watermark-interval=0")
    job.give("a", 1000, 12000, 8000)
    wait_for("the rows", lambda: job.rows("read-records") == 3)
    job.suspend()
    assert job.windows() == []
    job.start("--continue", "-D", "pipeline.auto-watermark-interval=30 ms")
    wait_for("the first window, which the third row is in", lambda: job.windows() == [(0, 2)])
    job.suspend()


@test
def only_rows_whose_watermark_is_not_null_move_it(p):  # punctuated
    p.write("events.csv", "".join(f"{k},{stamp(ms)},1\n" for k, ms in
                                  (("row", 15000), ("row", 1000), ("mark", 12000), ("row", 2000), ("row", 13000))))
    job = JOB.format(name="marks", path=p.dir / "events.csv", delay=0, window=SHORT.format(window="TUMBLE(ts, INTERVAL '10' SECOND)"),
                     out=p.dir / "out.csv", more="")
    job = job.replace("ts AS ts - INTERVAL '0' SECOND(3)", "ts AS CASE WHEN k = 'mark' THEN ts END")
    done = ok(p.run("run", p.write("job.yaml", job)))
    assert "aggregated 4 + late 1 " in done.stderr.decode(), done.stderr.decode()


@test
def options_of_watermarks_are_checked(p):
    source = "sources:\n  a: {{connector: filesystem, path: x, format: csv, schema: {{ts: TIMESTAMP(3)}}, {}}}\nsinks:\n" \
             "  out: {{from: a, connector: print}}\n"
    for more, words in ((f"scan.watermark.idle-timeout: 2s", "has no meaning without a watermark"),
                        ("watermark: ts AS ts, scan.watermark.alignment.group: g", "'scan.watermark.alignment.group' is not there yet"),
                        ("watermark: ts AS ts, scan.watermark.emit.strategy: sometimes", "on-event")):
        done = ok(p.run("validate", p.write("j.yaml", source.format(more))), 3)
        assert words in done.stderr.decode(), done.stderr.decode()


@test
def windows_over_local_time_follow_the_clocks(p):
    """Counts as Flink 2.3 gives them: days of 23 and 25 hours, an hour that comes twice, none for the one that is skipped."""
    quarter = 15 * 60000
    starts = [int(datetime.datetime(2026, *day, 20, tzinfo=datetime.timezone.utc).timestamp()) * 1000 for day in ((3, 28), (10, 24))]
    p.write("ltz.csv", "".join(f"{start + i * quarter}\n" for start in starts for i in range(144)))
    source = "{connector: filesystem, path: ltz.csv, format: csv, schema: {ms: BIGINT, ts: \"AS TO_TIMESTAMP_LTZ(ms, 3)\"}, " \
             "watermark: ts AS ts}"
    found = {}
    for name, window in (("day", "TUMBLE(ts, INTERVAL '1' DAY)"), ("hour", "TUMBLE(ts, INTERVAL '1' HOUR)"),
                         ("hop", "HOP(ts, INTERVAL '1' HOUR, INTERVAL '3' HOUR)"),
                         ("six", "CUMULATE(ts, INTERVAL '6' HOUR, INTERVAL '1' DAY)")):
        job = p.write(f"{name}.yaml", f"table.local-time-zone: Europe/Berlin\nsources:\n  ev: {source}\ntransforms:\n  w: {{from: ev, "
                                      f"window: \"{window}\", select: [window_start, window_end, COUNT(*) AS n]}}\nsinks:\n"
                                      f"  out: {{from: w, connector: filesystem, path: {name}.csv, format: csv}}\n")
        ok(p.run("run", job))
        rows = csv.reader(io.StringIO((p.dir / f"{name}.csv").read_text()))
        found[name] = {(start[5:16], end[5:16]): int(n) for start, end, n in rows}
    assert [n for _, n in sorted(found["day"].items())] == [12, 92, 40, 8, 100, 36], found["day"]
    assert found["hour"]["10-25 02:00", "10-25 03:00"] == 8 and not [k for k in found["hour"] if k[0] == "03-29 02:00"]
    assert found["hop"]["10-25 02:00", "10-25 05:00"] == 16 and found["hop"]["10-25 03:00", "10-25 06:00"] == 12
    assert found["six"]["03-29 00:00", "03-29 06:00"] == 20 and found["six"]["10-25 00:00", "10-25 12:00"] == 52


@test
def windows_of_the_wall_clock_lose_no_row_over_kills(p):
    (p.dir / "in").mkdir()
    job = p.write("proc.yaml", f"""pipeline.name: proc
execution.checkpointing: {{interval: 20 ms, dir: {p.dir}/state.db}}
sources:
  a:
    connector: filesystem
    path: in
    format: csv
    source.monitor-interval: 10 ms
    schema: {{v: INT, p: AS PROCTIME()}}
transforms:
  w: {{from: a, window: "TUMBLE(p, INTERVAL '0.1' SECOND)", select: [window_start, COUNT(*) AS n, SUM(v) AS s]}}
sinks:
  out: {{from: w, connector: sqlite, path: out.sqlite, table-name: counts, sink.delivery-guarantee: exactly-once}}
""")

    def total():
        if not (p.dir / "out.sqlite").exists():
            return 0
        with sqlite3.connect(p.dir / "out.sqlite") as db:
            try:
                return db.execute("SELECT COALESCE(SUM(s), 0) FROM counts").fetchone()[0]
            except sqlite3.OperationalError:
                return 0

    given = 0
    for n in range(4):
        child = p.start("run", job, "--continue")
        for k in range(3):
            (p.dir / "in" / f".{n}{k}").write_text("".join(f"{v}\n" for v in range(100)))
            (p.dir / "in" / f".{n}{k}").rename(p.dir / "in" / f"{n}{k}.csv")
            given += 4950
        if n < 3:
            wait_for("a checkpoint", lambda: (p.status("proc") or {"checkpoints": {"completed": 0}})["checkpoints"]["completed"] > 1)
            child.kill()
            child.wait()
    wait_for("every row in a window", lambda: total() >= given)
    child.send_signal(SIGTERM)
    ended(child)
    assert total() == given, (total(), given)


def sessions(rows, gap, delay):
    """By brute force, as Flink merges them: (key, start, end, count) in the order of ends, and how many rows were late."""
    open_, done, late, watermark = [], [], 0, -(1 << 62)
    for k, ms in rows:
        touched = [s for s in open_ if s[0] == k and s[1] <= ms + gap and s[2] >= ms]
        if not touched and ms + gap - 1 <= watermark:
            late += 1
        else:
            open_ = [s for s in open_ if s not in touched]
            open_.append((k, min([ms] + [s[1] for s in touched]), max([ms + gap] + [s[2] for s in touched]),
                          1 + sum(s[3] for s in touched)))
        watermark = max(watermark, ms - delay - 1)
        done += [s for s in open_ if s[2] - 1 <= watermark]
        open_ = [s for s in open_ if s[2] - 1 > watermark]
    return sorted(done + open_), late


@test
def sessions_close_merge_and_stay_closed(p):  # F08, F09
    session = "SESSION(ts, INTERVAL '5' SECOND)"
    found, words = windows(p, session, rows_of([0, 20000, 3000, 22000]))
    assert found == [(*span(0, 5000), 1), (*span(20000, 27000), 2)] and " late 1 " in words, (found, words)
    for times, want in (([0, 8000, 4000], [(0, 13000, 3)]), ([0, 5000], [(0, 10000, 2)]),
                        ([0, 5001], [(0, 5000, 1), (5001, 10001, 1)])):
        for order in itertools.permutations(times):
            found, _ = windows(p, session, rows_of(order), delay=60)
            assert found == [(*span(start, end), n) for start, end, n in want], (order, found)


@test
def sessions_are_those_of_brute_force(p):
    rnd = random.Random(11)
    rows = [(rnd.choice("abcdefgh"), i * 700 + rnd.randrange(-12000, 2000)) for i in range(900)]
    text = "".join(f"{k},{stamp(ms)},{i}\n" for i, (k, ms) in enumerate(rows))
    want, late = sessions(rows, 4000, 5000)
    assert late > 20 and len(want) > 100
    tvf = "sql: SELECT k, window_start, window_end, COUNT(*) AS n, SUM(v) AS s FROM TABLE(SESSION(TABLE events PARTITION BY k, " \
          "DESCRIPTOR(ts), INTERVAL '4' SECOND)) GROUP BY window_start, window_end, k"
    for window in ("SESSION(ts, INTERVAL '4' SECOND)", tvf):
        found, words = windows(p, window, text, delay=5)
        keys = [row[0] for row in csv.reader(io.StringIO((p.dir / "out.csv").read_text()))]
        assert sorted((k, *f) for k, f in zip(keys, found)) == [(k, *span(start, end), n) for k, start, end, n in want]
        assert [f[1] for f in found] == sorted(f[1] for f in found) and f" late {late} " in words, words


@test
def sources_that_go_on_later_hold_the_watermark_of_a_union(p):
    """What one source has read must not make late what the other reads in the next run."""
    runs = [({"a": [1000, 5000], "b": [1000, 95000]}, []), ({"a": [12000, 18000, 205000], "b": [100000, 201000]}, []), ({}, ["--drain"])]
    sources = "".join(FOLLOWED.format(name=name, dir=p.dir, more="").replace("source.monitor-interval: 10 ms", "") for name in "ab")
    job = p.write("union.yaml", UNION.format(dir=p.dir, sources=sources, names="a, b"))
    printed = []
    for rows, args in runs:
        for name, times in rows.items():
            (p.dir / name).mkdir(exist_ok=True)
            with open(p.dir / name / "1.csv", "a") as out:
                out.write(rows_of(times))
        done = ok(p.run("run", job, "--continue", *args))
        assert b"late 0" in done.stderr, done.stderr
        printed += [line[-3:-1] for line in done.stdout.decode().splitlines()]
    assert printed == [" 3", " 2", " 1", " 1", " 2"], printed

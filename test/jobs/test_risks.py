"""What `validate` tells of a job that is valid: what can lose, repeat or hold up its rows, each with its cure."""
import json

from harness import ok, test

JOB = """execution.checkpointing: {interval: 1 s, dir: state}
KEYS
sources:
  events: {connector: SOURCE, format: FORMAT, schema: {id: INT, n: INT}}
sinks:
  out: {from: events, connector: SINK}
"""
FOLLOWED = "filesystem, path: in, source.monitor-interval: 1 s"
PARTS = "filesystem, path: out/, format: csv"
DEAD = "dead-letter: {connector: filesystem, path: dead/}"


def risks(p, keys="", source=FOLLOWED, form="csv", sink=PARTS, args=(), code=0):
    """(level, words) of all, cures looked at."""
    text = JOB.replace("KEYS", keys).replace("SOURCE", source).replace("FORMAT", form).replace("SINK", sink)
    found = json.loads(ok(p.run("validate", p.write("job.yaml", text), "--json", *args), code).stdout)
    assert all(r["cure"] for r in found["risks"]), found
    return [(r["level"], r["message"]) for r in found["risks"]]


def told(all_risks, words):
    return [level for level, message in all_risks if words in message]


@test
def a_source_that_cannot_go_back_is_a_warning_and_a_journal_its_cure(p):
    lost = "cannot go back"
    assert told(risks(p, source="socket, hostname: localhost, port: 1"), lost) == ["warning"]
    assert told(risks(p, source="socket, hostname: localhost, port: 1, journal: j"), lost) == []
    assert told(risks(p), lost) == []
    assert ok(p.run("validate", "job.yaml", "--strict")).returncode == 0


@test
def one_bad_record_that_would_stop_a_job_is_told(p):
    stops = "that cannot be read stops the job"
    assert told(risks(p), stops) == ["notice"]
    assert told(risks(p, DEAD), stops) == [], "poison.max-failures moves it"
    assert told(risks(p, DEAD + "\npoison.max-failures: 0"), stops) == ["notice"]
    skip = FOLLOWED + ", on-error: skip"
    assert told(risks(p, source=skip), "are dropped and counted") == ["notice"]


@test
def a_sink_that_repeats_rows_is_a_warning_unless_that_was_chosen(p):
    again = "come again after a restart"
    assert told(risks(p, sink="print"), again) == ["warning"]
    assert told(risks(p, sink="print, sink.delivery-guarantee: at-least-once"), again) == ["notice"]
    assert told(risks(p), again) == []


@test
def a_restart_strategy_that_gives_up_before_a_poison_record_is_known_is_told(p):
    early = "the restart strategy gives up after"
    for strategy, is_told in (("fixed-delay, fixed-delay.attempts: 1", True), ("fixed-delay, fixed-delay.attempts: 2", False),
                              ("failure-rate", True), ("failure-rate, failure-rate.max-failures-per-interval: 2", False),
                              ("none", True), ("exponential-delay", False),
                              ("exponential-delay, exponential-delay.attempts-before-reset-backoff: 1", True)):
        keys = f"restart-strategy: {{type: {strategy}}}\n"
        assert told(risks(p, keys + DEAD), early) == (["notice"] if is_told else []), strategy
        assert told(risks(p, keys), early) == [], "without dead letters the job ends there anyhow"
        assert told(risks(p, keys + DEAD + "\npoison.max-failures: 1"), early) == [], strategy
    words = [m for _, m in risks(p, f"restart-strategy: {{type: fixed-delay}}\n{DEAD}") if early in m]
    assert "failure 3 (poison.max-failures)" in words[0] and "after 1 restart:" in words[0], words


@test
def changes_that_may_overtake_each_other_are_a_warning(p):
    overtake = "a later one may overtake"
    http = "http, url: 'http://localhost:1/', format: FORM, sink.requests.max-inflight: N"

    def level(form, n):
        return told(risks(p, form=form, sink=http.replace("FORM", form).replace("N", str(n))), overtake)

    assert level("debezium-json", 4) == ["warning"]
    assert level("debezium-json", 1) == [] and level("json", 4) == []


@test
def late_rows_that_are_dropped_are_told(p):
    job = p.write("late.yaml", """sources:
  events: {connector: filesystem, path: in, format: csv, schema: {n: INT, ts: TIMESTAMP(3)}, watermark: ts AS ts}
transforms:
  sums: {from: events, window: "TUMBLE(ts, INTERVAL '1' MINUTE)", select: [SUM(n) AS n]LATE}
sinks:
  out: {from: sums, connector: print}
dead-letter: {connector: filesystem, path: dead/}
""".replace("LATE", ""))
    assert b"are dropped by step 'sums', and counted as late" in ok(p.run("validate", job)).stdout
    text = (p.dir / "late.yaml").read_text().replace("AS n]", "AS n], on-late: dead-letter")
    assert b"counted as late" not in ok(p.run("validate", p.write("late.yaml", text))).stdout


@test
def warnings_are_refused_by_strict_and_shown_by_quiet(p):
    risks(p, sink="print")
    done = ok(p.run("validate", "job.yaml", "--strict", "--quiet"), 3)
    assert b"refused by --strict" in done.stdout and b"warning: sink 'out'" in done.stdout, done.stdout
    assert b"notice" not in done.stdout, done.stdout


@test
def a_job_that_reads_what_it_writes_is_a_warning(p):
    for source, sink, is_told in (("data/", "data/", True), ("data", "data/out/", True), ("data/", "database/", False), ("data/*.csv", "data/", False),
                                  ("in", "out/", False)):
        found = risks(p, source=f"filesystem, path: '{source}', source.monitor-interval: 1 s", sink=f"filesystem, path: {sink}, format: csv")
        assert told(found, "rows go round") == (["warning"] if is_told else []), (source, sink, found)
    for table, is_told in (("t", True), ("u", False)):
        text = ("sources: {e: {connector: sqlite, path: t.db, table-name: t, schema: {id: INT}}}\n"
                f"sinks: {{o: {{from: e, connector: sqlite, path: t.db, table-name: {table}}}}}\n")
        found = json.loads(ok(p.run("validate", p.write("tables.yaml", text), "--json")).stdout)["risks"]
        assert [r["level"] for r in found if "rows go round" in r["message"]] == (["warning"] if is_told else []), found

"""Rows that cannot be read, computed or written: they fail the job by name, or become dead letters, exactly once."""
import base64
import json
import os
import subprocess

from harness import SIGKILL, ended, ok, test, wait_for

JOB = """pipeline.name: bad
sources:
  events:
    connector: filesystem
    path: in.json
    format: json
    on-error: dead-letter
    schema:
      v: STRING
transforms:
  t:
    from: events
    where: %s
    on-error: dead-letter
sinks:
  out:
    from: t
    connector: filesystem
    path: out.json
    format: json
dead-letter:
  connector: filesystem
  path: dead/
"""


def letters(p, directory="dead"):
    """All letters that are shown, in the order of their offsets."""
    found = []
    for path in sorted((p.dir / directory).glob("*")):
        if not path.name.startswith("."):
            found += [json.loads(line) for line in path.read_text().splitlines()]
    return sorted(found, key=lambda x: (x["split"] or "", x["offset"] or 0))


def raw(letter):
    return base64.b64decode(letter["raw"], validate=True)


@test
def a_filtered_row_is_no_bad_row(p):  # C06
    p.write("in.json", '{"v":"5"}\n{"v":"0"}\n{"v":"x"}\n')
    done = ok(p.run("run", p.write("job.yaml", JOB % "10 / CAST(v AS INT) > 1")))
    assert b"read 3 = written 1 + filtered 0 + aggregated 0 + late 0 + dead-lettered 2 + skipped 0" in done.stderr, done.stderr
    assert [raw(x) for x in letters(p)] == [b'{"v":"0"}', b'{"v":"x"}']
    p.write("in.json", '{"v":"5"}\n')
    done = ok(p.run("run", p.write("job.yaml", JOB % "CAST(v AS INT) > 100")))
    assert b"read 1 = written 0 + filtered 1 + aggregated 0 + late 0 + dead-lettered 0" in done.stderr, done.stderr


@test
def a_dead_letter_says_all_that_is_known(p):  # C05
    p.write("in.json", '{"v":"1"}\n{"v":"x"}\n')
    ok(p.run("run", p.write("job.yaml", JOB % "CAST(v AS INT) > 0")))
    (letter,) = letters(p)
    assert set(letter) == {"time", "step", "source", "split", "offset", "line", "error", "raw", "attempt"}, letter
    assert letter["step"] == "t" and letter["source"] == "events" and letter["split"] == str(p.dir / "in.json")
    assert letter["offset"] == 10 and letter["line"] == 2 and letter["attempt"] == 1
    assert "x" in letter["error"] and raw(letter) == b'{"v":"x"}' and letter["time"].startswith("20")


@test
def dead_letters_hold_any_bytes(p):  # C07
    lines = [b'\xff\xfe{"a":1}', b"\0\0\0", b'"\\ud800"', b'{"v":"\xff"', b'{"v":"1"}']
    p.write("in.json", b"\n".join(lines) + b"\n")
    ok(p.run("run", p.write("job.yaml", JOB % "v = '1'")))
    assert [raw(x) for x in letters(p)] == lines[:4]
    assert json.loads((p.dir / "out.json").read_text()) == {"v": "1"}


@test
def a_target_that_cannot_be_written_fails_the_job(p):  # C04
    p.write("in.json", '{"v":"1"}\n{"v":"x"}\n{"v":"2"}\n')
    p.write("file", "")
    done = ok(p.run("run", p.write("job.yaml", JOB % "CAST(v AS INT) > 0"), "-D", f"dead-letter.path={p.dir}/file/dead/"), 1)
    assert b"dead-letter" in done.stderr and not (p.dir / "out.json").exists(), done.stderr
    done = ok(p.run("run", p.write("job.yaml", JOB.replace("path: dead/", "path: /dev/full") % "CAST(v AS INT) > 0")), 1)
    assert not (p.dir / "out.json").exists(), done.stderr


@test
def limits_end_the_job_and_say_which_record_was_too_many(p):
    p.write("in.json", '{"v":"1"}\n' + '{"v":"x"}\n' * 5)
    job = p.write("job.yaml", JOB % "CAST(v AS INT) > 0")
    for key in ("max-total", "max-rate"):
        done = ok(p.run("run", job, "-D", f"dead-letter.{key}=4", "-D", "restart-strategy.type=fixed-delay",
                        "-D", "restart-strategy.fixed-delay.attempts=9"), 1)
        assert f"dead-letter.{key}".encode() in done.stderr and b"in.json:6" in done.stderr, done.stderr
        assert b"restart in" not in done.stderr and letters(p) == []
    ok(p.run("run", job, "-D", "dead-letter.max-total=5", "-D", "dead-letter.max-rate=5"))


@test
def records_set_aside_can_end_with_6(p):
    p.write("in.json", '{"v":"1"}\n{"v":"x"}\n')
    job = p.write("job.yaml", JOB % "CAST(v AS INT) > 0")
    ok(p.run("run", job, "--fail-on-dead-letter"), 6)
    p.write("in.json", '{"v":"1"}\n')
    ok(p.run("run", job, "--fail-on-dead-letter"), 0)


@test
def a_failing_job_shows_the_record_and_its_place(p):  # C02
    p.write("in.json", '{"v":"1"}\n{"v":"caf\u00e9\\u0007"}\n')
    job = p.write("job.yaml", JOB.replace("    on-error: dead-letter\n", "") % "CAST(v AS INT) > 0")
    done = ok(p.run("run", job), 1)
    words = done.stderr.decode()
    assert f"step 't': source 'events': {p.dir}/in.json:2 (byte 10): " in words, words
    assert '\n  {"v":"caf\u00e9\\u0007"}\n' in words, words
    assert not (p.dir / "out.json").exists()


@test
def a_dead_letter_needs_a_block(p):
    text = JOB.split("dead-letter:\n  connector")[0] % "v = '1'"
    done = ok(p.run("validate", p.write("job.yaml", text)), 3)
    assert done.stderr.count(b"needs a block `dead-letter:`") == 2, done.stderr


@test
def validate_says_what_dead_letters_have(p):
    done = ok(p.run("validate", p.write("job.yaml", JOB % "v = '1'")))
    assert b"dead letters -> filesystem: exactly-once" in done.stdout, done.stdout
    text = JOB.replace("  connector: filesystem\n  path: dead/", "  connector: print") % "v = '1'"
    done = ok(p.run("validate", "--json", p.write("job.yaml", text)))
    found, = [x for x in json.loads(done.stdout)["paths"] if x["sink"] == "dead-letter"]
    assert found["guarantee"] == "at-least-once" and "print" in found["weakest"], found


@test
def one_value_that_is_too_long_is_set_aside(p):  # H14
    p.write("in.json", '{"v":"1"}\n{"v":"' + "x" * (2 << 20) + '"}\n{"v":"2"}\n')
    text = (JOB % "CAST(v AS INT) > 0").replace("path: in.json", "path: in.json\n    source.max-record-size: 1mb")
    ok(p.run("run", p.write("job.yaml", text)))
    (letter,) = letters(p)
    assert letter["offset"] == 10 and letter["line"] == 2 and letter["raw"] is None and "longer" in letter["error"], letter
    assert (p.dir / "out.json").read_text() == '{"v":"1"}\n{"v":"2"}\n'


@test
def one_file_has_one_writer(p):
    text = (JOB % "v = '1'").replace("path: dead/", "path: dead.json")
    p.write("in.json", '{"v":"1"}\n{"v"}\n')
    ok(p.run("run", p.write("job.yaml", text)))
    assert json.loads((p.dir / "dead.json").read_text())["line"] == 2
    done = ok(p.run("validate", p.write("job.yaml", text), "-p", "2"), 3)
    assert b"may set records aside" in done.stderr, done.stderr


LATE = """pipeline.name: late
sources:
  events:
    connector: filesystem
    path: in.csv
    format: csv
    schema: {k: STRING, ts: TIMESTAMP(3), v: STRING}
    watermark: ts AS ts
transforms:
  w:
    from: events
    window: TUMBLE(ts, INTERVAL '1' SECOND)
    group-by: [k]
    select: [k, COUNT(*) AS n, MAX(v) AS v]
    on-late: dead-letter
  after:
    from: w
    select: ["CAST(v AS INT) AS v"]
    on-error: dead-letter
sinks:
  out:
    from: after
    connector: filesystem
    path: out.csv
    format: csv
dead-letter:
  connector: filesystem
  path: dead/
"""


@test
def late_rows_and_results_become_dead_letters(p):
    p.write("in.csv", "a,2026-01-01 00:00:00.100,1\nb,2026-01-01 00:00:05.000,x\na,2026-01-01 00:00:00.900,3\n"
                      "c,2026-01-01 00:00:09.000,4\n")
    done = ok(p.run("run", p.write("job.yaml", LATE)))
    assert sorted((p.dir / "out.csv").read_text().split()) == ["1", "4"]
    late, = [x for x in letters(p) if x["step"] == "w"]
    assert "too late" in late["error"] and late["line"] == 3 and raw(late) == b"a,2026-01-01 00:00:00.900,3"
    after, = [x for x in letters(p) if x["step"] == "after"]
    assert after["split"] is None and after["offset"] is None and json.loads(raw(after))["v"] == "x", after
    assert b"late 1 + dead-lettered 0" in done.stderr, done.stderr
    assert b"aggregates emitted 3, written 2, dead-lettered 1 (" in done.stderr, done.stderr
    done = ok(p.run("validate", p.write("job.yaml", LATE.replace("    on-error: dead-letter", "    on-late: dead-letter"))), 3)
    assert b"on-late needs a window" in done.stderr, done.stderr


@test
def dead_letters_come_exactly_once_behind_kills(p):
    files = 4
    for n in range(files):
        p.write(f"in/{n}.json", "".join('{"v":"%s"}\n' % (f"x{n}-{i}" if i % 7 == 0 else i) for i in range(3000)))
    text = (JOB % "CAST(v AS INT) >= 0").replace("path: in.json", "path: in/\n    rate-limit: 20000") \
        .replace("path: out.json", "path: out/")
    job = p.write("job.yaml", "execution.checkpointing: {interval: 20 ms, dir: checkpoints}\n" + text)
    kills = 0
    while True:
        child = p.start("run", job, "--continue", "-p", 2 + kills % 2)
        seen = len(list((p.dir / "dead").glob("part-*"))) if (p.dir / "dead").is_dir() else 0
        if kills < 3:
            wait_for("letters of this run, or its end", lambda: child.poll() is not None or (
                (p.dir / "dead").is_dir() and len(list((p.dir / "dead").glob("part-*"))) > seen + 2))
        if kills == 3 or child.poll() is not None:
            ended(child)
            break
        os.kill(child.pid, SIGKILL)
        child.communicate()
        kills += 1
    found = [raw(x) for x in letters(p)]
    want = sorted(b'{"v":"x%d-%d"}' % (n, i) for n in range(files) for i in range(0, 3000, 7))
    assert sorted(found) == want, (len(found), len(want))
    out = sum(len(f.read_text().splitlines()) for f in (p.dir / "out").glob("part-*"))
    assert out == files * 3000 - len(want) and kills > 0, (out, kills)


FAILING = (JOB % "10 / CAST(v AS INT) > 0").replace("    on-error: dead-letter\n", "")
RESTARTS = ("-D", "restart-strategy.type=fixed-delay", "-D", "restart-strategy.fixed-delay.attempts=9",
            "-D", "restart-strategy.fixed-delay.delay=1 ms")


@test
def poison_ends_a_job_without_dead_letters_whatever_the_strategy(p):  # C02
    p.write("in.json", '{"v":"1"}\n{"v":"0"}\n')
    job = p.write("job.yaml", FAILING.split("dead-letter:\n")[0])
    done = ok(p.run("run", job, *RESTARTS), 1)
    assert done.stderr.count(b"restart in") == 2 and b"in.json:2 (byte 10)" in done.stderr, done.stderr
    assert b"failed the job 3 times in a row" in done.stderr, done.stderr
    done = ok(p.run("run", job, *RESTARTS), 1)  # nothing was mended: once more is enough
    assert done.stderr.count(b"restart in") == 0, done.stderr
    p.write("in.json", '{"v":"1"}\n{"v":"2"}\n')
    ok(p.run("run", job, *RESTARTS))
    assert not list((p.dir / "run").glob("*.poison*"))
    p.write("in.json", '{"v":"1"}\n{"v":"0"}\n')
    done = ok(p.run("run", job, *RESTARTS, "-D", "poison.max-failures=0", "-D", "restart-strategy.fixed-delay.attempts=5"), 1)
    assert done.stderr.count(b"restart in") == 5, done.stderr


@test
def poison_is_set_aside_and_the_job_goes_on(p):
    p.write("in.json", '{"v":"1"}\n{"v":"0"}\n{"v":"x"}\n{"v":"2"}\n')
    done = ok(p.run("run", p.write("job.yaml", FAILING), *RESTARTS))
    assert [(raw(x), x["attempt"]) for x in letters(p)] == [(b'{"v":"0"}', 7), (b'{"v":"x"}', 7)], letters(p)
    assert letters(p)[0]["step"] == "t" and letters(p)[0]["error"] == "failed the job too often: division by zero", letters(p)
    assert (p.dir / "out.json").read_text() == '{"v":"1"}\n{"v":"2"}\n'
    assert b"written 2 + filtered 0 + aggregated 0 + late 0 + dead-lettered 2" in done.stderr, done.stderr


@test
def failures_are_counted_over_processes(p):
    for n, conf in enumerate(("", "execution.checkpointing.dir: chk\n", "execution.checkpointing.dir: sqlite://%s/s.db\n" % p.dir)):
        p.write("in.json", '{"v":"1"}\n{"v"\n{"v":"2"}\n')
        job = p.write(f"job{n}.yaml", conf + FAILING.replace("name: bad", f"name: bad{n}").replace("dead/", f"dead{n}/"))
        ok(p.run("run", job), 1)
        ok(p.run("run", job), 1)
        ok(p.run("run", job))  # the third failure is enough, and the job goes on at once
        assert [raw(x) for x in letters(p, f"dead{n}")] == [b'{"v"'], letters(p, f"dead{n}")


def build_plugin(p, name):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.c")
    include = os.path.join(os.path.dirname(source), "..", "..", "engine", "include")
    (p.dir / "plug").mkdir()
    subprocess.run(["cc", "-shared", "-fPIC", "-DSR_PLUGIN_MODULE", "-I", include, source, "-o", p.dir / "plug" / f"{name}.so"], check=True)


@test
def a_record_that_kills_its_decoder_is_passed_over(p):
    build_plugin(p, "abort_format")
    p.write("in.txt", "".join("abort\n" if i in (1500, 1501) else f"line {i}\n" for i in range(3000)))
    job = p.write("job.yaml", """pipeline.name: kill
plugins.dir: plug
sources:
  events: {connector: filesystem, path: in.txt, format: abort_format, schema: {k: STRING}}
sinks:
  out: {from: events, connector: filesystem, path: out/, format: raw}
dead-letter: {connector: filesystem, path: dead/}
""")
    runs = 0
    while p.run("run", job).returncode == -6:
        runs += 1
        assert runs < 10
    assert runs == 6, runs
    assert [(raw(x), x["line"]) for x in letters(p)] == [(b"abort", 1501), (b"abort", 1502)], letters(p)
    out = [line for f in (p.dir / "out").glob("part-*") for line in f.read_text().splitlines()]
    assert out == [f"line {i}" for i in range(3000) if i not in (1500, 1501)]


@test
def a_record_that_kills_the_process_is_found(p):
    build_plugin(p, "abort_sink")
    p.write("in.csv", "".join("%s,%d\n" % ("abort" if i == 1500 else "k", i) for i in range(3000)))
    text = """pipeline.name: kill
plugins.dir: plug
sources:
  events: {connector: filesystem, path: in.csv, format: csv, schema: {k: STRING, n: INT}}
sinks:
  out: {from: events, connector: abort_sink}
"""
    job = p.write("job.yaml", text + "dead-letter: {connector: filesystem, path: dead/}\n")
    for n in range(3):
        ok(p.run("run", job), -6)
    done = ok(p.run("run", job))
    (letter,) = letters(p)
    assert raw(letter) == b"abort,1500" and letter["line"] == 1501 and "died" in letter["error"], letter
    assert b"read 3,000 = written 2,999" in done.stderr, done.stderr
    job = p.write("job.yaml", text)
    for n in range(3):
        ok(p.run("run", job), -6)
    done = ok(p.run("run", job), 1)
    assert b"killed the process 3 times in a row" in done.stderr and b"in.csv" in done.stderr, done.stderr
    ok(p.run("run", job), -6)  # tried once more, as was said


@test
def what_a_format_lets_go_is_counted(p):
    """Bad records that ignore-parse-errors lets go are skipped; null, [] and changes nobody wants are filtered: the sums agree."""
    sink = "sinks: {out: {from: in, connector: print}}\n"
    p.write("in.json", '{"a":1}\n{"a":x}\nnull\n[]\n[{"a":2},{"a":3}]\n\nno\n')
    job = p.write("j.yaml", "sources: {in: {connector: filesystem, path: in.json, format: json, json.ignore-parse-errors: true, schema: {a: INT}}}\n" + sink)
    done = ok(p.run("run", job, "--fail-on-dead-letter"), 6)
    assert b"read 7 = written 3 + filtered 2 + aggregated 0 + late 0 + dead-lettered 0 + skipped 2" in done.stderr, done.stderr
    p.write("in.csv", "1,a\nx,b,c\n3\n\n4,d\n,,,,\n")
    job = p.write("c.yaml", "sources: {in: {connector: filesystem, path: in.csv, format: csv, csv.ignore-parse-errors: true, schema: {a: INT, b: STRING}}}\n" + sink)
    done = ok(p.run("run", job))
    assert b"read 5 = written 3 + filtered 0 + aggregated 0 + late 0 + dead-lettered 0 + skipped 2" in done.stderr, done.stderr
    p.write("in.cdc", '{"op":"c","after":{"a":1}}\nnull\n{"op":"z"}\n{"op":"u","after":{"a":1}}\n')
    job = p.write("d.yaml", "sources: {in: {connector: filesystem, path: in.cdc, format: debezium-json, debezium-json.ignore-parse-errors: true, schema: {a: INT}}}\n" + sink)
    done = ok(p.run("run", job))
    assert b"read 4 = written 1 + filtered 1 + aggregated 0 + late 0 + dead-lettered 0 + skipped 2" in done.stderr, done.stderr


@test
def a_damaged_list_of_poison_is_told_of_once(p):
    """The failures in it are counted anew; a run that finishes takes it away."""
    text = """poison.max-failures: 5
restart-strategy.type: none
sources: {e: {connector: filesystem, path: in.csv, format: csv, schema: {v: STRING}}}
transforms: {t: {from: e, select: [CAST(v AS INT) AS v]}}
sinks: {out: {from: t, connector: filesystem, path: out/, format: csv}}
"""
    p.write("in.csv", "x\n")
    job = p.write("job.yaml", text)
    ok(p.run("run", job), 1)
    (path,) = (p.dir / "run").glob("*.poison")
    path.write_bytes(path.read_bytes()[:-1])
    p.write("in.csv", "1\n")
    assert b"is damaged: failures are counted anew" in ok(p.run("run", job)).stderr
    assert b"damaged" not in ok(p.run("run", job)).stderr and not path.exists()

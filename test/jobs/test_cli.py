"""The command line: what a word means, where a fault lies, which exit code says it."""
import json
import re
import subprocess

from harness import ended, ok, test, wait_for

ENDLESS = """pipeline.name: endless
sources:
  events: {connector: nexmark, rate-limit: 100}
sinks:
  out: {from: events, connector: blackhole}
"""
PIPED = """execution.checkpointing.interval: 50ms
sources:
  lines: {connector: stdin, format: raw, schema: {line: STRING}}
sinks:
  out: {from: lines, connector: stdout, format: raw}
"""


def shell(p, words, **kw):
    return subprocess.run(["bash", "-c", words], cwd=p.dir, env={**p.env, "SR": p.binary}, capture_output=True,
                          timeout=60, **kw)


@test
def a_negative_number_is_no_option(p):
    assert ok(p.run("eval", "-1")).stdout == b"-1\n"
    assert ok(p.run("eval", "-.5 * 2")).stdout == b"-1.0\n"
    assert ok(p.run("eval", "--type", "--", "-ABS(-3)")).stdout == b"INT NOT NULL\t-3\n"
    assert b"behind --" in ok(p.run("eval", "-ABS(-3)"), 2).stderr


@test
def faults_of_dash_p_are_shown_as_dash_p(p):
    done = ok(p.run("validate", p.write("job.yaml", ENDLESS), "-p", "x8"), 3)
    assert done.stderr.startswith(b"-p:1:1: error") and b"    x8\n    ^\n" in done.stderr, done.stderr
    done = ok(p.run("validate", "job.yaml", "-D", "parallelism.default=x8"), 3)
    assert done.stderr.startswith(b"-D:1:21: error"), done.stderr


@test
def a_savepoint_without_a_place_is_a_fault_of_the_configuration(p):
    job = p.start("run", p.write("job.yaml", ENDLESS))
    wait_for("the job runs", lambda: p.status("endless"))
    done = ok(p.run("savepoint", "endless"), 3)
    assert b"--dir" in done.stderr, done.stderr
    ok(p.run("stop", "endless"), 3)
    assert p.status("endless"), "the job must go on"
    ok(p.run("cancel", "endless"))
    ended(job)


@test
def a_job_that_is_canceled_before_its_first_checkpoint_has_nothing_to_warn_of(p):
    job = p.start("run", "-q", p.write("job.yaml", "execution.checkpointing: {interval: 1 h, dir: state}\n" + ENDLESS))
    wait_for("the job runs", lambda: p.status("endless"))
    ok(p.run("cancel", "endless"))
    assert ended(job).stderr == b"", "a warning"


@test
def a_job_that_runs_elsewhere_is_busy_not_unfinished(p):
    text = ENDLESS.replace("connector: blackhole", "connector: filesystem, path: out, format: json")
    p.write("job.yaml", "execution.checkpointing: {interval: 20ms, dir: state}\n" + text)
    job = p.start("run", "job.yaml")
    wait_for("a checkpoint", lambda: (p.status("endless") or {}).get("checkpoints", {}).get("completed"))
    done = ok(p.run("run", "job.yaml", "-D", "run.dir=other"), 5)
    assert b"pid" in done.stderr and b"unfinished" not in done.stderr, done.stderr
    ok(p.run("cancel", "endless"))
    ended(job)


@test
def a_full_stdout_ends_the_job_at_once_with_checkpointing_too(p):
    p.write("job.yaml", PIPED)
    done = ok(shell(p, "$SR run job.yaml >/dev/full <<<one"), 1)
    assert b"No space left" in done.stderr and b"restart" not in done.stderr, done.stderr


@test
def an_answer_that_cannot_be_written_is_an_error(p):
    done = ok(shell(p, "$SR functions >/dev/full"), 1)
    assert b"No space left" in done.stderr, done.stderr


@test
def validate_names_what_can_be_lost_with_its_cure(p):
    p.write("job.yaml", ENDLESS.replace("blackhole", "print"))
    risks = json.loads(ok(p.run("validate", "--json", "job.yaml")).stdout)["risks"]
    assert all(r["cure"] and r["message"] for r in risks)
    said = " ".join(f"{r['level']}: {r['message']}" for r in risks)
    for words in ("warning: sink 'out' (print) is at-least-once", "warning: checkpointing is off",
                  "notice: the first failure ends the job", "notice: there is no standby"):
        assert words in said, (words, said)
    assert next(r for r in risks if "print" in r["message"])["line"] == 5
    answer = json.loads(ok(p.run("validate", "--strict", "--json", "job.yaml"), 3).stdout)
    assert answer["valid"] is False and answer["warnings"] == 2, answer
    mended = ("execution.checkpointing: {interval: 1s, dir: state}\n"
              + ENDLESS.replace("connector: blackhole", "connector: filesystem, path: out, format: json"))
    done = ok(p.run("validate", "--strict", p.write("mended.yaml", mended)))
    assert b"events -> out: exactly-once\n" in done.stdout and b"warning" not in done.stdout, done.stdout
    assert b"notice" not in ok(p.run("validate", "-q", "mended.yaml")).stdout


@test
def a_pipe_is_a_risk_only_where_the_job_is_gone_on_with(p):
    p.write("job.yaml", PIPED)
    assert b"warning: source 'lines' (stdin) cannot go back" in ok(p.run("validate", "--strict", "job.yaml"), 3).stdout
    p.write("filter.yaml", PIPED.split("\n", 1)[1])
    done = ok(p.run("validate", "--strict", "filter.yaml"))
    assert b"notice: source 'lines' (stdin) cannot go back" in done.stdout and b"no guarantee" in done.stdout, done.stdout


@test
def late_and_skipped_rows_are_named(p):
    text = open(p.job("page-hits.yaml")).read().replace("format: csv", "format: csv\n    on-error: skip")
    said = ok(p.run("validate", p.write("job.yaml", text))).stdout
    assert b"on-error: skip" in said and b"counted as late" in said, said


@test
def init_makes_valid_jobs_of_every_connector_and_format(p):
    there = json.loads(ok(p.run("connectors", "--json")).stdout)
    formats = [k["name"] for k in there if k["kind"] == "format"]
    kinds = {}
    for k in there:
        kinds.setdefault(k["name"], set()).add(k["kind"])
    made = 0
    for name in sorted(n for n, k in kinds.items() if k & {"source", "sink"}):
        for words in ([name], *([name, f] for f in formats)):
            done = p.run("init", *words)
            if done.returncode == 2 and len(words) == 2:  # rows are made by the connector, or the format only reads
                assert b"does not go with format" in done.stderr, done.stderr
                continue
            text = ok(done).stdout.decode()
            assert f"connector: {name}\n" in text and (len(words) < 2 or f"format: {words[1]}\n" in text), words
            ok(p.run("validate", p.write("job.yaml", text.replace("CHANGE_ME", "mine"))))
            made += 1
    assert made >= len(formats) + 6, made
    assert b"\n    #headers.NAME: ...\n" in ok(p.run("init", "http", "json")).stdout
    ok(p.run("init", "filesytem"), 2)
    assert b"did you mean 'json'" in ok(p.run("init", "filesystem", "jsn"), 2).stderr


@test
def every_default_that_init_shows_may_be_written(p):
    for words in (["filesystem", "csv"], ["filesystem", "json"], ["sqlite"]):
        lines = ok(p.run("init", *words)).stdout.decode().replace("CHANGE_ME", "mine").split("\n")
        keys = [i for i, line in enumerate(lines) if re.match(r" +#[\w.-]+: (?!\.\.\.)", line) and "(ts" not in line]
        assert len(keys) > 5
        for i in keys:
            key = lines[i].split(":")[0].strip(" #")
            if key in ("watermark", "where", "select", "window", "group-by"):
                continue  # examples, not defaults
            text = "\n".join([*lines[:i], lines[i].replace("#", "", 1), *lines[i + 1:]])
            ok(p.run("validate", p.write("job.yaml", text)))


@test
def what_was_set_aside_on_purpose_is_no_risk(p):
    text = open(p.job("page-hits.yaml")).read() + "\ndead-letter: {connector: filesystem, path: dead/}\n"
    said = ok(p.run("validate", p.write("job.yaml", text))).stdout
    assert b"cannot be read stops the job" not in said and b"counted as late" in said, said
    kept = text.replace("    window:", "    on-late: dead-letter\n    window:")
    assert b"counted as late" not in ok(p.run("validate", p.write("job.yaml", kept))).stdout

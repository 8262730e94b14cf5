"""What is wrong is said with its place and a hint, with the right exit code, and loses nothing."""
import json

from harness import ok, test

JOB = """pipeline.name: t
sources:
  events:
    connector: filesystem
    path: in.csv
    format: csv
    schema: {id: BIGINT, name: STRING}
transforms:
  some:
    from: events
    select: [id, name]
sinks:
  out:
    from: some
    connector: filesystem
    path: out.csv
    format: csv
"""


def faults(p, text, code=3):
    done = ok(p.run("validate", "--json", p.write("job.yaml", text)), code)
    return json.loads(done.stdout)["faults"]


@test
def a_job_file_that_is_not_there_is_a_fault(p):
    done = ok(p.run("run", "absent.yaml"), 3)
    assert b"absent.yaml" in done.stderr


@test
def all_faults_come_at_once_with_places(p):
    bad = JOB.replace("path: in.csv", "paht: in.csv").replace("select: [id, name]", "select: [id, nam]") \
             .replace("from: some", "from: somee")
    got = [(f["line"], f["message"]) for f in faults(p, bad) if f["level"] == "error"]
    assert {5, 11, 14} <= {line for line, _ in got}, got


@test
def a_fault_shows_line_caret_and_the_nearest_key(p):
    done = ok(p.run("validate", p.write("job.yaml", JOB.replace("path: in.csv", "paht: in.csv"))), 3)
    text = done.stderr.decode()
    assert "job.yaml:5:5:" in text and "paht: in.csv" in text and "path" in text and "^" in text, text


@test
def a_dot_in_the_name_of_a_step_is_told_of(p):
    got = faults(p, JOB.replace("events:", "ev.ents:").replace("from: events", "from: ev.ents"))
    assert any("a dot ends the name of a step" in (f.get("hint") or "") for f in got), got


@test
def a_secret_is_never_printed(p):
    bad = JOB.replace("path: in.csv", "paht: in.csv\n    password: hunter2")
    done = p.run("validate", p.write("job.yaml", bad))
    assert done.returncode == 3 and b"hunter2" not in done.stderr + done.stdout, done.stderr


@test
def a_type_fault_points_into_the_expression(p):
    bad = JOB.replace("select: [id, name]", "where: id = name AND SUBSTRING(id, 1, name) = 'x'\n    select: [id, name]")
    done = ok(p.run("validate", p.write("job.yaml", bad)), 3)
    assert b"job.yaml:11:" in done.stderr, done.stderr


@test
def an_input_that_is_not_there_fails_the_job(p):
    done = ok(p.run("run", p.write("job.yaml", JOB), "-D", "restart-strategy.type=none"), 1)
    assert b"in.csv" in done.stderr and not (p.dir / "out.csv").exists()


@test
def a_bad_row_fails_the_job_naming_file_and_place(p):
    p.write("in.csv", "1,a\nx,b\n3,c\n")
    done = ok(p.run("run", p.write("job.yaml", JOB), "-D", "restart-strategy.type=none"), 1)
    assert b"in.csv" in done.stderr and not (p.dir / "out.csv").exists(), done.stderr


@test
def a_bad_row_can_be_skipped_and_is_counted(p):
    p.write("in.csv", "1,a\nx,b\n3,c\n")
    done = ok(p.run("run", p.write("job.yaml", JOB.replace("format: csv\n    schema", "format: csv\n    on-error: skip\n    schema"))))
    assert (p.dir / "out.csv").read_text() == "1,a\n3,c\n"
    assert b"read 3 = written 2 + filtered 0 + aggregated 0 + late 0 + dead-lettered 0 + skipped 1" in done.stderr, done.stderr


@test
def a_claim_that_cannot_be_kept_is_refused(p):
    bad = JOB.replace("connector: filesystem\n    path: in.csv", "connector: stdin") \
             .replace("path: out.csv\n    format: csv", "path: out/\n    format: csv\n    sink.delivery-guarantee: exactly-once")
    done = ok(p.run("validate", p.write("job.yaml", bad)), 3)
    assert b"exactly-once" in done.stderr, done.stderr


@test
def wrong_usage_ends_with_2(p):
    for args in (["runn"], ["run"], ["run", "--no-such"], ["plan"], ["checkpoints", "list"], ["run", "a", "--from"]):
        ok(p.run(*args), 2)


@test
def there_is_no_running_job(p):
    for command in ("savepoint", "stop", "cancel", "status"):
        ok(p.run(command), 8)
    assert ok(p.run("list")).stdout == b""


@test
def checkpoints_of_nothing_end_with_4(p):
    ok(p.run("checkpoints", "list", p.dir / "absent"), 4)
    ok(p.run("resume", "--from", p.dir / "absent"), 4)


@test
def a_place_on_another_machine_is_a_fault(p):
    for key in ("execution.checkpointing.dir", "execution.checkpointing.savepoint-dir"):
        done = ok(p.run("validate", p.job("nexmark-q0.yaml"), "-D", f"{key}=s3://bucket/x"), 3)
        assert b"s3://" in done.stderr and b"file:///" in done.stderr


@test
def state_in_memory_is_a_warning_that_strict_counts(p):
    args = ["validate", p.job("nexmark-q0.yaml"), "-D", "execution.checkpointing.storage=jobmanager"]
    assert b"warning: checkpoints lie in memory" in ok(p.run(*args)).stdout
    ok(p.run(*args, "--strict"), 3)


@test
def a_reserved_word_as_a_column_gets_its_hint(p):
    done = ok(p.run("eval", "timestamp = 1"), 3)
    assert b"backticks" in done.stderr
    assert b"backticks" in ok(p.run("eval", "UPPER(date)"), 3).stderr


@test
def more_columns_than_a_step_may_have_are_one_fault(p):
    columns = "".join(f"      - auction + {i} AS c{i}\n" for i in range(10002))
    done = ok(p.run("validate", p.write("wide.yaml", "sources: {e: {connector: nexmark, events.num: 1}}\n"
                                        f"transforms:\n  x:\n    from: e\n    select:\n{columns}"
                                        "sinks: {o: {from: x, connector: blackhole}}\n")), 3)
    assert done.stderr.count(b"error:") == 1 and b"more than 10000 columns" in done.stderr, done.stderr[-500:]


@test
def what_one_source_alone_can_use_is_shared_by_none(p):
    """Two readers of a pipe tear its records, two of a journal or an address fail for ever."""
    def said(a, b):
        text = f"sources: {{a: {{{a}, format: raw, schema: {{x: STRING}}}}, b: {{{b}, format: raw, schema: {{x: STRING}}}}}}\n" \
               "sinks: {o: {from: a, connector: blackhole}, p: {from: b, connector: blackhole}}\n"
        return [f["message"] for f in json.loads(p.run("validate", "--json", p.write("two.yaml", text)).stdout).get("faults", [])]
    http, socket, stdin = 'connector: http, listen: "127.0.0.1:%d"', "connector: socket, hostname: h, port: 1", "connector: stdin"
    for a, b, what in ((stdin, stdin, "both use stdin"), (http % 8080, http % 8080, "both use 127.0.0.1:8080"),
                       (http % 0 + ", journal: j", socket + ", journal: j", "/j, which one alone can")):
        assert any(what in message for message in said(a, b)), (what, said(a, b))
    for a, b in ((http % 0, http % 0), (http % 8080, http % 8081), (socket, socket), (stdin, http % 8080)):
        assert not said(a, b), said(a, b)

"""help explains all that has a name; the manual page and completion know the same tables."""
import json
import os
import pty
import re
import select
import shutil
import subprocess
import time

from harness import ended, ok, test, wait_for

ENDLESS = """pipeline.name: endless
sources:
  events: {connector: nexmark, rate-limit: 100}
sinks:
  out: {from: events, connector: blackhole}
"""


def names(p):
    """All that help must know: commands, keys, connectors, formats, functions."""
    commands = json.loads(ok(p.run("help", "--json")).stdout)["commands"]
    types = json.loads(ok(p.run("connectors", "--json")).stdout)
    functions = json.loads(ok(p.run("functions", "--json")).stdout)
    return [c["command"] for c in commands], sorted({t["name"] for t in types}), [f["name"] for f in functions]


@test
def help_explains_everything_that_has_a_name(p):
    commands, types, functions = names(p)
    keys = [o["key"] for t in types for k in json.loads(ok(p.run("connectors", t, "--json")).stdout)
            for o in k["options"]]
    assert len(keys) > 30
    for name in [*commands, *types, *functions[:40], *sorted(set(keys)), "exit-codes", "0", "4", "141", "130",
                 "pipeline.name", "execution.checkpointing.interval", "watermark", "sources", "TUMBLE", "hop"]:
        assert len(ok(p.run("help", name)).stdout) > 20, name
        assert json.loads(ok(p.run("help", name, "--json")).stdout), name


@test
def what_is_nearly_a_name_is_offered(p):
    for wrong, right in (("runn", "run"), ("exit-code", "exit-codes"), ("filesytem", "filesystem"),
                         ("csw", "csv"), ("paralelism.default", "parallelism.default"), ("UPER", "UPPER"),
                         ("csv.heder", "csv.header")):
        done = ok(p.run("help", wrong), 2)
        assert f"did you mean '{right}'?".encode() in done.stderr, (wrong, done.stderr)
    assert b"did you mean 'run job.yaml'" in ok(p.run("job.yaml"), 2).stderr
    assert b"did you mean '--from'" in ok(p.run("run", "--form", "x"), 2).stderr
    ok(p.run("help", "zzzzzzzzz"), 2)
    ok(p.run("help", "999"), 2)


@test
def types_are_explained_and_each_of_them_can_be_declared(p):
    said = ok(p.run("help", "schema")).stdout.decode()
    assert ok(p.run("help", "types")).stdout == ok(p.run("help", "multiset")).stdout == said.encode()
    types = " ".join(said.split()).split("Flink's: ")[1].split(", each with")[0]
    types = types.replace("DECIMAL(p, s)", "DECIMAL(9; 2)").replace("MAP<K, V>", "MAP<STRING; INT>").replace("ROW<name T, ...>", "ROW<name INT>")
    types = types.replace("STRUCTURED<'class', name T, ...>", "STRUCTURED<'a.User'; name INT>")
    types = [t.replace(";", ",").replace("(n)", "(5)").replace("(p)", "(3)").replace("<T>", "<STRING>") for t in types.split(", ")]
    assert len(types) == 24 and "MULTISET<STRING>" in types, types
    assert types.pop() == "VARIANT" # no format of Flink's reads one: it is made by PARSE_JSON
    schema = ", ".join(f"c{i} {t}, n{i} {t} NOT NULL" for i, t in enumerate(types))
    ok(p.run("validate", p.write("job.yaml", f"""sources:
  events: {{connector: filesystem, path: in, format: json, schema: "{schema}"}}
sinks:
  out: {{from: events, connector: blackhole}}
""")))


@test
def words_of_sql_lead_to_the_keys(p):
    job = """sources:
  events: {connector: datagen, number-of-rows: 1, schema: {n: INT}}
transforms:
  rows: {from: events, having: n > 1}
sinks:
  out: {from: rows, connector: filesystem, path: out/, format: csv, partitioned-by: [n], sink.compression: gzip}
"""
    said = ok(p.run("validate", p.write("job.yaml", job)), 3).stderr
    for words in (b"did you mean 'partition-keys'?", b"did you mean 'compression'?", b"with `where:`, does that"):
        assert words in said, (words, said)


@test
def a_misspelt_running_job_is_offered(p):
    job = p.start("run", p.write("job.yaml", ENDLESS))
    wait_for("the job runs", lambda: p.status("endless"))
    assert b"did you mean 'endless'?" in ok(p.run("status", "enless"), 8).stderr
    assert complete(p, "status", "e") == ["endless"]
    ok(p.run("cancel"))
    ended(job)


@test
def the_manual_page_has_every_command_key_and_connector(p):
    page = ok(p.run("help", "--man")).stdout.decode()
    plain = page.replace("\\-", "-")
    commands, types, _ = names(p)
    for name in commands:
        assert f"\n.SS {name} " in plain, name
    for name in types:
        assert re.search(rf"\n\.SS (Source|Sink|Format) {name}\n", plain), name
    for words in ("execution.checkpointing.interval", "csv.header", "sink.delivery-guarantee", ".SH EXIT STATUS"):
        assert words in plain, words
    wrong = [line for line in page.splitlines() if line.startswith(("'", ".")) and
             line.split()[0] not in (".TH", ".SH", ".SS", ".TP", ".B", ".I")]
    assert not wrong, wrong[:5]
    if shutil.which("man"):
        done = subprocess.run(["man", "--warnings", "-l", p.write("streamrun.1", page)], capture_output=True, timeout=60,
                              env={**p.env, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0 and not done.stderr and b"EXIT STATUS" in done.stdout, done.stderr


def complete(p, *words):
    """What the binary offers for the last of the words."""
    return ok(p.run("completion", "words", "--", *words)).stdout.decode().split("\n")[:-1]


@test
def every_word_of_a_command_line_is_completed(p):
    job = p.write("job.yaml", ENDLESS)
    assert complete(p, "ru") == ["run"] and "validate" in complete(p, "")
    assert complete(p, "run", "--fr") == ["--from", "--fresh"]
    assert complete(p, "run", "") == [":files"] and complete(p, "stop", "--dir", "") == [":dirs"]
    assert complete(p, "run", "--from=") == [":files"]
    assert complete(p, "run", "-D", "parallelism.d") == ["parallelism.default="]
    assert complete(p, "run", "-Dparallelism.d") == ["-Dparallelism.default="]
    assert complete(p, "run", "-D", "restart-strategy.type=fi") == ["restart-strategy.type=fixed-delay"]
    assert complete(p, "run", "-D", "restart-strategy.type=n") == ["restart-strategy.type=none"]
    assert complete(p, "run", job, "-D", "sources.events.rate") == ["sources.events.rate-limit="]
    assert complete(p, "checkpoints", "v") == ["verify"] and complete(p, "checkpoints", "list", "") == [":files"]
    assert complete(p, "completion", "") == ["bash", "zsh", "fish"]
    assert complete(p, "init", "sq") == ["sqlite"] and complete(p, "init", "filesystem", "cs") == ["csv"]
    assert complete(p, "functions", "regexp_e") == ["regexp_extract", "regexp_extract_all"]
    assert complete(p, "help", "exit") == ["exit-codes"] and complete(p, "no-such", "") == []
    assert complete(p, "run", "-p", "") == [] and complete(p, "connectors", "--g") == ["--guarantees"]


def at_bash(p, line, expect):
    """Types a line into a real bash that has the completion, and waits for what it becomes."""
    (p.dir / "bin").mkdir(exist_ok=True)
    if not (p.dir / "bin" / "streamrun").exists():
        (p.dir / "bin" / "streamrun").symlink_to(p.binary)
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(p.dir)
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"],
                   {**p.env, "PATH": f"{p.dir / 'bin'}:{os.environ['PATH']}", "PS1": "ready> ", "TERM": "dumb",
                    "COLUMNS": "200"})
    seen = b""

    def until(words):
        nonlocal seen
        end = time.monotonic() + 20
        while words not in seen and time.monotonic() < end:
            if select.select([fd], [], [], 0.1)[0]:
                seen += os.read(fd, 4096)
        assert words in seen, (words, seen)
        seen = b""

    try:
        until(b"ready> ")
        os.write(fd, b"eval \"$(streamrun completion bash)\"; bind 'set enable-bracketed-paste off'; echo do'ne'\n")
        until(b"done\r\nready> ")
        os.write(fd, line)
        until(expect)
    finally:
        os.write(fd, b"\x15exit\n")
        os.close(fd)
        os.waitpid(pid, 0)


@test
def a_real_bash_completes_words(p):
    p.write("my-job.yaml", ENDLESS)
    at_bash(p, b"streamrun vali\t", b"streamrun validate ")
    at_bash(p, b"streamrun run my\t", b"streamrun run my-job.yaml")
    at_bash(p, b"streamrun run my-job.yaml -D sinks.out.sink.d\t", b"sinks.out.sink.delivery-guarantee=")
    at_bash(p, b"streamrun run -D restart-strategy.type=fi\t", b"restart-strategy.type=fixed-delay ")


@test
def scripts_for_other_shells_can_be_read_by_them(p):
    for shell, args in (("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])):
        script = p.write(f"completion.{shell}", ok(p.run("completion", shell)).stdout)
        assert b"completion words --" in open(script, "rb").read()
        if shutil.which(shell):
            done = subprocess.run([shell, *args, script], capture_output=True, timeout=60)
            assert done.returncode == 0 and not done.stderr, done.stderr
    ok(p.run("completion", "csh"), 2)

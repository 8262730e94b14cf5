"""Connectors built outside the tree: against an installed prefix by pkg-config, run through plugins.dir."""
import os
import pathlib
import re
import subprocess
import time

from harness import ROOT, ok, test, wait_for

README = (ROOT / "README.md").read_text()
SOURCES = ROOT / "test" / "plugins"


def tool(p, *args, **kw):
    done = subprocess.run([str(a) for a in args], cwd=p.dir, capture_output=True, timeout=120, **kw)
    assert done.returncode == 0, (args, done.stdout.decode(), done.stderr.decode())
    return done.stdout.decode()


def flags(p):
    """What pkg-config says of the headers, installed into a place of the test's own."""
    build = pathlib.Path(p.binary).parent.parent
    tool(p, "meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", p.dir / "root")
    found = next((p.dir / "root").rglob("streamrun.pc"))
    return tool(p, "pkg-config", "--cflags", "streamrun",
                env={**os.environ, "PKG_CONFIG_PATH": str(found.parent), "PKG_CONFIG_SYSROOT_DIR": str(p.dir / "root")}).split()


def compiled(p, name, source, *more):
    (p.dir / "plugins").mkdir(exist_ok=True)
    tool(p, "cc", "-shared", "-fPIC", "-DSR_PLUGIN_MODULE", *flags(p), *more, source, "-o", p.dir / "plugins" / f"{name}.so")
    return p.dir / "plugins" / f"{name}.so"


def kit(p, name, module):
    """The conformance kit, where tests are built."""
    program = pathlib.Path(p.binary).parent.parent / "test" / "plugins" / "plugin_kit"
    if program.exists():
        tool(p, program, name, module)


JOB = """plugins.dir: plugins
pipeline.name: plugged
restart-strategy: {type: fixed-delay, fixed-delay: {delay: 10ms}}
execution.checkpointing: {interval: 10ms, dir: state}
sources:
  events: {connector: lines, splits: 5, lines: 9000, rate-limit: 30000, format: raw, schema: {line: STRING}}
sinks:
  out: {from: events, connector: shelf, path: out}
"""


def shelved(p):
    return sorted(line for f in (p.dir / "out").glob("shelf-*") for line in f.read_text().splitlines())


@test
def a_source_and_a_sink_from_outside_survive_kills(p):
    kit(p, "lines", compiled(p, "lines", SOURCES / "lines.c"))
    kit(p, "shelf", compiled(p, "shelf", SOURCES / "shelf.c"))
    p.write("job.yaml", JOB)
    said = ok(p.run("validate", "--strict", "job.yaml")).stdout
    assert b"events -> out: exactly-once\n" in said, said
    for n in range(3):
        job = p.start("run", "job.yaml", "-p", str(1 + n), *(["--continue"] if n else []))
        # killed once it has taken a checkpoint of its own; each goes on with another parallelism
        wait_for("a checkpoint", lambda: (p.status("plugged") or {}).get("checkpoints", {}).get("completed", 0) > 1)
        job.kill()
        job.wait()
    ok(p.run("run", "job.yaml", "--continue", "-D", "sources.events.rate-limit=0"))
    want = sorted(f"{s:04} line {n:04}" for s in range(5) for n in range(9000))
    assert shelved(p) == want, (len(shelved(p)), len(want))
    assert not list((p.dir / "out").glob(".shelf-*"))


@test
def the_source_in_readme_compiles_and_goes_on_after_a_kill(p):
    text = re.search(r"`counter.c`.*?```c\n(.*?)```", README, re.S)[1]
    assert len([line for line in text.split("\n") if line.strip()]) <= 66, "it is to be short"
    build = re.search(r"```sh\n(cc .*?)\n```", README, re.S)[1]
    path = p.write("plugins/counter.c", text)
    compiled(p, "counter", path, "-Wall", "-Werror")
    cflags = " ".join(flags(p))
    tool(p, "sh", "-c", "cd plugins && " + build.replace("$(pkg-config --cflags streamrun)", cflags))
    job = p.write("job.yaml", """plugins.dir: plugins
pipeline.name: counted
execution.checkpointing: {interval: 10ms, dir: state}
sources:
  events: {connector: counter, numbers: 20000, rate-limit: 20000, schema: {n: BIGINT}}
sinks:
  out: {from: events, connector: filesystem, path: out, format: csv}
""")
    child = p.start("run", job)
    wait_for("a checkpoint", lambda: (p.status("counted") or {}).get("checkpoints", {}).get("completed", 0) > 2)
    child.kill()
    child.wait()
    ok(p.run("run", job, "--continue", "-p", "2", "-D", "sources.events.rate-limit=0"))
    rows = sorted(int(line) for f in (p.dir / "out").rglob("*") if f.is_file() and f.name[0] != "."
                  for line in f.read_text().splitlines())
    assert rows == list(range(20000)), len(rows)
    plain = p.write("plain.yaml", """plugins.dir: plugins
sources: {events: {connector: counter, numbers: 10, schema: {n: BIGINT}}}
sinks: {out: {from: events, connector: stdout, format: csv}}
""")
    assert sorted(ok(p.run("run", "-q", plain)).stdout.split()) == [b"%d" % n for n in range(10)]
    other = p.write("other.yaml", open(job).read().replace("n: BIGINT", "n: STRING"))
    assert b"one BIGINT" in ok(p.run("validate", other), 3).stderr


@test
def what_is_no_plugin_is_a_clear_fault(p):
    include = flags(p)
    (p.dir / "plugins").mkdir()
    (p.dir / "plugins").chmod(0o755)

    def expect(name, words, text=None, **kw):
        path = p.dir / "plugins" / f"{name}.so"
        if isinstance(text, str):
            source = p.write(f"{name}.c", text)
            tool(p, "cc", "-shared", "-fPIC", "-DSR_PLUGIN_MODULE", *include, source, "-o", path)
        elif text is not None:
            path.write_bytes(text)
        path.exists() and path.chmod(kw.get("mode", 0o644))
        job = f"plugins.dir: plugins\nsources:\n  e: {{connector: {name}}}\nsinks:\n  o: {{from: e, connector: blackhole}}\n"
        done = ok(p.run("validate", p.write("job.yaml", job)), 3)
        assert b"job.yaml:3:" in done.stderr and words in done.stderr, (name, done.stderr)

    head = "#include <streamrun/plugin.h>\n"
    expect("absent", b"there is no connector 'absent'")
    expect("text", b"not a shared object", b"just a text\n")
    expect("open", b"others must not be able to write it", b"x", mode=0o666)
    expect("other", b"no symbol sr_plugin_module", head + "SR_EXPORT int other; int other = 1;\n")
    expect("undefined", b"undefined symbol: nobody_has_this",
           head + "int nobody_has_this(void); SR_EXPORT int f(void); int f(void) { return nobody_has_this(); }\n"
                  "SR_PLUGIN(x) = {SR_ABI_MAJOR, SR_ABI_MINOR, \"x\", \"1\", \"\"};\n")
    expect("elder", b"was built for plugin interface 9.1", head + "SR_PLUGIN(elder) = {9, 1, \"elder\", \"1\", \"\"};\n")
    expect("empty", b"brings nothing of the name 'empty'",
           head + "SR_PLUGIN(empty) = {SR_ABI_MAJOR, SR_ABI_MINOR, \"empty\", \"1\", \"\"};\n")
    expect("partly", b"source 'partly' has no 'check'",
           head + "static const struct sr_source_type t = {.size = sizeof(t), .name = \"partly\"};\n"
                  "static const struct sr_source_type *const ts[] = {&t, 0};\n"
                  "SR_PLUGIN(partly) = {SR_ABI_MAJOR, SR_ABI_MINOR, \"partly\", \"1\", \"\", .sources = ts};\n")
    expect("small", b"too small for plugin interface",
           head + "static const struct sr_source_type t = {.size = 8, .name = \"small\"};\n"
                  "static const struct sr_source_type *const ts[] = {&t, 0};\n"
                  "SR_PLUGIN(small) = {SR_ABI_MAJOR, SR_ABI_MINOR, \"small\", \"1\", \"\", .sources = ts};\n")


@test
def an_installed_program_finds_its_own_modules_and_says_when_one_is_missing(p):
    flags(p)  # installs
    program, = (p.dir / "root").rglob("bin/streamrun")
    module, = (p.dir / "root").rglob("streamrun/http.so")
    said = tool(p, program, "connectors")
    assert re.search(r"^source +http ", said, re.M) and re.search(r"^sink +http ", said, re.M), said
    module.unlink()
    job = p.write("job.yaml", "sources: {e: {connector: http, format: raw, schema: {a: STRING}}}\nsinks: {o: {from: e, connector: blackhole}}\n")
    done = subprocess.run([program, "validate", job], cwd=p.dir, capture_output=True, timeout=60)
    assert done.returncode == 3 and b"it is a module of streamrun" in done.stderr + done.stdout, done


@test
def a_plugin_shows_its_options(p):
    text = re.search(r"`counter.c`.*?```c\n(.*?)```", README, re.S)[1]
    compiled(p, "counter", p.write("plugins/counter.c", text))
    said = ok(p.run("connectors", "counter", "--plugins", "plugins")).stdout
    assert b"source counter" in said and b"numbers\n" in said and b"How many." in said, said
    ok(p.run("connectors", "counter"), 2)


@test
def a_source_that_says_data_and_gives_none_is_told_of_once(p):
    text = re.search(r"`counter.c`.*?```c\n(.*?)```", README, re.S)[1]
    lazy = text.replace("if (n->is_over[k]) continue;", "").replace("? SR_POLL_SPLIT_END : SR_POLL_DATA", "? SR_POLL_DATA : SR_POLL_DATA")
    assert lazy != text
    compiled(p, "counter", p.write("plugins/counter.c", lazy))
    child = p.start("run", p.write("job.yaml", """plugins.dir: plugins
sources: {events: {connector: counter, numbers: 44, schema: {n: BIGINT}}}
sinks: {out: {from: events, connector: stdout, format: csv}}
"""))
    said = child.stderr.readline() + child.stderr.readline()
    assert b"connector counter said 10000 times in a row that there is data" in said, said
    wait_for("calm", lambda: cpu(child.pid) - cpu(child.pid, 0.3) > -0.1)
    child.terminate()
    rest = child.communicate(timeout=60)
    assert b"said 10000 times" not in rest[1] and rest[0].count(b"\n") == 11, rest


def cpu(pid, later=0):
    """Seconds of processor time that it has used, after a while."""
    time.sleep(later)
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

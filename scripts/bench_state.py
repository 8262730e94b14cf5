"""Rows of scripts/bench about checkpoints of large and small state: freeze, restore, restart, often, write."""
import json
import os
import statistics
import subprocess
import time

KEY = "abcdefghijklmnopqrstuvwxyz" * 3  # in front of each number: about 180 bytes of state a key
GROUPS = """pipeline.name: {name}
sources:
  events: {{{source}, format: csv, schema: {{k: STRING, v: BIGINT}}}}
transforms:
  some: {{from: events, group-by: [k], select: [k, COUNT(*) AS n, MAX(v) AS m]}}
sinks:
  out: {{from: some, connector: {sink}}}
"""
MIB = 1 << 20


def job(b, name, source, sink):
    path = b.dir / f"{name}.yaml"
    path.write_text(GROUPS.format(name=name, source=source, sink=sink))
    return path


def stored(b, name, form):
    return f"{'sqlite' if form == 'sqlite' else 'file'}://{b.dir}/{name}.{'db' if form == 'sqlite' else 'chk'}"


def keys_file(b, name, count):
    (b.dir / name).mkdir(exist_ok=True)
    with open(b.dir / name / "keys.csv", "w") as f:
        for i in range(count):
            f.write(f"{KEY}-{i},{i}\n")
    return f"connector: filesystem, path: {b.dir}/{name}"


def probe(b, command, keys):
    done = subprocess.run([b.tools / "latency_probe", str(keys), "5000", "30", *command], env=b.env, capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr.decode()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def freeze(b, keys=6_000_000, runs=3):
    """How long a row waits in a job with a GiB of state: without checkpoints, and while it takes them all the time. A machine
    that others use makes rows wait too, so the job without checkpoints stands beside, and what a row waited while a thread
    that it needs wanted a core and had none is taken off: its own wait."""
    path = job(b, "frozen", "connector: stdin", "print")
    bare = [b.binary, "run", "-p", "1", "--fresh", path]
    commands = {"without": bare}
    for form in ("directory", "sqlite"):
        commands[form] = [*bare, "-D", "execution.checkpointing.interval=5s", "-D",
                          f"execution.checkpointing.dir={stored(b, 'frozen', form)}"]
    got = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            got[name].append(probe(b, command, keys))
            tell_probe(name, got[name][-1])
    for name, command in commands.items():
        own = [g["own"] for g in got[name]]
        waits = "; ".join(f"{what} {min(v):.1f}, {statistics.median(v):.1f}, {max(v):.1f}" for what, v in
                          (("own wait", own), ("by the clock", [g["rows"]["max"] for g in got[name]]),
                           ("beyond the slowest byte beside it", [g["beyond"] for g in got[name]])))
        is_judged = name != "without"
        b.report("freeze", f"{statistics.median(own):.1f} ms", "<= 20 ms" if is_judged else "-",
                 not is_judged or statistics.median(own) <= 20, f"{name}: most that a row waits, least, median and most of {runs} runs in ms: {waits}",
                 [b.tools / "latency_probe", keys, 5000, 30, *command])


def tell_probe(name, got):
    """Times of rows, and of bytes that went to another process and back at the same time."""
    for what in ("rows", "bytes"):
        t = got[what]
        below = ", ".join(f"{n} < {ms} ms" for ms, n in t["below"].items() if n > 0)
        print(f"             {name}, {what}: median {t['p50']:.2f}, 99.9 % {t['p999']:.1f}, most {t['max']:.1f} ms; {below}", flush=True)


def detached(b, path, *more, parallelism=("-p", "1")):
    """Starts a job in the background; seconds until all its tasks run."""
    start = time.monotonic()
    done = subprocess.run([b.binary, "run", "-d", *parallelism, "--continue", path, *more], env=b.env, capture_output=True)
    took = time.monotonic() - start
    if done.returncode != 0:
        raise SystemExit(f"{path}: {done.stderr.decode()[-2000:]}")
    return took


def resident(b, path):
    """Megabytes of memory of a running job's process."""
    done = subprocess.run([b.binary, "status", "--json", path.stem], env=b.env, capture_output=True, check=True)
    state = json.loads(done.stdout)
    pid = (state[0] if isinstance(state, list) else state)["pid"]
    pages = int(open(f"/proc/{pid}/statm").read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cancel(b, path):
    subprocess.run([b.binary, "cancel", path.stem], env=b.env, capture_output=True, check=True)


def restore(b, keys=3_000_000):
    """State into memory, all digests looked at, against reading the same file and digesting it."""
    for form in ("directory", "sqlite"):
        path = job(b, f"restored-{form}", keys_file(b, "restored", keys), "blackhole")
        where = ["-D", f"execution.checkpointing.dir={stored(b, f'restored-{form}', form)}"]
        b.cpu([b.binary, "run", "-q", "-p", "1", "--continue", path, *where])
        files = list(b.dir.glob("restored-directory.chk/*/chk-*/state")) if form == "directory" else [b.dir / f"restored-{form}.db"]
        size = files[-1].stat().st_size
        follow = [*where, "-D", "sources.events.source.monitor-interval=1s"]
        loop = statistics.median(b.cpu([b.tools / "digest_loop", files[-1]])[1] for _ in range(3))
        for name, parallelism in (("restore", ("-p", str(os.cpu_count()))), ("restore -p 1", ("-p", "1"))):  # a subtask a core, and all in one
            took = []
            for _ in range(5):
                took.append(detached(b, path, *follow, parallelism=parallelism))
                held = resident(b, path)
                cancel(b, path)
            rate = size / 1e6 / statistics.median(took)
            b.report(name, f"{rate:.0f} MB/s", ">= 500", rate >= 500,
                     f"{size / 1e6:.0f} MB from a {form} until all tasks run, which hold {held:.0f} MB then; read and digested alone: {size / 1e6 / loop:.0f} MB/s",
                     [b.binary, "run", "-d", *parallelism, "--continue", path, *follow])


def first_record(b, path, source):
    """Kills a running job, gives it one row more, and waits for that one."""
    out = open(b.dir / "restart.out", "w+b")
    child = subprocess.Popen([b.binary, "run", "-q", "-p", "1", "--continue", path], env=b.env, stdin=subprocess.DEVNULL, stdout=out)
    before, since = -1, time.monotonic()
    while time.monotonic() - since < 5 and (os.fstat(out.fileno()).st_size != before or before <= 0):
        before = os.fstat(out.fileno()).st_size
        time.sleep(0.3)
    child.kill()
    child.wait()
    with open(source, "a") as f:
        f.write(f"again,{time.monotonic_ns()}\n")
    start = time.monotonic()
    reader = subprocess.Popen([b.binary, "run", "-q", "-p", "1", "--continue", path], env=b.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE)
    reader.stdout.read(1)
    took = (time.monotonic() - start) * 1000
    reader.kill()
    reader.wait()
    return took


def restart(b):
    """kill -9, run --continue: until the first record comes out, with a thousand keys of state."""
    source = keys_file(b, "restarted", 1000)
    path = job(b, "restarted", f"{source}, source.monitor-interval: 100ms", "print")
    path.write_text(path.read_text() + f"execution.checkpointing: {{interval: 100ms, dir: {b.dir}/restarted-chk}}\n")
    took = [first_record(b, path, b.dir / "restarted" / "keys.csv") for _ in range(7)]
    b.report("restart", f"{statistics.median(took):.0f} ms", "<= 300 ms", statistics.median(took) <= 300,
             f"from start to first record; most {max(took):.0f} ms", [b.binary, "run", "--continue", path])


def often(b, root, events):
    """What a checkpoint every 100 ms costs on q2, against the same job that takes only its last one."""
    query = root / "conf" / "jobs" / "nexmark-q2.yaml"
    bare = [b.binary, "run", "-q", "-p", "1", query, "--fresh", "-D", f"execution.checkpointing.dir=file://{b.dir}/often"]
    each = [*bare, "-D", "execution.checkpointing.interval=100ms"]
    env = {"NEXMARK_EVENTS": str(events)}
    cost = (1 - statistics.median(b.cpu(bare, env)[0] / b.cpu(each, env)[0] for _ in range(5))) * 100
    b.report("often", f"{cost:.1f} %", "<= 5 %", cost <= 5, f"CPU of q2 over {events} events, a checkpoint every 100 ms", each)


def phases(b, path, where):
    """The newest checkpoint of a running job: its bytes, and milliseconds by phase."""
    detached(b, path, *where, "-D", "sources.events.source.monitor-interval=1s", "-D", "execution.checkpointing.interval=1s")
    found = {}
    for _ in range(600):
        time.sleep(0.1)
        done = subprocess.run([b.binary, "status", "--json", path.stem], env=b.env, capture_output=True)
        state = json.loads(done.stdout) if done.returncode == 0 else {}
        state = state[0] if isinstance(state, list) else state
        found = state.get("checkpoints", {})
        if found.get("completed", 0) >= 2 and found["last-phases"]["show_duration"] > 0:
            break
    cancel(b, path)
    return found["last-size"], found["last-phases"]


def write(b):
    """How fast checkpoints are written, by size, beside dd."""
    for keys in (10_000, 200_000, 2_000_000):
        for form in ("directory", "sqlite"):
            name = f"written-{keys}-{form}"
            path = job(b, name, keys_file(b, "written", keys), "blackhole")
            where = ["-D", f"execution.checkpointing.dir={stored(b, name, form)}"]
            b.cpu([b.binary, "run", "-q", "-p", "1", "--continue", path, *where])
            size, took = phases(b, path, where)
            dd = b.cpu(["dd", "if=/dev/zero", f"of={b.dir}/dd", "bs=64k", f"count={max(1, size // 65536)}", "conv=fsync"])[1]
            b.report("write", f"{size / MIB:.1f} MiB", "-", True,
                     f"{form}: stood still {took['sync_duration']:.2f} ms, beside it {took['async_duration']:.0f} ms, stored in "
                     f"{took['store_duration']:.0f} ms; dd with fsync {dd * 1000:.0f} ms", [b.binary, "run", path, *where])

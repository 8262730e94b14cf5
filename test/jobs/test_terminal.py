"""What stands on a terminal and nowhere else: progress, colour; and that its width is respected."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios

from harness import ok, test

JOB = """sources:
  events: {connector: filesystem, path: in.csv, format: csv, rate-limit: 10000, schema: {id: BIGINT}}
sinks:
  out: {from: events, connector: filesystem, path: out.csv, format: csv}
"""


def on_terminal(p, *args, columns=80, stdout=subprocess.PIPE, **env):
    """Runs it with stderr (and stdin) on a terminal: exit code, stdout, what the terminal got."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen([p.binary, *args], cwd=p.dir, stdin=follower, stderr=follower,
                             stdout=follower if stdout is None else stdout, env={**p.env, "TERM": "xterm", **env})
    os.close(follower)
    p.children.append(child)
    seen = b""
    while True:
        if select.select([leader], [], [], 60)[0]:
            try:
                more = os.read(leader, 65536)
            except OSError:  # nobody has the terminal open any more
                break
            if not more:
                break
            seen += more
    out = child.stdout.read() if child.stdout else b""
    os.close(leader)
    return child.wait(60), out, seen.decode()


@test
def a_bounded_job_shows_its_progress_on_a_terminal(p):
    p.write("in.csv", "".join(f"{i}\n" for i in range(22000)))
    p.write("job.yaml", JOB)
    code, out, seen = on_terminal(p, "run", "job.yaml")
    lines = re.findall(r"\r([^\r\n\033]+)\033\[K", seen)
    assert code == 0 and out == b"" and len(lines) >= 3, (code, seen)
    assert re.fullmatch(r"[\d,]+ records?, [\d,]+/s, \d+ % of \d+\.\d KiB, \d s left, 0 checkpoints", lines[-1]), lines
    assert all(len(line) < 80 for line in lines)
    assert seen.rstrip().split("\r\033[K")[-1].startswith("streamrun: read 22,000 = written 22,000"), seen[-300:]
    assert (p.dir / "out.csv").read_text().count("\n") == 22000


@test
def the_width_of_the_terminal_is_kept(p):
    p.write("in.csv", "".join(f"{i}\n" for i in range(9000)))
    p.write("job.yaml", JOB)
    for columns, env in ((30, {}), (80, {"COLUMNS": "20"})):
        code, _, seen = on_terminal(p, "run", "job.yaml", columns=columns, **env)
        lines = re.findall(r"\r([^\r\n\033]+)\033\[K", seen)
        assert code == 0 and lines and max(map(len, lines)) == min(columns, int(env.get("COLUMNS", 99))) - 1, lines
    _, _, seen = on_terminal(p, "help", "csv", columns=60, stdout=None)
    assert max(len(line) for line in seen.replace("\r", "").split("\n")) <= 60, seen
    assert max(len(line) for line in ok(p.run("help", "csv")).stdout.decode().split("\n")) > 80


@test
def nothing_moves_where_there_is_no_terminal_or_it_was_not_asked_for(p):
    p.write("in.csv", "".join(f"{i}\n" for i in range(6000)))
    p.write("job.yaml", JOB)
    done = ok(p.run("run", "job.yaml"))
    assert b"\r" not in done.stderr and b"\033" not in done.stderr, done.stderr
    for args, env in ((["run", "-q", "job.yaml"], {}), (["run", "job.yaml"], {"TERM": "dumb"})):
        code, _, seen = on_terminal(p, *args, **env)
        assert code == 0 and "\033" not in seen, seen
    text = JOB.replace("connector: filesystem, path: out.csv, format: csv", "connector: print")
    code, _, seen = on_terminal(p, "run", p.write("print.yaml", text), stdout=None)
    assert code == 0 and "\033" not in seen and "+I[5999]" in seen, "progress between printed rows"


@test
def faults_have_colour_on_a_terminal_only(p):
    job = p.write("job.yaml", JOB.replace("path", "paht", 1))
    code, _, seen = on_terminal(p, "validate", job)
    assert code == 3 and "\033[31merror\033[0m: " in seen, seen
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        code, _, seen = on_terminal(p, "validate", job, **env)
        assert code == 3 and "\033" not in seen and "error: " in seen, seen
    assert "\033[31m" in on_terminal(p, "validate", job, NO_COLOR="")[2], "NO_COLOR that is empty is not set"
    assert b"\033" not in ok(p.run("validate", job), 3).stderr

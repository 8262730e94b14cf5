"""A job that the kernel kills because its control group is out of memory."""
import json
import os
import pathlib
import subprocess
import time

from harness import Skipped, ok, test, wait_for

JOB = """pipeline.name: hungry
execution.checkpointing: {interval: 50 ms, dir: DIR/chk}
restart-strategy: {type: fixed-delay, fixed-delay: {attempts: 1000, delay: 100 ms}}
sources:
  events: {connector: datagen, rows-per-second: 200000, schema: {k: BIGINT, t: STRING},
           fields: {k: {kind: sequence, start: 0, end: 1000000000}, t: {length: 100}}}
transforms:
  some: {from: events, group-by: [k, t], select: [k, t, COUNT(*) AS n]}
sinks:
  out: {from: some, connector: blackhole}
"""
MIB = 1 << 20


class Group:
    """A memory control group of either kind, with room for so much."""

    def __init__(self, limit):
        self.is_new = not os.path.isdir("/sys/fs/cgroup/memory")
        self.dir = pathlib.Path("/sys/fs/cgroup" if self.is_new else "/sys/fs/cgroup/memory") / f"sr-test-{os.getpid()}"
        try:
            self.dir.mkdir()
            self.limit(limit)
        except OSError as why:
            self.close()
            raise Skipped(f"memory control groups cannot be made: {why}") from why

    def limit(self, size):
        if self.is_new:
            (self.dir / "memory.swap.max").write_text("0")
            (self.dir / "memory.max").write_text("max" if size < 0 else str(size))
        else:
            (self.dir / "memory.limit_in_bytes").write_text(str(size))

    def close(self):
        for _ in range(1000):  # the kernel takes a moment to see that those in it have ended
            try:
                self.dir.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.01)
            else:
                return


def start(p, group, job):
    """`run -d` as a shell would start it that was put into the group before."""
    return subprocess.run(["sh", "-c", 'echo $$ > "$0"/cgroup.procs && exec "$@"', group.dir, p.binary, "run", "-d", job], cwd=p.dir,
                          env=p.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


@test
def a_job_that_the_kernel_kills_for_want_of_memory_is_restarted_and_says_why(p):
    group = Group(96 * MIB)
    try:
        ok(start(p, group, p.write("hungry.yaml", JOB.replace("DIR", str(p.dir)))))
        status = wait_for("an OOM kill", lambda: (lambda s: s if s and s.get("root-exception") else None)(p.status("hungry")), 120)
        assert "killed by SIGKILL by the kernel: its control group ran out of memory" in status["root-exception"], status
        group.limit(-1)

        def goes_on():
            now = p.status("hungry")
            return now and now["state"] == "RUNNING" and now["checkpoints"]["completed"] > 0 and now["restarts"] > 0

        wait_for("a job that runs again", goes_on, 120)
        ok(p.run("cancel", "hungry"))
        ended = json.loads(ok(p.run("list", "--all", "--json")).stdout)[0]
        assert ended["state"] == "CANCELED" and "ran out of memory" in ended["root-exception"], ended
    finally:
        p.run("cancel", "hungry")
        group.close()

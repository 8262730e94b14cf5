"""What the programs of others that tests run have in common: fetched once, ports, certificates, one in the foreground."""
import contextlib
import fcntl
import os
import pathlib
import signal
import socket
import subprocess
import sys


class Missing(Exception):
    """There is no Java, or no way to what is to be fetched: a test that needs it is to be skipped."""


def cache(name):
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path("~/.cache").expanduser()
    return pathlib.Path(base) / "streamrun" / name


def once(home, mark, fill):
    """Fills a directory of the cache, once on a machine: then it has the mark. Several at once wait for each other."""
    if (home / mark).exists():
        return
    home.mkdir(parents=True, exist_ok=True)
    with open(home / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / mark).exists():
            fill(home)


def free_ports(count):
    """Ports that nobody has now; who comes in between is seen at the start."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def certificate(cert, key, name="localhost"):
    """A certificate of 127.0.0.1 that is its own authority, and its key."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)


def main(doc, prepare, serve, told, most=2):
    """`prepare`, or `run DIRECTORY [...]`: one in the foreground until the input ends or ^C. The exit code."""
    args = sys.argv[1:]
    try:
        if args == ["prepare"]:
            prepare()
            return 0
        if not 2 <= len(args) <= most or args[0] != "run":
            print(doc, file=sys.stderr)
            return 2
        signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
        with contextlib.suppress(KeyboardInterrupt), serve(*args[1:]) as one:
            print(told(one), flush=True)
            sys.stdin.read()
        return 0
    except Missing as why:
        print(f"{pathlib.Path(sys.argv[0]).name}: {why}", file=sys.stderr)
        return 77

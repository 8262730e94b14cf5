"""The socket connector against servers of the test's own, on ports that the system chose."""
import socket
import threading

from harness import SIGTERM, ended, ok, test, wait_for


class Server:
    """Accepts one connection after the other; `talk(connection)` in a thread of its own each."""

    def __init__(self, talk):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.talk = talk
        self.connections = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def close(self):
        self.listener.close()
        for c in self.connections:
            c.close()


READ = """sources:
  events:
    connector: socket
    hostname: localhost
    port: %d
    format: csv
%s    schema: {id: INT, name: STRING}
sinks:
  out: {from: events, connector: filesystem, path: out%s, format: csv}
"""


@test
def lines_come_over_tcp_until_the_server_ends_the_connection(p):
    def talk(c):
        for i in range(5000):
            c.sendall(f"{i},name {i}\n".encode())
        c.sendall(b"5000,without a newline")
        c.close()

    server = Server(talk)
    try:
        ok(p.run("run", p.write("job.yaml", READ % (server.port, "    reconnect: false\n", ".csv"))))
    finally:
        server.close()
    lines = (p.dir / "out.csv").read_text().splitlines()
    assert len(lines) == 5001 and lines[17] == "17,name 17" and lines[-1] == "5000,without a newline", lines[-2:]


@test
def records_end_where_the_delimiter_says(p):
    def talk(c):
        for part in (b"1,a\0002", b",", b"b\0", b"3,c"):
            c.sendall(part)
        c.close()

    server = Server(talk)
    try:
        options = "    reconnect: false\n    byte-delimiter: 0\n"
        ok(p.run("run", p.write("job.yaml", READ % (server.port, options, ".csv"))))
    finally:
        server.close()
    assert (p.dir / "out.csv").read_text() == "1,a\n2,b\n3,c\n"


@test
def a_connection_that_ends_is_made_again(p):
    count = iter(range(100))

    def talk(c):
        i = next(count)
        c.sendall(f"{i},a\n{i},b".encode())
        if i < 2:
            c.close()

    server = Server(talk)
    try:
        child = p.start("run", p.write("job.yaml", "execution.checkpointing.interval: 10ms\n"
                                                   + READ % (server.port, "", "/")))
        wait_for("rows of three connections", lambda: sum(f.read_text().count("\n")
                                                          for f in (p.dir / "out").glob("part-*")) >= 5)
        child.send_signal(SIGTERM)
        ended(child)
    finally:
        server.close()
    text = "".join(f.read_text() for f in (p.dir / "out").glob("part-*"))
    assert sorted(text.splitlines()) == ["0,a", "0,b", "1,a", "1,b", "2,a"], text


@test
def a_checkpoint_between_records_of_one_read_repeats_none(p):
    def talk(c):
        c.sendall(b"".join(b"%d,a\n" % i for i in range(4000)))
        c.close()

    server = Server(talk)
    try:
        options = "    reconnect: false\n    rate-limit: 20000\n"  # so slow that checkpoints come in between
        ok(p.run("run", p.write("job.yaml", "execution.checkpointing.interval: 10ms\n" + READ % (server.port, options, "/"))))
    finally:
        server.close()
    rows = b"".join(f.read_bytes() for f in (p.dir / "out").glob("part-*")).splitlines()
    assert sorted(rows) == sorted(b"%d,a" % i for i in range(4000)), len(rows)


@test
def nobody_listening_and_no_such_name_are_said(p):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    text = "restart-strategy.type: none\n" + READ % (port, "    reconnect: false\n", ".csv")
    done = ok(p.run("run", p.write("job.yaml", text)), 1)
    assert f"localhost:{port}".encode() in done.stderr and b"refused" in done.stderr, done.stderr
    done = ok(p.run("run", p.write("job.yaml", text.replace("localhost", "no.such.name.invalid"))), 1)
    assert b"look up" in done.stderr, done.stderr
    done = p.run("validate", p.write("job.yaml", text))
    assert b"cannot" in done.stdout + done.stderr, done.stdout


WRITE = """%s
restart-strategy: {type: fixed-delay, fixed-delay: {attempts: 5, delay: 10ms}}
sources:
  events: {connector: datagen, rows-per-second: 1000000, schema: {id: INT}, fields.id: {kind: sequence, start: 1, end: 20000}}
sinks:
  out: {from: events, connector: socket, hostname: 127.0.0.1, port: %d, format: csv}
"""


@test
def rows_go_over_tcp(p):
    got = bytearray()
    done = threading.Event()

    def talk(c):
        while data := c.recv(65536):
            got.extend(data)
        done.set()

    server = Server(talk)
    try:
        ok(p.run("run", p.write("job.yaml", WRITE % ("", server.port))))
        assert done.wait(30)
    finally:
        server.close()
    assert got == b"".join(b"%d\n" % i for i in range(1, 20001)), len(got)


@test
def what_a_broken_connection_may_have_lost_is_sent_again(p):
    got, lock = [], threading.Lock()
    done = threading.Event()

    def talk(c):
        with lock:
            mine = bytearray()
            got.append(mine)
            is_first = len(got) == 1
        while data := c.recv(4096):
            mine.extend(data)
            if is_first and len(mine) > 30000:
                c.close()
                return
        done.set()

    server = Server(talk)
    try:
        ok(p.run("run", p.write("job.yaml", WRITE % ("execution.checkpointing.interval: 10ms", server.port))))
        assert done.wait(30)
    finally:
        server.close()
    rows = {int(line) for g in got for line in bytes(g).split(b"\n")[:-1] if line}
    assert len(got) == 2 and set(range(1, 20001)) <= rows, (len(got), len(rows))

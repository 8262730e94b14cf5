"""The network between a job and a broker, which can be cut, slow, and lose or delay what it is asked to.

    proxy = Proxy()
    with Broker(directory, proxy=proxy) as broker:   # its clients by proxy.bootstrap come through here, all the time
        proxy.cut(); proxy.heal()                    # connections break, and none can be made
        proxy.freeze(); proxy.heal()                 # nothing arrives, and nobody is told
        proxy.slow(0.05)                             # so many seconds for each request and answer
        proxy.swallow(END_TXN)                       # the broker does the next one; its answer is lost with the connection
        proxy.hold(nth=2)                            # the second END_TXN from now on waits in the network, see below
        proxy.release(); proxy.late                  # what the broker said to those that came late: error codes

A request that is held is lost for its client, who asks again on another connection. It arrives when the same transactional
id has ended that transaction, by the second request, and has written rows of the next one: at the worst moment.
"""
import contextlib
import socket
import struct
import threading
import time

PRODUCE, INIT_PRODUCER_ID, ADD_PARTITIONS, ADD_OFFSETS, END_TXN, TXN_OFFSET_COMMIT = 0, 22, 24, 25, 26, 28
FLEXIBLE = {PRODUCE: 9, INIT_PRODUCER_ID: 2, ADD_PARTITIONS: 3, ADD_OFFSETS: 3, END_TXN: 3, TXN_OFFSET_COMMIT: 3}


def transactional_id(frame):
    """The first field of each of these requests, behind a header of one of two forms."""
    key, version, _, length = struct.unpack(">hhih", frame[:10])
    if key not in FLEXIBLE or key == PRODUCE and version < 3:
        return None
    at = 10 + max(length, 0)
    if version < FLEXIBLE[key]:
        size = struct.unpack(">h", frame[at:at + 2])[0]
        return frame[at + 2:at + 2 + size] if size >= 0 else None
    at += 1  # no tagged fields
    size = frame[at] - 1  # of one byte: up to 126 characters
    return frame[at + 1:at + 1 + size] if 0 <= size < 127 else None


def received(s, count):
    data = b""
    while len(data) < count:
        piece = s.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def frame_of(s):
    return received(s, struct.unpack(">i", received(s, 4))[0])


def send(s, frame):
    s.sendall(struct.pack(">i", len(frame)) + frame)


class Line:
    """One client's connection, and what was asked on it."""

    def __init__(self, client, broker):
        self.client, self.broker = client, broker
        self.asked = {}  # (request, transactional id) by correlation id, while there is no answer

    def close(self):
        for s in (self.client, self.broker):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
            s.close()


class Held:
    """A request that is on its way for long."""

    def __init__(self, frame):
        self.frame, self.id = frame, transactional_id(frame)
        self.is_ended = False  # the same transaction was ended by another request


class Proxy:
    def __init__(self):
        self.lock = threading.Lock()
        self.server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.bootstrap = f"127.0.0.1:{self.server.getsockname()[1]}"
        self.to, self.lines, self.delay, self.is_cut = None, set(), 0, False
        self.flows = threading.Event()
        self.flows.set()
        self.lost = {}  # answers still to be swallowed, by request
        self.nth, self.is_last, self.of = 0, False, b""  # the END_TXN to be held; 0: none
        self.held, self.late, self.swallowed = None, [], 0
        threading.Thread(target=self._accept, daemon=True).start()

    def lead_to(self, port):
        self.to = port

    # --- What is done to the network ---------------------------------------------------------------

    def cut(self):
        with self.lock:
            self.is_cut = True
            lines = list(self.lines)
        for line in lines:
            line.close()

    def freeze(self):
        self.flows.clear()

    def slow(self, seconds):
        self.delay = seconds

    def swallow(self, request, count=1):
        with self.lock:
            self.lost[request] = count

    def hold(self, nth=1, is_last=False, of=b""):
        """`is_last`: nothing comes through behind it, as by cut(). `of`: only those with this in their id count."""
        with self.lock:
            self.nth, self.held, self.is_last, self.of = nth, None, is_last, of

    def heal(self):
        """As good as new, but for a request that is still on its way."""
        with self.lock:
            self.is_cut, self.delay, self.nth = False, 0, 0
            self.lost.clear()
        self.flows.set()

    def release(self):
        """What is still held arrives now."""
        with self.lock:
            held, self.held = self.held, None
        if held is not None:
            self._deliver(held)

    def close(self):
        self.cut()
        self.heal()
        self.server.close()

    # --- The network -------------------------------------------------------------------------------

    def _accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            try:
                broker = socket.create_connection(("127.0.0.1", self.to)) if self.to and not self.is_cut else None
            except OSError:
                broker = None
            if broker is None:
                client.close()
                continue
            for s in (client, broker):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line = Line(client, broker)
            with self.lock:
                self.lines.add(line)
            for way in (self._ask, self._answer):
                threading.Thread(target=self._run, args=(way, line), daemon=True).start()

    def _run(self, way, line):
        try:
            while way(line):
                pass
        except (EOFError, OSError, struct.error):
            pass
        line.close()
        with self.lock:
            self.lines.discard(line)

    def _pass(self):
        self.flows.wait()
        if self.delay:
            time.sleep(self.delay)

    def _ask(self, line):
        """One request on its way to the broker."""
        frame = frame_of(line.client)
        key, _, correlation = struct.unpack(">hhi", frame[:8])
        with self.lock:
            of = transactional_id(frame)
            line.asked[correlation] = (key, of)
            if key == END_TXN and self.nth and self.of in (of or b""):
                self.nth -= 1
                if self.nth == 0:
                    self.held, self.is_cut = Held(frame), self.is_cut or self.is_last
                    return False
        self._pass()
        send(line.broker, frame)
        return True

    def _answer(self, line):
        frame = frame_of(line.broker)
        self._pass()
        due = None
        with self.lock:
            key, of = line.asked.pop(struct.unpack(">i", frame[:4])[0], (None, None))
            if self.lost.get(key, 0) > 0:
                self.lost[key] -= 1
                self.swallowed += 1
                return False
            if self.held and of == self.held.id:
                self.held.is_ended = self.held.is_ended or key == END_TXN
                if self.held.is_ended and key == PRODUCE:
                    due, self.held = self.held, None
        send(line.client, frame)
        if due is not None:
            self._deliver(due)
        return True

    def _deliver(self, held):
        with contextlib.suppress(OSError, EOFError), socket.create_connection(("127.0.0.1", self.to), timeout=10) as s:
            send(s, held.frame)
            answer = frame_of(s)
            flexible = struct.unpack(">h", held.frame[2:4])[0] >= FLEXIBLE[END_TXN]
            self.late.append(struct.unpack(">h", answer[9:11] if flexible else answer[8:10])[0])

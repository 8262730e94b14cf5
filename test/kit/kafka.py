#!/usr/bin/env python3
"""A real Kafka broker for tests: one process (KRaft), loopback, free ports, data in the test's own directory.

    with Broker(directory) as broker:                 # started; killed at the end, also when this process is killed
        broker.create("orders", 4)
        broker.put("orders", [{"key": "a", "value": "1"}, {"key": "a", "value": None, "partition": 2}])
        rows = broker.dump("orders")                  # dicts, as a read_committed reader sees them
        broker.kill(); broker.start()                 # a crash: same data, same ports
        broker.pause(); broker.resume()               # SIGSTOP, SIGCONT

    kafka.py run DIRECTORY [KEY=VALUE...]   a broker in the foreground until its input ends or ^C; first a line
                                            `bootstrap=HOST:PORT`
    kafka.py prepare                        only fills the cache: jars by Maven, an empty formatted data directory

It listens twice: without secrets (super user), and by TLS with SCRAM or PLAIN (users below, who may do what ACLs say).
Jars lie in ${XDG_CACHE_HOME:-~/.cache}/streamrun/kafka-VERSION, outside of the tree. What is missing is `Missing`.
"""
import contextlib
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import served
from served import Missing

VERSION, LOG4J = "4.4.0", "2.25.5"
HERE = pathlib.Path(__file__).resolve().parent
USERS = {"writer": "secret-of-writer", "reader": "secret-of-reader"}  # each by SCRAM-SHA-256, SCRAM-SHA-512 and PLAIN
JVM = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xss512k"]
START_MAX_S = 180

POM = f"""<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>streamrun.test</groupId><artifactId>broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{VERSION}</version>
      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId>
      <version>{LOG4J}</version></dependency>
  </dependencies>
</project>
"""

LOG = """status=error
rootLogger.level=${sys:kafka.log.level:-INFO}
rootLogger.appenderRef.c.ref=C
appender.c.type=Console
appender.c.name=C
appender.c.target=SYSTEM_ERR
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=%d{ISO8601} %p %c{1} %m%n
logger.config.name=org.apache.kafka.common.config
logger.config.level=WARN
"""

# A killed broker may register again only when its old session is over: the defaults make tests slow.
SETTINGS = {
    "process.roles": "broker,controller", "node.id": "1", "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,BEHIND:PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT", "auto.create.topics.enable": "false",
    "offsets.topic.replication.factor": "1", "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4", "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1", "group.initial.rebalance.delay.ms": "0",
    "broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "200",
    "controller.quorum.election.timeout.ms": "100", "controller.quorum.election.backoff.max.ms": "100",
    "controller.quorum.fetch.timeout.ms": "1000", "num.io.threads": "4", "num.network.threads": "2",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users": "User:ANONYMOUS",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512,PLAIN,OAUTHBEARER", "ssl.keystore.type": "PEM",
}


def cache():
    return served.cache(f"kafka-{VERSION}")


def java(*args, heap=128, jvm=()):
    """A command line of the JVM with our class path."""
    home = cache()
    return ["java", f"-Xmx{heap}m", *JVM, *jvm, "-cp", ":".join(map(str, sorted((home / "libs").glob("*.jar")))),
            f"-Dlog4j2.configurationFile={home / 'log4j2.properties'}", *args]


def checked(args, log, **kw):
    with open(log, "ab") as out:
        done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=out, stderr=out, **kw)
    return done.returncode == 0


def fetch(home):
    """The broker's jars, by their names."""
    if shutil.which("mvn") is None:
        raise Missing("no mvn (Debian: maven), which fetches the broker's jars")
    new, pom = home / "libs.new", home / "pom.xml"
    shutil.rmtree(new, ignore_errors=True)
    pom.write_text(POM)
    if not checked(["mvn", "-q", "-B", "-ntp", "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime",
                    f"-DoutputDirectory={new}"], home / "mvn.log", timeout=600):
        raise Missing(f"mvn could not fetch the broker's jars, see {home / 'mvn.log'}")
    new.rename(home / "libs")


def format_data(home):
    """An empty data directory with the users in it, copied for each broker."""
    work = home / "format"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    conf = {**SETTINGS, "log.dirs": work / "data", "controller.quorum.voters": "1@127.0.0.1:1",
            "listeners": "PLAINTEXT://127.0.0.1:2,CONTROLLER://127.0.0.1:1"}
    (work / "server.properties").write_text("".join(f"{k}={v}\n" for k, v in conf.items()))
    scram = [f"--add-scram={kind}=[name={user},password={word}]"
             for user, word in USERS.items() for kind in ("SCRAM-SHA-256", "SCRAM-SHA-512")]
    if not checked(java("kafka.tools.StorageTool", "format", "-t", "A" * 22, "-c", str(work / "server.properties"), *scram),
                   home / "format.log"):
        raise AssertionError(f"the data directory could not be formatted, see {home / 'format.log'}")


def archive_classes():
    """An archive of the classes that a broker loads halves each start. Nothing fails where it cannot be made."""
    with tempfile.TemporaryDirectory(prefix="sr-kafka-") as place, contextlib.suppress(AssertionError):
        broker = Broker(place, jvm=[f"-XX:ArchiveClassesAtExit={cache() / 'broker.new'}"])
        with broker:
            broker.stop()
        (cache() / "broker.new").replace(cache() / "broker.jsa")


def fill(home):
    (home / "log4j2.properties").write_text(LOG)
    if not (home / "libs").exists():
        fetch(home)
    format_data(home)
    archive_classes()
    (home / "ready").touch()


def prepare():
    if shutil.which("java") is None:
        raise Missing("no java (Debian: openjdk-17-jre-headless)")
    served.once(cache(), "ready", fill)


def archived():
    archive = cache() / "broker.jsa"
    return [f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []


class Broker:
    def __init__(self, directory, settings=None, heap=384, jvm=(), proxy=None):
        """`proxy` (kafka_proxy.py) gets a listener of its own, whose clients are told the proxy's address."""
        self.dir, self.settings, self.heap, self.jvm = pathlib.Path(directory), dict(settings or {}), heap, list(jvm)
        self.proxy = proxy
        self.ports, self.process, self.tool_path = None, None, None

    def __enter__(self):
        self.open()
        return self

    def __exit__(self, *unused):
        self.close()

    # --- Its life ----------------------------------------------------------------------------------

    def open(self):
        """A new broker with no topics; answers when it serves."""
        if not self.jvm:
            prepare()
        for _ in range(5):
            self.ports = served.free_ports(4)
            self._make()
            try:
                return self.start()
            except AssertionError:
                if "Address already in use" not in self.log():
                    raise
        raise AssertionError("no free ports")

    def _make(self):
        shutil.rmtree(self.dir / "data", ignore_errors=True)
        self.dir.mkdir(parents=True, exist_ok=True)
        shutil.copytree(cache() / "format" / "data", self.dir / "data")
        meta = self.dir / "data" / "meta.properties"
        meta.write_text(re.sub("(?m)^cluster.id=.*$", "cluster.id=" + secrets.token_urlsafe(16), meta.read_text()))
        self.ca = self.dir / "ca.pem"
        if not self.ca.exists():
            served.certificate(self.ca, self.dir / "key.pem")
            (self.dir / "server.pem").write_text((self.dir / "key.pem").read_text() + self.ca.read_text())

    def _configure(self):
        plain, control, secure, behind = self.ports
        if self.proxy is not None:
            self.proxy.lead_to(behind)
        jaas = "org.apache.kafka.common.security"
        users = " ".join(f'user_{user}="{word}"' for user, word in USERS.items())
        conf = {**SETTINGS, "log.dirs": self.dir / "data", "controller.quorum.voters": f"1@127.0.0.1:{control}",
                "listeners": f"PLAINTEXT://127.0.0.1:{plain},CONTROLLER://127.0.0.1:{control},SECURE://127.0.0.1:{secure}"
                             + (f",BEHIND://127.0.0.1:{behind}" if self.proxy else ""),
                "advertised.listeners": f"PLAINTEXT://127.0.0.1:{plain},SECURE://127.0.0.1:{secure}"
                                        + (f",BEHIND://{self.proxy.bootstrap}" if self.proxy else ""),
                "ssl.keystore.location": self.dir / "server.pem",
                "listener.name.secure.scram-sha-256.sasl.jaas.config": f"{jaas}.scram.ScramLoginModule required;",
                "listener.name.secure.scram-sha-512.sasl.jaas.config": f"{jaas}.scram.ScramLoginModule required;",
                "listener.name.secure.plain.sasl.jaas.config": f"{jaas}.plain.PlainLoginModule required {users};",
                # It believes whoever a token names: nobody signs them.
                "listener.name.secure.oauthbearer.sasl.jaas.config":
                    f'{jaas}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";',
                **self.settings}
        (self.dir / "server.properties").write_text("".join(f"{k}={v}\n" for k, v in conf.items()))

    def start(self):
        """Starts what was opened, killed or stopped: same data, same ports, `settings` as they are now."""
        assert self.process is None, "the broker runs already"
        self._configure()
        with open(self.dir / "broker.log", "ab") as log:
            log_from = log.tell()
            # The kernel kills the broker when its parent dies, however that happens.
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL",
                 *java("kafka.Kafka", str(self.dir / "server.properties"), heap=self.heap, jvm=self.jvm or archived())],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + START_MAX_S
        while "Kafka Server started" not in self.log(log_from):
            if self.process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise AssertionError("the broker did not start:\n" + self.log(log_from)[-3000:])
            time.sleep(0.02)

    def log(self, begin=0):
        with contextlib.suppress(FileNotFoundError), open(self.dir / "broker.log", "rb") as f:
            f.seek(begin)
            return f.read().decode(errors="replace")
        return ""

    def signal(self, number):
        os.kill(self.process.pid, number)

    def pause(self):
        self.signal(signal.SIGSTOP)

    def resume(self):
        self.signal(signal.SIGCONT)

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self):
        """In order, as an administrator does."""
        self.process.terminate()
        self.process.wait(60)
        self.process = None

    def close(self):
        self.kill()
        if self.tool_path is not None:
            shutil.rmtree(self.tool_path.parent, ignore_errors=True)
            self.tool_path = None

    # --- What is in it -----------------------------------------------------------------------------

    @property
    def bootstrap(self):
        return f"127.0.0.1:{self.ports[0]}"

    @property
    def secure(self):
        """Bootstrap of the listener with TLS and SASL; its authority's certificate is `ca`."""
        return f"127.0.0.1:{self.ports[2]}"

    def tool(self, *args, rows=None, timeout=120):
        """One command of kafka_tool.c: an answer a line."""
        if self.tool_path is None:
            self.tool_path = pathlib.Path(tempfile.mkdtemp(prefix="sr-kafka-")) / "kafka_tool"
            flags = subprocess.run(["pkg-config", "--cflags", "--libs", "rdkafka", "jansson"], check=True, capture_output=True,
                                   text=True).stdout.split()
            subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", HERE / "kafka_tool.c", "-o", self.tool_path, *flags], check=True)
        text = "".join(json.dumps(row) + "\n" for row in rows) if rows is not None else ""
        done = subprocess.run([self.tool_path, self.bootstrap, *map(str, args)], input=text.encode(), capture_output=True,
                              timeout=timeout)
        assert done.returncode == 0, f"kafka_tool {args}: {done.stderr.decode(errors='replace')}"
        return [json.loads(line) for line in done.stdout.splitlines()]

    def create(self, topic, partitions=1, **settings):
        """Settings of the topic with `_` for `.`: retention_ms=1000."""
        self.tool("create", topic, partitions, *(f"{k.replace('_', '.')}={v}" for k, v in settings.items()))

    def delete(self, topic):
        self.tool("delete", topic)

    def grow(self, topic, partitions):
        self.tool("grow", topic, partitions)

    def alter(self, topic, **settings):
        """All of the topic's settings: those that are not named fall back to the broker's."""
        self.tool("alter", topic, *(f"{k.replace('_', '.')}={v}" for k, v in settings.items()))

    def forget(self, topic, partition, offset):
        """Records before `offset` are gone, as by retention."""
        self.tool("forget", topic, partition, offset)

    def put(self, topic, rows, *settings):
        """Each with "value", "key", "headers" [[name, value]], "timestamp", "partition"; absent or None is null."""
        self.tool("put", topic, *settings, rows=rows)

    def dump(self, topic, isolation="read_committed"):
        """All records of all partitions up to their ends (to the last stable one, for read_committed)."""
        return self.tool("dump", topic, isolation)

    def values(self, topic):
        """By partition, in order."""
        found = {}
        for row in self.dump(topic):
            found.setdefault(row["partition"], []).append(row["value"])
        return found

    def ends(self, topic):
        """[low, high] by partition."""
        return {row["partition"]: [row["low"], row["high"]] for row in self.tool("ends", topic)}

    def topics(self):
        return {row["topic"]: row["partitions"] for row in self.tool("topics")}

    def group(self, name, topic):
        """Committed offsets of a group by partition; -1001 for none."""
        return {row["partition"]: row["offset"] for row in self.tool("group", name, topic)}

    def group_delete(self, name):
        self.tool("group-delete", name)

    def groups(self):
        return [row["group"] for row in self.tool("groups")]

    def group_alter(self, name, topic, partition, offset):
        """As by somebody who resets the group's position."""
        self.tool("group-alter", name, topic, partition, offset)

    def join(self, name, topic, seconds):
        """A consumer that is a member of the group, for so long; returns when it has left."""
        self.tool("join", name, topic, seconds)

    def allow(self, user, kind, name, operation):
        """User may do `operation` (read, write, describe, all ...) with the topic, group or transactional-id."""
        if kind == "transactional-id":  # librdkafka has no name for it
            self.admin("AclCommand", "--add", "--allow-principal", f"User:{user}", "--operation", operation, f"--{kind}", name)
            return
        self.tool("allow", user, kind, name, operation)

    def admin(self, name, *args):
        """A command of Kafka's own, for what librdkafka has no call for: seconds, a JVM each."""
        done = subprocess.run(java("-Dkafka.log.level=OFF", f"org.apache.kafka.tools.{name}", "--bootstrap-server",
                                   self.bootstrap, *map(str, args)), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


if __name__ == "__main__":
    sys.exit(served.main(__doc__, prepare, lambda where, *settings: Broker(where, dict(s.split("=", 1) for s in settings)),
                         lambda broker: f"bootstrap={broker.bootstrap}", most=sys.maxsize))

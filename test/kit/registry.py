#!/usr/bin/env python3
"""A real schema registry for tests: Apicurio's, by its interface that is Confluent's; one process, loopback, a free port.

    with Registry(directory) as registry:             # started; killed at the end, also when this process is killed
        registry.url                                  # for avro-confluent.url

    registry.py run DIRECTORY    one in the foreground until its input ends or ^C; first a line `url=http://...`
    registry.py prepare          only fills the cache: a jar and its libraries, by Maven (140 MB)

What is in it is in memory, and gone with it. It lies in ${XDG_CACHE_HOME:-~/.cache}/streamrun/registry-VERSION. What is
missing is `Missing`.
"""
import contextlib
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.request

import served
from served import Missing

VERSION = "2.6.13.Final"
ARTIFACT = f"io.apicurio:apicurio-registry-app:{VERSION}:tar.gz:all"
SHA256 = "3cda1b34aa020fb4ac4dd6a66018d757e81e437f97e20a1f92d366b70091c6ba"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy"
START_MAX_S = 180
JVM = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xss512k"]


def cache():
    return served.cache(f"registry-{VERSION}")


def fetch(home):
    """Its files by Maven, unpacked."""
    if shutil.which("mvn") is None:
        raise Missing("no mvn (Debian: maven), which fetches the registry")
    with open(home / "mvn.log", "ab") as log:
        done = subprocess.run(["mvn", "-q", "-B", "-ntp", COPY, f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={home}"], cwd=home,
                              stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=600)
    packed = next(home.glob("*.tar.gz"), None)
    if done.returncode != 0 or packed is None:
        raise Missing(f"mvn could not fetch the registry, see {home / 'mvn.log'}")
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()
    if digest != SHA256:
        packed.unlink()
        raise Missing(f"{packed.name} has the digest {digest}, not {SHA256}")
    shutil.rmtree(home / "app.new", ignore_errors=True)
    with tarfile.open(packed) as tar:
        tar.extractall(home / "app.new", filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(home / "app.new")
    (home / "app.new").rename(home / "app")
    packed.unlink()


def prepare():
    served.once(cache(), "app", fetch)


class Registry:
    """One that was fetched before: tests do not wait for a download."""

    def __init__(self, directory):
        self.dir, self.process, self.url = pathlib.Path(directory), None, None

    def __enter__(self):
        if shutil.which("java") is None:
            raise Missing("no java (Debian: openjdk-17-jre-headless)")
        jar = next((cache() / "app").glob("*-runner.jar"), None)
        if jar is None:
            raise Missing("the schema registry was not fetched: test/kit/registry.py prepare")
        self.dir.mkdir(parents=True, exist_ok=True)
        for _ in range(5):
            if self._start(jar, *served.free_ports(1)):
                return self
        raise AssertionError("no free port")

    def __exit__(self, *unused):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def log(self):
        return (self.dir / "registry.log").read_text(errors="replace")

    def _start(self, jar, port):
        """False: somebody else took the port."""
        with open(self.dir / "registry.log", "wb") as log:
            # The kernel kills it when its parent dies, however that happens.
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "java", *JVM, "-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={port}",
                 "-jar", jar], cwd=self.dir, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        url, end = f"http://127.0.0.1:{port}/apis/ccompat/v7", time.monotonic() + START_MAX_S
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/schemas/types", timeout=5) as answer:
                answer.read()
                self.url = url
                return True
            time.sleep(0.05)
        words = self.log()
        self.__exit__()
        if "already in use" in words:
            return False
        raise AssertionError("the registry did not start:\n" + words[-3000:])


if __name__ == "__main__":
    sys.exit(served.main(__doc__, prepare, Registry, lambda registry: f"url={registry.url}"))

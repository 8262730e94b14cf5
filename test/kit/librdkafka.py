#!/usr/bin/env python3
"""The newest librdkafka, beside the one that this system has: from PyPI's wheel of confluent-kafka, which holds it whole.

    librdkafka.py prepare    fetches it into ${XDG_CACHE_HOME:-~/.cache}/streamrun/librdkafka-VERSION, once

`newest()` is a directory for LD_LIBRARY_PATH, or None where it was not fetched. What is fetched is what its digest says, and
has every function that our module calls.
"""
import ctypes
import hashlib
import pathlib
import platform
import subprocess
import sys
import tempfile
import zipfile

import served

VERSION, WHEEL = "2.16.0", "2.16.1"
SHA256 = {
    "x86_64": "24f613cc81a856b6fbb2d7d11044a9aa770044eecc1f83ff84618688b056be06",
    "aarch64": "c012a1d74f95e91c9c43f0aa996d5fea8582397144c1f96b553f24b594afa7c6",
}


def home():
    return served.cache(f"librdkafka-{WHEEL}")


def newest():
    return home() if (home() / "librdkafka.so.1").exists() else None


def fetch(where):
    """The wheel, whatever Python this is: only the library in it is wanted."""
    machine = platform.machine()
    if machine not in SHA256:
        raise SystemExit(f"librdkafka.py: no wheel of confluent-kafka is known for {machine}")
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                    "--only-binary", ":all:", "--platform", f"manylinux_2_28_{machine}", "--python-version", "3.11",
                    "--dest", where, f"confluent-kafka=={WHEEL}"], check=True, timeout=300)
    wheel = next(pathlib.Path(where).glob("*.whl"))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != SHA256[machine]:
        raise SystemExit(f"librdkafka.py: {wheel.name} has the digest {digest}, not {SHA256[machine]}")
    return wheel


def fill(where):
    with tempfile.TemporaryDirectory(prefix="sr-wheel-") as place:
        with zipfile.ZipFile(fetch(place)) as wheel:
            name = next(n for n in wheel.namelist() if "librdkafka" in n and ".so" in n)
            library = pathlib.Path(place) / "librdkafka.so.1"
            library.write_bytes(wheel.read(name))
        version = ctypes.CDLL(str(library)).rd_kafka_version_str
        version.restype = ctypes.c_char_p
        if version().decode() != VERSION:
            raise SystemExit(f"librdkafka.py: it is {version().decode()}, not {VERSION}")
        (where / "part").write_bytes(library.read_bytes())
        (where / "part").replace(where / "librdkafka.so.1")


if __name__ == "__main__":
    if sys.argv[1:] != ["prepare"]:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    served.once(home(), "librdkafka.so.1", fill)

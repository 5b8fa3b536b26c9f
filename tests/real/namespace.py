"""A network of the test's own, with an address that is not on loopback."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from child import run

_INSIDE = "WEIR_TEST_NAMESPACE"


def enter() -> None:
    """Runs the program again within namespaces of its own, and returns there. They end with the last
    process in them, so nothing is left however the test ends. Needs root: without, the test fails."""
    if os.environ.get(_INSIDE) != "yes":
        os.environ[_INSIDE] = "yes"
        unshare = ["unshare", "--net", "--mount", "--", sys.executable, *sys.argv]
        os.execvp(unshare[0], unshare)


def add_host(address: str, name: str) -> None:
    """Gives this machine `address`, on one end of a pair of links, and the name that it resolves to."""
    run(["ip", "link", "set", "lo", "up"])
    run(["ip", "link", "add", "weir0", "type", "veth", "peer", "name", "weir1"])
    run(["ip", "address", "add", f"{address}/24", "dev", "weir0"])
    for link in ["weir0", "weir1"]:
        run(["ip", "link", "set", link, "up"])
    hosts = Path("/etc/hosts")
    with tempfile.NamedTemporaryFile("w") as with_it:
        with_it.write(f"{hosts.read_text()}\n{address} {name}\n")
        with_it.flush()
        Path(with_it.name).chmod(0o644)
        run(["mount", "--bind", with_it.name, str(hosts)])


def resets_of_openings() -> int:
    """How many connections to this network's servers were reset before their handshakes were whole,
    so that no server's program heard of them: the kernel's EmbryonicRsts."""
    names, values, *_ = (line.split() for line in Path("/proc/net/netstat").read_text().splitlines())
    return int(values[names.index("EmbryonicRsts")])

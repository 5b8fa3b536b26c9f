"""What each proxy is told: the same service, written the way a user of that proxy would write it.

Every one listens on one port, balances round robin over the same backends, writes one line a
session to an access log in a file, and is otherwise left at its defaults.
"""
from __future__ import annotations

import dataclasses
import pathlib


@dataclasses.dataclass(frozen=True)
class Service:
    port: int
    backends: list[int]
    threads: int
    splice: bool
    folder: pathlib.Path
    sessions: int  # to be held at a time; haproxy and nginx allocate by it
    limits: bool = False  # weir with everything on that counts or bounds
    metrics_port: int | None = None  # where weir is asked for its metrics


def weir(service: Service) -> str:
    backends = "".join(f'      - {{name: backend{i}, address: "127.0.0.1:{port}"}}\n'
                       for i, port in enumerate(service.backends))
    resilience = f"    resilience: {{{_limits(service.sessions)}}}\n" if service.limits else ""
    http = f'http: {{listen: "127.0.0.1:{service.metrics_port}"}}\n' if service.metrics_port else ""
    spare = _spare() if service.metrics_port else ""
    return f"""\
workers: {service.threads}
log: {{level: warning, access: {service.folder}/access.log}}
{http}\
listeners:
  - {{name: bench, bind: ["127.0.0.1:{service.port}"], pool: bench}}
pools:
  - name: bench
    balance: round_robin
{resilience}\
    backends:
{backends}{spare}"""


def _spare() -> str:
    """Ten pools of ten backends that nobody asks for, but every answer tells of."""
    return "".join(f"  - name: spare{pool}\n    backends:\n" +
                   "".join(f'      - {{name: backend{i}, address: "127.0.0.1:1"}}\n'
                           for i in range(10))
                   for pool in range(10))


def _limits(sessions: int) -> str:
    """Every key of `resilience` that has a cost while all is well, none of them reached."""
    return (f"max_active_requests: {sessions}, max_pending_requests: 1000, pending_timeout: 10s, "
            f"max_active_per_backend: {sessions}, max_fails: 1000, circuit_window: 30s, "
            "circuit_success: first_byte, first_byte_timeout: 5s, retry_deadline: 10s, "
            "retry_budget_percent: 20")


def haproxy(service: Service) -> str:
    """Its standard output is the access log: see the `log` line."""
    servers = "".join(f"    server backend{i} 127.0.0.1:{port}\n"
                      for i, port in enumerate(service.backends))
    splice = "    option splice-auto\n" if service.splice else ""
    return f"""\
global
    nbthread {service.threads}
    maxconn {service.sessions}
    log stdout format raw local0

defaults
    mode tcp
    log global
    option tcplog
{splice}\
    timeout connect 5s
    timeout client 5m
    timeout server 5m

frontend bench
    bind 127.0.0.1:{service.port}
    default_backend bench

backend bench
    balance roundrobin
{servers}"""


def nginx(service: Service, modules: str) -> str:
    """The access log is unbuffered, which is what `access_log FILE FORMAT` gives."""
    servers = "".join(f"        server 127.0.0.1:{port};\n" for port in service.backends)
    return f"""\
load_module {modules}/ngx_stream_module.so;
daemon off;
worker_processes {service.threads};
worker_rlimit_nofile {2 * service.sessions + 100};
pid {service.folder}/nginx.pid;
error_log stderr;
events {{
    worker_connections {2 * service.sessions + 100};
}}
stream {{
    log_format session '$remote_addr [$time_local] $protocol $status $bytes_sent $bytes_received '
                       '$session_time "$upstream_addr"';
    access_log {service.folder}/access.log session;
    upstream bench {{
{servers}\
    }}
    server {{
        listen 127.0.0.1:{service.port};
        proxy_pass bench;
    }}
}}
"""

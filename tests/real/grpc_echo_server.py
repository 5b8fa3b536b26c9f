#!/usr/bin/python3
"""A gRPC server without generated code: bytes in, bytes out. Usage: grpc_echo_server.py PORT NAME"""

from __future__ import annotations

import hashlib
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent import futures

import grpc

SERVICE = "weir.test.Echo"
# One message may be larger than gRPC's default of 4 MiB: size is what these tests are about.
MESSAGE_OPTIONS = [
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.max_send_message_length", 64 << 20),
]


def serve(port: int, name: str) -> grpc.Server:
    def echo(request: bytes, _context: grpc.ServicerContext) -> bytes:
        return request

    def who(_request: bytes, _context: grpc.ServicerContext) -> bytes:
        return name.encode()

    def count(request: bytes, _context: grpc.ServicerContext) -> Iterator[bytes]:
        """`MESSAGES SIZE`: that many messages, each filled with its own number."""
        messages, size = (int(word) for word in request.split())
        for number in range(messages):
            yield number.to_bytes(4, "big") * (size // 4)

    def digest(requests: Iterator[bytes], _context: grpc.ServicerContext) -> bytes:
        whole = hashlib.sha256()
        for request in requests:
            whole.update(request)
        return whole.digest()

    def talk(requests: Iterator[bytes], _context: grpc.ServicerContext) -> Iterator[bytes]:
        for request in requests:
            yield request[::-1]

    # Without serializers, messages are passed through as bytes.
    methods = {
        "Echo": grpc.unary_unary_rpc_method_handler(echo),
        "Who": grpc.unary_unary_rpc_method_handler(who),
        "Count": grpc.unary_stream_rpc_method_handler(count),
        "Digest": grpc.stream_unary_rpc_method_handler(digest),
        "Talk": grpc.stream_stream_rpc_method_handler(talk),
    }
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=32), options=MESSAGE_OPTIONS)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, methods)])
    if server.add_insecure_port(f"127.0.0.1:{port}") != port:
        raise SystemExit(f"cannot listen on port {port}")
    server.start()
    return server


def main() -> None:
    asked_to_end = threading.Event()
    signal.signal(signal.SIGTERM, lambda _signal, _frame: asked_to_end.set())
    server = serve(int(sys.argv[1]), sys.argv[2])
    asked_to_end.wait()
    # GOAWAY first, then up to this long for calls still running.
    server.stop(grace=5).wait()


if __name__ == "__main__":
    main()

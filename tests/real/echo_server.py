"""A server of this process that echoes, and can be made to refuse."""

from __future__ import annotations

import asyncio
import threading

import ports


class EchoServer:
    """Listens from the start; refuse() closes the port, accept() opens it again."""

    def __init__(self) -> None:
        self.port = ports.free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.accepted = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server: asyncio.Server | None = None
        self.accept()

    def accept(self) -> None:
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()

    def refuse(self) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()

    def stop(self) -> None:
        self.refuse()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _open(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self.port, backlog=4096, limit=65536
        )

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

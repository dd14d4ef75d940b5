#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""delay.py - a TCP proxy that adds a delay to each round trip, and counts round trips and bytes.

Usage: delay.py PORT MILLISECONDS          to port PORT of 127.0.0.1; prints its own port, then serves

Half of the delay goes to each direction; a new connection costs one round trip more, as TCP's handshake does.  Bytes
under way are not limited: the connection is long, not narrow.  A line on stdin is answered by a line with what was
counted since the last one: requests, rounds, connections, bytes to the client.  A round is a request that was sent after
an answer had begun to arrive: the longest chain of requests that waited for each other.  Standard library only.
"""
import asyncio
import collections
import socket
import sys

HELD = 64 << 20  # bytes of one direction that may be under way


class Counts:
    def __init__(self):
        self.reset()

    def reset(self):
        self.requests = self.connections = self.bytes = self.rounds = self.answered = 0


class Line:
    """One direction of a connection: what came in leaves after the delay."""

    def __init__(self, source, delay):
        self.source, self.delay = source, delay
        self.target = None
        self.queue = collections.deque()
        self.held, self.timer, self.ended = 0, None, False
        self.loop = asyncio.get_running_loop()

    def put(self, data, more=0.0):
        self.queue.append((self.loop.time() + self.delay + more, data))
        self.held += len(data) if data else 0
        if self.held > HELD:
            self.source.pause_reading()
        if self.timer is None:
            self.timer = self.loop.call_at(self.queue[0][0], self.leave)

    def leave(self):
        self.timer = None
        now = self.loop.time() + 0.0002
        while self.queue and self.queue[0][0] <= now and self.target:
            _, data = self.queue.popleft()
            if data is None:
                self.target.close()
                return
            before, self.held = self.held, self.held - len(data)
            if before > HELD >= self.held:
                self.source.resume_reading()
            self.sent(data)
            self.target.write(data)
        if self.queue:
            self.timer = self.loop.call_at(max(self.queue[0][0], now) if self.target else now + 0.001, self.leave)

    def sent(self, data):
        pass


class Answers(Line):
    """From the server."""

    def __init__(self, source, delay, client):
        super().__init__(source, delay)
        self.client = client

    def sent(self, data):
        c = self.client
        c.counts.bytes += len(data)
        if c.asking:
            c.asking = False
            c.counts.answered = max(c.counts.answered, c.depth)


class Server(asyncio.Protocol):
    def __init__(self, client):
        self.client = client

    def connection_made(self, transport):
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.line = Answers(transport, self.client.delay, self.client)
        self.line.target = self.client.transport
        self.client.line.target = transport

    def data_received(self, data):
        self.line.put(data)

    def connection_lost(self, exc):
        self.line.put(None)


class Client(asyncio.Protocol):
    def __init__(self, port, delay, counts):
        self.port, self.delay, self.counts = port, delay, counts
        self.asking, self.depth = False, 0

    def connection_made(self, transport):
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.counts.connections += 1
        self.line = Line(transport, self.delay)
        self.opened = self.line.loop.time() + 2 * self.delay  # when the handshake would be over
        self.task = asyncio.ensure_future(self.connect())

    async def connect(self):
        try:
            await self.line.loop.create_connection(lambda: Server(self), "127.0.0.1", self.port)
        except OSError:
            self.transport.close()

    def data_received(self, data):
        if not self.asking:
            self.asking = True
            self.depth = self.counts.answered + 1
            self.counts.rounds = max(self.counts.rounds, self.depth)
            self.counts.requests += 1
        self.line.put(data, max(0.0, self.opened - self.line.loop.time()))

    def connection_lost(self, exc):
        self.line.put(None)


async def serve(port, delay):
    loop, counts = asyncio.get_running_loop(), Counts()
    server = await loop.create_server(lambda: Client(port, delay / 2, counts), "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        print(counts.requests, counts.rounds, counts.connections, counts.bytes, flush=True)
        counts.reset()
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2]) / 1000))

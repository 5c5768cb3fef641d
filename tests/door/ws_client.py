"""ws_client.py - runs in the box: a WebSocket conversation with a real client. usage: ws_client.py URL"""
import asyncio
import sys

import websockets


async def main(url):
    async with websockets.connect(url, max_size=None, open_timeout=100, close_timeout=100, ping_interval=None) as ws:
        for message in ("hello", "", "x" * 125, "y" * 126, "z" * 60000, "\u20ac"):
            await ws.send(message)
            assert await ws.recv() == message, "another message came back"
        await ws.send(["in ", "three ", "parts"])
        got = [await ws.recv() for _ in range(1)]
        await asyncio.wait_for(await ws.ping(), 100)
        print("echoed", repr(got[0]), "extensions", len(ws.extensions))
        await ws.send("bye")
        await ws.wait_closed()
        print("closed", ws.close_code)

asyncio.run(main(sys.argv[1]))

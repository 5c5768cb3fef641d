"""ws_origin.py - an origin of WebSockets with a real library, compression offered: echoes messages and appends each to
FILE as a line of JSON. Prints its port. usage: ws_origin.py FILE"""
import asyncio
import json
import sys

import websockets


async def echo(ws, *_):
    async for message in ws:
        with open(sys.argv[1], "a") as f:
            f.write(json.dumps(message if isinstance(message, str) else message.hex()) + "\n")
        await ws.send(message)


async def main():
    async with websockets.serve(echo, "127.0.0.1", 0, max_size=None, ping_interval=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()

asyncio.run(main())

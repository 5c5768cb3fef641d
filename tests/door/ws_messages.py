"""ws_messages.py - runs in the box: sends messages over one WebSocket, each after the echo of the one before, and says
what became of each. usage: ws_messages.py URL MESSAGE...

A MESSAGE is text; "hex:..." is binary, "parts:A|B" a text in fragments with a ping between them, "long:N" N letters in
JSON, "wait:FILE" waits for a file. All is offered with permessage-deflate."""
import asyncio
import os
import sys

import websockets


async def parts(ws, pieces):
    for piece in pieces:
        yield piece
        await asyncio.wait_for(await ws.ping(), 100)  # the pong comes while the message is open


async def say(ws, word):
    kind, _, rest = word.partition(":")
    if kind == "hex":
        await ws.send(bytes.fromhex(rest))
    elif kind == "parts":
        await ws.send(parts(ws, rest.split("|")))
    elif kind == "long":
        await ws.send('{"x": "' + "y" * int(rest) + '"}')
    else:
        await ws.send(word)
    return await asyncio.wait_for(ws.recv(), 100)


async def main(url, words):
    async with websockets.connect(url, max_size=None, open_timeout=100, close_timeout=100, ping_interval=None) as ws:
        for word in words:
            if word.startswith("wait:"):
                open(word[5:] + ".reached", "w").close()
                while not os.path.exists(word[5:]):
                    await asyncio.sleep(0.05)
                continue
            try:
                got = await say(ws, word)
                print("echo", len(got) if len(got) > 100 else got, flush=True)
            except websockets.ConnectionClosed:
                print("closed", ws.close_code, ws.close_reason, flush=True)
                return

asyncio.run(main(sys.argv[1], sys.argv[2:]))

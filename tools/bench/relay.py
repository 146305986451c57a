"""Minimal relay between a provider and a reader, as a baseline: `python -m tools.bench.relay PORT PROVIDER`.

`GET /?model=…` calls the provider twice and forwards each chunk as a server-sent event, without queue, database,
blinding or resume. The arena's costs are printed as ratios to it.
"""

import asyncio
import sys

import aiohttp
import msgspec
import uvloop
from aiohttp import web


class Delta(msgspec.Struct):
    content: str | None = None


class Choice(msgspec.Struct):
    delta: Delta


class Chunk(msgspec.Struct):
    choices: list[Choice]


decode = msgspec.json.Decoder(Chunk).decode
encode = msgspec.json.Encoder().encode


async def relay(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)

    async def side(name: str) -> None:
        body = {"model": request.query["model"], "messages": [{"role": "user", "content": "x"}], "stream": True}
        async with request.app["client"].post(f"{request.app['provider']}/chat/completions", json=body) as upstream:
            async for line in upstream.content:
                if line.startswith(b"data: {"):
                    for choice in decode(line[6:]).choices:
                        if choice.delta.content:
                            text = encode({"side": name, "text": choice.delta.content})
                            await response.write(b"event: text\ndata: " + text + b"\n\n")

    await asyncio.gather(side("left"), side("right"))
    await response.write(b"event: end\ndata: {}\n\n")
    return response


async def main(port: int, provider: str) -> None:
    app = web.Application()
    app["provider"] = provider
    app["client"] = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout())
    app.router.add_get("/", relay)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1000).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), sys.argv[2]))

"""Many people at once, from one process: battles through the API, their streams read to the end."""

import asyncio
import json
import time
from dataclasses import dataclass, field

import aiohttp


@dataclass
class Played:
    """One battle as its reader saw it, in seconds since the request that started it."""

    first_text: float = 0.0
    end: float = 0.0
    bytes: int = 0
    silence: float = 0.0  # the longest, between two pieces after the first text
    id: str = ""
    error: str = ""


@dataclass
class Crowd:
    """Readers of a site (with a token) or of the bare relay (without)."""

    site: str
    token: str = ""
    played: list[Played] = field(default_factory=list)

    def client(self) -> aiohttp.ClientSession:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return aiohttp.ClientSession(
            self.site,
            headers=headers,
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=300),
        )

    async def battles(self, number: int, *, over_s: float = 0.0, readers: int = 1) -> list[Played]:
        """Start `number` battles evenly over `over_s` seconds; `readers` follow each to its end, one is measured."""
        async with self.client() as client:

            async def one(index: int) -> Played:
                await asyncio.sleep(over_s * index / number)
                played = Played()
                began = time.perf_counter()
                try:
                    async with client.post("/api/v1/sessions/", json={"prompt": "Say many words."}) as response:
                        battle = (await response.json())["battles"][0]
                    played.id = battle["id"]
                    others = (_read(client, battle["stream_url"], Played(), began) for _ in range(readers - 1))
                    await asyncio.gather(_read(client, battle["stream_url"], played, began), *others)
                except (aiohttp.ClientError, TimeoutError, KeyError) as error:
                    played.error = repr(error)
                return played

            return list(await asyncio.gather(*(one(index) for index in range(number))))

    async def relayed(self, number: int, model: str) -> list[Played]:
        """The same through the bare relay."""
        async with self.client() as client:

            async def one() -> Played:
                played = Played()
                await _read(client, f"/?model={model}", played, time.perf_counter())
                return played

            return list(await asyncio.gather(*(one() for _ in range(number))))

    async def direct(self, provider: str, number: int, model: str, *, over_s: float = 0.0) -> list[Played]:
        """Both sides of each battle straight at the provider; the first text is the later side's."""
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=300)
        ) as client:

            async def side() -> tuple[float, float]:
                body = {"model": model, "messages": [{"role": "user", "content": "Say many words."}], "stream": True}
                began, first = time.perf_counter(), 0.0
                async with client.post(f"{provider}/chat/completions", data=json.dumps(body)) as response:
                    async for line in response.content:
                        if not first and b'"content"' in line:
                            first = time.perf_counter() - began
                return first, time.perf_counter() - began

            async def one(index: int) -> Played:
                await asyncio.sleep(over_s * index / number)
                sides = await asyncio.gather(side(), side())
                return Played(first_text=max(first for first, _ in sides), end=max(end for _, end in sides))

            return list(await asyncio.gather(*(one(index) for index in range(number))))


async def _read(client: aiohttp.ClientSession, url: str, played: Played, began: float) -> None:
    async with client.get(url) as response:
        heard = 0.0
        async for piece in response.content.iter_any():
            played.bytes += len(piece)
            now = time.perf_counter()
            if played.first_text:
                played.silence = max(played.silence, now - heard)
            heard = now
            if not played.first_text and (b"event: text" in piece or b"event: block" in piece):
                played.first_text = time.perf_counter() - began
            if b"event: end" in piece:
                break
    played.end = time.perf_counter() - began


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]

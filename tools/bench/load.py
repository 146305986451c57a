"""Load generator: concurrent battles through the API with their streams."""

import asyncio
import json
import time
from dataclasses import dataclass

import aiohttp


@dataclass
class BattleTiming:
    """Timing of one battle for its reader, in seconds since the request that started it."""

    first_text: float = 0.0
    end: float = 0.0
    ended_at: float = 0.0  # time.perf_counter()
    bytes: int = 0
    silence: float = 0.0  # longest time between two chunks after the first text
    id: str = ""
    error: str = ""


@dataclass
class Crowd:
    """Simulated users of a site (with a token) or of the relay (without)."""

    site: str
    token: str = ""

    def client(self) -> aiohttp.ClientSession:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return aiohttp.ClientSession(
            self.site,
            headers=headers,
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=300),
        )

    async def battles(self, number: int, *, over_s: float = 0.0, readers: int = 1) -> list[BattleTiming]:
        """Start `number` battles evenly over `over_s` seconds; one of each battle's `readers` is measured."""
        async with self.client() as client:

            async def one(index: int) -> BattleTiming:
                await asyncio.sleep(over_s * index / number)
                return await _battle(client, readers)

            return list(await asyncio.gather(*(one(index) for index in range(number))))

    async def sustained(self, at_once: int, *, over_s: float, ended: asyncio.Event) -> list[BattleTiming]:
        """Keep `at_once` battles under way until `ended`; the first ones begin evenly over `over_s` seconds."""
        timings: list[BattleTiming] = []
        async with self.client() as client:

            async def place(index: int) -> None:
                await asyncio.sleep(over_s * index / at_once)
                while not ended.is_set():
                    timings.append(await _battle(client, 1))

            await asyncio.gather(*(place(index) for index in range(at_once)))
        return timings

    async def relayed(self, number: int, model: str, *, over_s: float = 0.0) -> list[BattleTiming]:
        async with self.client() as client:

            async def one(index: int) -> BattleTiming:
                await asyncio.sleep(over_s * index / number)
                timing = BattleTiming()
                await _read(client, f"/?model={model}", timing, time.perf_counter())
                return timing

            return list(await asyncio.gather(*(one(index) for index in range(number))))

    async def direct(self, provider: str, number: int, model: str, *, over_s: float = 0.0) -> list[BattleTiming]:
        """Call the provider directly for both sides of each battle; the first text is the later side's."""
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

            async def one(index: int) -> BattleTiming:
                await asyncio.sleep(over_s * index / number)
                sides = await asyncio.gather(side(), side())
                return BattleTiming(first_text=max(first for first, _ in sides), end=max(end for _, end in sides))

            return list(await asyncio.gather(*(one(index) for index in range(number))))


async def _battle(client: aiohttp.ClientSession, readers: int) -> BattleTiming:
    timing = BattleTiming()
    began = time.perf_counter()
    try:
        async with client.post("/api/v1/sessions/", json={"prompt": "Say many words."}) as response:
            battle = (await response.json())["battles"][0]
        timing.id = battle["id"]
        others = (_read(client, battle["stream_url"], BattleTiming(), began) for _ in range(readers - 1))
        await asyncio.gather(_read(client, battle["stream_url"], timing, began), *others)
    except (aiohttp.ClientError, TimeoutError, KeyError) as error:
        timing.error = repr(error)
    timing.ended_at = time.perf_counter()
    return timing


async def _read(client: aiohttp.ClientSession, url: str, timing: BattleTiming, began: float) -> None:
    async with client.get(url) as response:
        last_chunk = 0.0
        async for chunk in response.content.iter_any():
            timing.bytes += len(chunk)
            now = time.perf_counter()
            if timing.first_text:
                timing.silence = max(timing.silence, now - last_chunk)
            last_chunk = now
            if not timing.first_text and (b"event: text" in chunk or b"event: block" in chunk):
                timing.first_text = time.perf_counter() - began
            if b"event: end" in chunk:
                break
    timing.end = time.perf_counter() - began


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]

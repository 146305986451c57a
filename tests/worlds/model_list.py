"""List of models of the fake provider.

The list of models is `serves`, at /v1/models and /api/tags, as JSON. A prefix of /v1 selects a fault of the list:
/paged (`pages`), /html, /not-json, /not-a-list, /status-<code>, /redirect, /endless, /silent, /cut, /nested, /zipped.
"""

import asyncio
import gzip
from typing import Any

from aiohttp import web

# Appears wherever an upstream may reveal itself.
CANARY = "canary-upstream-7f3a"
SERVES = {"object": "list", "data": [{"id": "honest", "object": "model"}]}


class FakeModelList:
    """`list_requests` keeps the requests."""

    def __init__(self) -> None:
        self.serves: Any = SERVES
        self.list_requests: list[web.BaseRequest] = []
        # Of the list at /paged/v1/models, and the field that names the next page.
        self.pages: list[list[str]] = []
        self.page_cursor = "has_more"

    def forget_list(self) -> None:
        self.list_requests.clear()
        self.serves = SERVES

    def add_list(self, app: web.Application) -> None:
        for address in ("/v1/models", "/api/tags", "/{fault}/v1/models"):
            app.router.add_get(address, self._models)

    async def _models(self, request: web.Request) -> web.StreamResponse:
        self.list_requests.append(request)
        fault = request.match_info.get("fault", "")
        if fault.startswith("status-"):
            words = f"no {CANARY}, {request.headers.get('Authorization')}"
            return web.json_response({"error": {"message": words}}, status=int(fault[7:]))
        match fault:
            case "paged":
                cursors = [value for name, value in request.query.items() if name != "limit"]
                return web.json_response(self._page(int(cursors[0][5:]) if cursors else 0))
            case "html":
                return web.Response(text="<!DOCTYPE html><h1>hello</h1>", content_type="text/html")
            case "not-json":
                return web.Response(text='{"data": [', content_type="application/json")
            case "not-a-list":
                return web.json_response({"models": 7})
            case "nested":
                return web.Response(text="[" * 100_000, content_type="application/json")
            case "zipped":
                headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
                return web.Response(body=gzip.compress(b" " * 1_000_000), headers=headers)
            case "redirect":
                raise web.HTTPFound("/v1/models")
            case "silent":
                await asyncio.sleep(3600)
            case "endless" | "cut":
                return await self._half_a_list(request, endless=fault == "endless")
        return web.json_response(self.serves)

    def _page(self, number: int) -> dict[str, Any]:
        page: dict[str, Any] = {"data": [{"id": name} for name in self.pages[number]]}
        if number + 1 < len(self.pages):
            cursor, name = f"page-{number + 1}", self.page_cursor
            page |= {"has_more": True, "last_id": cursor} if name == "has_more" else {name: cursor}
        return page

    async def _half_a_list(self, request: web.Request, *, endless: bool) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(10**9)})
        await response.prepare(request)
        await response.write(b'{"data": [')
        while endless:
            await response.write(b'{"id": "honest"},' * 10_000)
        assert request.transport is not None
        request.transport.abort()
        return response

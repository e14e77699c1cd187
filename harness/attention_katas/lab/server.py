"""The line to the browser: a few files, and one WebSocket.

It runs code, so it is careful about who asks: it listens on 127.0.0.1 alone, the Host must be ours
(no other name may be made to lead here), a WebSocket must come from our own page (Origin), and
page and socket need the random token of this start.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from attention_katas.lab import pages
from attention_katas.lab.lab import Lab

PAGE = Path(__file__).parent / "page"
HTML = "text/html; charset=utf-8"
KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Nothing from elsewhere, no inline script; pictures that are saved pass through blob: and data:.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}
ASKED_CAP = 16 << 10  # bytes of one request
REFUSED = 4403
NO_TEXT = 1003


class OursOnly:
    """Lets through what is addressed to this server by its own name, and nothing else."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and not self._ours(scope):
            if scope["type"] == "http":
                await PlainTextResponse("This is not the name of the lab.", 403)(
                    scope, receive, send
                )
            else:
                await send({"type": "websocket.close", "code": REFUSED})
            return
        await self.app(scope, receive, send)

    def _ours(self, scope: Scope) -> bool:
        headers = {name.lower(): value for name, value in scope["headers"]}
        if headers.get(b"host", b"").decode("latin-1") not in self.hosts:
            return False
        origin = headers.get(b"origin", b"").decode("latin-1")
        if scope["type"] == "websocket" or origin:
            return origin in {f"http://{host}" for host in self.hosts}
        return True


def application(lab: Lab, port: int, token: str) -> Starlette:
    """The lab as a web application that answers on `port`."""

    def known(given: str | None) -> bool:
        return secrets.compare_digest((given or "").encode(), token.encode())

    async def index(request: Request) -> Response:
        if not known(request.query_params.get("token")):
            return Response(pages.closed(), 403, HEADERS, HTML)
        return Response(pages.index(), 200, HEADERS, HTML)

    async def file(request: Request) -> Response:
        files = {path.name: path for path in PAGE.iterdir()}
        files |= {panel.file: panel.script for panel in lab.panels if panel.script}
        path = files.get(request.path_params["name"])
        if path is None or path.suffix not in KINDS or not path.is_file():
            return PlainTextResponse("There is no such file.", 404, HEADERS)
        return Response(path.read_bytes(), 200, HEADERS, KINDS[path.suffix])

    async def line(page: WebSocket) -> None:
        if not known(page.query_params.get("token")):
            await page.close(REFUSED)
            return
        await page.accept()
        await _talk(lab, page)

    return Starlette(
        routes=[
            Route("/", index),
            WebSocketRoute("/line", line),
            Route("/{name}", file),
        ],
        middleware=[Middleware(OursOnly, port=port)],
    )


async def _talk(lab: Lab, page: WebSocket) -> None:
    """Requests in, answers and events out, until the page is gone."""
    loop = asyncio.get_running_loop()
    outgoing: asyncio.Queue[dict[str, Any]] = asyncio.Queue(1000)

    def put(message: dict[str, Any]) -> None:
        with contextlib.suppress(asyncio.QueueFull):  # a page that does not read gets less
            outgoing.put_nowait(message)

    def tell(message: dict[str, Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(put, message)

    async def write() -> None:
        while True:
            await page.send_text(_written(await outgoing.get()))

    lab.join(page, tell)
    writing = asyncio.create_task(write())
    try:
        while (message := await page.receive())["type"] != "websocket.disconnect":
            if message.get("text") is None:
                await page.close(NO_TEXT)
                break
            lab.ask(page, message["text"], tell)
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        lab.leave(page)
        writing.cancel()
        with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
            await writing


def _written(message: dict[str, Any]) -> str:
    """A message as JSON. One that cannot be is ours to answer for, and says so."""
    try:
        return json.dumps(message, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError) as error:
        head = {name: message.get(name) for name in ("event", "panel", "id")}
        return json.dumps({**head, "unclear": f"a fault of this program: {error}"})


def listen(port: int) -> socket.socket:
    """A socket on 127.0.0.1; port 0 takes any that is free. Raises OSError."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError:
        listening.close()
        raise
    listening.listen(64)
    return listening


def server(app: ASGIApp) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        ws="websockets-sansio",
        ws_max_size=ASKED_CAP,
        http="h11",
        loop="asyncio",
        lifespan="off",
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    # uvicorn warns of malformed requests. The client gets the answer; the terminal is not for it.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    return uvicorn.Server(config)


def serve(lab: Lab, listening: socket.socket, started: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. started: called with the address once it answers."""
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    running = server(application(lab, port, token))

    async def run() -> None:
        serving = asyncio.create_task(running.serve(sockets=[listening]))
        while not running.started and not serving.done():
            await asyncio.sleep(0.005)
        if running.started:
            started(f"http://127.0.0.1:{port}/?token={token}")
        await serving

    asyncio.run(run())

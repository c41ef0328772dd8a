"""A server that looks OpenAI-compatible and then does one thing wrong.

    python fault_server.py MODE

Prints its port. Modes: a status (401, 404, 500, ...), html, malformed, stall, cut, loading (never
ready), not-found, restart (answers well, and is another process after the fourth request), marks
(whole answers of question marks, as many tokens as were asked for).
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EVENT = b'data: {"choices":[{"text":" a","index":0}]}\n\n'
LAST = (
    b'data: {"choices":[{"text":" b","index":0,"finish_reason":"length"}],'
    b'"usage":{"prompt_tokens":8,"completion_tokens":2}}\n\ndata: [DONE]\n\n'
)
RESTART_AFTER = 4


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    mode = ""
    answered = 0

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return

    def do_GET(self) -> None:
        if self.mode == "loading":
            self._answer(503, "application/json", b'{"error":{"message":"Loading model"}}')
        elif self.path == "/v1/models" and self.mode != "not-found":
            self._answer(200, "application/json", json.dumps({"data": [{"id": "m"}]}).encode())
        else:
            self._answer(404, "application/json", b"{}")

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if not self.path.endswith("/completions"):
            self._answer(404, "application/json", b"{}")
        elif self.mode.isdigit():
            self._answer(
                int(self.mode), "application/json", b'{"error":{"message":"\x1b[31mout of cheese"}}'
            )
        elif self.mode == "html":
            self._answer(200, "text/html", b"<html><body>Welcome to nginx</body></html>")
        else:
            self._stream(json.loads(asked)["max_tokens"])

    def _stream(self, tokens: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.close_connection = True
        if self.mode == "marks":
            self._marks(tokens)
            return
        self.wfile.write(b"data: {not json\n\n" if self.mode == "malformed" else EVENT)
        self.wfile.flush()
        if self.mode == "stall":
            time.sleep(600)
        if self.mode == "restart":
            time.sleep(0.02)
            self.wfile.write(LAST)
            self.wfile.flush()
            Handler.answered += 1
            if Handler.answered == RESTART_AFTER:
                self._become_another()

    def _become_another(self) -> None:
        """The socket stays open, so that no client notices; the new process ends with stdin."""
        self.connection.shutdown(socket.SHUT_RDWR)
        if os.fork():
            os._exit(0)
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
        self.server.serve_forever()

    def _marks(self, tokens: int) -> None:
        """One event and 5 ms for every token."""
        for number in range(tokens):
            reason = "length" if number == tokens - 1 else None
            choice = {"text": "??", "index": 0, "finish_reason": reason}
            self._event({"choices": [choice]})
            time.sleep(0.005)
        self._event({"choices": [], "usage": {"prompt_tokens": 8, "completion_tokens": tokens}})

    def _event(self, message: object) -> None:
        self.wfile.write(b"data: " + json.dumps(message).encode() + b"\n\n")
        self.wfile.flush()

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    Handler.mode = sys.argv[1]
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(httpd.server_port, flush=True)  # noqa: T201
    httpd.serve_forever()

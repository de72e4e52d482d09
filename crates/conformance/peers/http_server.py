"""A server on Python's http.server: files, codings, redirects, trailers, interim responses, uploads.

Usage: http_server.py CERTIFICATE KEY HTTP/1.0|HTTP/1.1 FOLDER

Prints `clear PORT` and `tls PORT` when it listens.
"""

import http.server
import os
import ssl
import sys
import threading

certificate, key, version, folder = sys.argv[1:]


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = version

    def __init__(self, *args):
        super().__init__(*args, directory=folder)

    def log_message(self, *args):
        pass

    def end_headers(self):
        coding = self.path.split("/")[1]
        if coding in ("gzip", "br", "zstd"):
            self.send_header("Content-Encoding", coding)
        super().end_headers()

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/redirect":
            self.redirect("/small.txt")
        elif path == "/hop":
            self.redirect("/hopped?%d" % self.client_address[1])
        elif path == "/hopped":
            same = query == str(self.client_address[1])
            self.answer(b"reused\n" if same else b"another connection\n")
        elif path == "/trailers":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.send_header("Trailer", "x-checksum, x-count")
            self.end_headers()
            self.wfile.write(b"9\r\ntrailers \r\n7;name=value\r\nfollow\n\r\n")
            self.wfile.write(b"0\r\nX-Checksum: c0ffee\r\nX-Count: 16\r\n\r\n")
        elif path == "/interim":
            for link in ("</style.css>; rel=preload", "</script.js>; rel=preload"):
                self.send_response_only(103)
                self.send_header("Link", link)
                self.end_headers()
            self.answer(b"after two hints\n")
        else:
            super().do_GET()

    def do_PUT(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            content = b"".join(iter(self.chunk, b""))
        else:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(content)

    def chunk(self):
        size = int(self.rfile.readline().split(b";")[0], 16)
        chunk = self.rfile.read(size)
        self.rfile.readline()
        return chunk

    def redirect(self, to):
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self, content):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass


clear = Server(("127.0.0.1", 0), Handler)
secure = Server(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.set_alpn_protocols(["http/1.1"])
secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
print("clear", clear.server_port)
print("tls", secure.server_port)
threading.Thread(target=secure.serve_forever, daemon=True).start()
clear.serve_forever()

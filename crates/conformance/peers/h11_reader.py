"""What h11 makes of heads of HTTP/1.1.

Each line of the input is `request` or `response`, a space, and a head in hexadecimal; what a response answers is a GET. Each
line of the output is a JSON list: ["taken", method or status, target or null, [[name, value], ...]] with bytes as Latin-1,
["refused", why], or ["waits"].
"""

import json
import sys

import h11


def reader(kind):
    if kind == "request":
        return h11.Connection(h11.SERVER)
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("host", "a")]))
    connection.send(h11.EndOfMessage())
    return connection


def verdict(kind, head):
    connection = reader(kind)
    connection.receive_data(head)
    try:
        event = connection.next_event()
    except h11.RemoteProtocolError as error:
        return ["refused", str(error)]
    if event is h11.NEED_DATA:
        return ["waits"]
    fields = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in event.headers]
    if isinstance(event, h11.Request):
        return ["taken", event.method.decode("latin-1"), event.target.decode("latin-1"), fields]
    return ["taken", str(event.status_code), None, fields]


for line in sys.stdin:
    kind, _, head = line.strip().partition(" ")
    print(json.dumps(verdict(kind, bytes.fromhex(head))))

"""`alula hpack pipe` and Python's hpack read what the other writes.

Usage: hpack_pair.py PROGRAM SEED SESSIONS

Each session is a new codec on both sides, through which random field sections go in both directions, with random
policies, table sizes and sensitive fields. Prints one line and exits 0, or says what differs and exits 1.
"""

import json
import random
import subprocess
import sys

import hpack

BLOCKS = 40
TABLE_BYTES = [0, 50, 100, 300, 1000, 4096, 16384, 65536]
NAMES = [":method", ":path", ":status", "accept", "cookie", "content-type", "etag", "user-agent", "x-request-id"]
VALUES = ["", "GET", "/", "200", "gzip, deflate", "text/html", "no-cache"]


class Pipe:
    """The program: one JSON line in, one JSON line out."""

    def __init__(self, program):
        command = [program, "hpack", "pipe"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            sys.exit(f"{request} is answered with {answer}")
        return answer

    def close(self):
        self.process.stdin.close()
        if self.process.wait(timeout=10) != 0:
            sys.exit("the program did not end well")


class Session:
    """A new codec on both sides."""

    def __init__(self, pipe, choice):
        self.pipe, self.choice = pipe, choice
        self.encoder, self.decoder = hpack.Encoder(), hpack.Decoder(max_header_list_size=1 << 24)
        # What is sent again and again, so that tables have something to do.
        self.fields = [self.field() for _ in range(12)]
        self.manner = self.some_manner()
        pipe.ask(op="new")

    def run(self):
        for _ in range(BLOCKS):
            if self.choice.random() < 0.2:
                self.change_table()
            if self.choice.random() < 0.05:
                self.manner = self.some_manner()
            self.from_program_to_python()
            self.from_python_to_program()

    def change_table(self):
        # Two changes between two blocks: the smaller first, since that one has to be said as well (RFC 7541 §4.2).
        for table_bytes in sorted(self.choice.sample(TABLE_BYTES, self.choice.choice([1, 2]))):
            self.pipe.ask(op="limit", n=table_bytes)
            self.encoder.header_table_size = table_bytes
            self.decoder.max_allowed_table_size = table_bytes

    def some_manner(self):
        policies = [None, "static", "always", "repeat", "index", "without", "never"]
        return {"policy": self.choice.choice(policies), "huffman": self.choice.choice([None, False, True])}

    def from_program_to_python(self):
        fields = self.section()
        sensitive = [place for place in range(len(fields)) if self.choice.random() < 0.1]
        manner = {key: value for key, value in self.manner.items() if value is not None}
        block = self.pipe.ask(op="enc", headers=fields, sensitive=sensitive, **manner)["hex"]
        decoded = self.decoder.decode(bytes.fromhex(block), raw=True)
        self.same("Python decodes", fields, [(text(name), text(value)) for name, value in decoded], block)
        indexable = [place for place in sensitive if decoded[place].indexable]
        if indexable:
            sys.exit(f"sensitive, but not marked as never indexed: {[fields[place] for place in indexable]} in {block}")

    def from_python_to_program(self):
        fields = self.section()
        given = [(encoded(name), encoded(value), self.choice.random() < 0.1) for name, value in fields]
        block = self.encoder.encode(given, huffman=self.choice.random() < 0.7).hex()
        self.same("the program decodes", fields, self.pipe.ask(op="dec", hex=block)["headers"], block)

    def section(self):
        length = self.choice.choice([0, 1, 5, 5, 10, 30])
        return [self.choice.choice(self.fields) if self.choice.random() < 0.8 else self.field() for _ in range(length)]

    def field(self):
        known = self.choice.random() < 0.6
        name = self.choice.choice(NAMES) if known else "x-" + self.letters(self.choice.randrange(1, 30))
        return [name, self.value()]

    def value(self):
        kind = self.choice.random()
        if kind < 0.3:
            return self.choice.choice(VALUES)
        if kind < 0.7:
            return self.letters(self.choice.randrange(40))
        # Any bytes, as Latin-1; sometimes longer than a whole table.
        return text(self.choice.randbytes(self.choice.choice([1, 10, 100, 5000])))

    def letters(self, length):
        return "".join(self.choice.choices("abcdefghijklmnopqrstuvwxyz0123456789-", k=length))

    def same(self, who, expected, found, block):
        if [tuple(field) for field in expected] != [tuple(field) for field in found]:
            sys.exit(f"{who} {block}\nas {found}\nwhich was {expected}")


def encoded(characters):
    return characters.encode("latin-1")


def text(data):
    return data.decode("latin-1")


def main():
    program, seed, sessions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    pipe = Pipe(program)
    for session in range(sessions):
        Session(pipe, random.Random(seed + session)).run()
    pipe.close()
    print(f"{sessions * BLOCKS} sections each way agree")


main()

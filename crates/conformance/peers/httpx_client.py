"""A client on httpx that asks for what it is told.

Usage: httpx_client.py URL [AUTHORITY]

It reads one request a line and writes one answer a line, both JSON; peers/go/client.go says what they hold.
"""

import asyncio
import json
import ssl
import sys

import httpx

# Several tasks at once on one connection; several threads would send their requests out of order.
AT_ONCE = 20


class Client:
    def __init__(self, base, authority):
        trust = ssl.create_default_context(cafile=authority)
        # Without HTTP/1.1, clear text is HTTP/2 with prior knowledge.
        self.client = httpx.AsyncClient(
            base_url=base, verify=trust, http1=False, http2=True, trust_env=False, timeout=30
        )
        self.held = None

    async def perform(self, ask):
        if ask["times"]:
            await asyncio.gather(*(self.some(ask) for _ in range(AT_ONCE)))
            return {}
        response = self.held if ask["resume"] else await self.client.send(self.request(ask), stream=True)
        if ask["hold"]:
            self.held = response
            return {}
        told = {"status": response.status_code, "fields": response.headers.multi_items()}
        try:
            await self.save(response, ask)
        except httpx.HTTPError as error:
            told["error"] = repr(error)
        await response.aclose()
        return told

    async def some(self, ask):
        """Each after its last."""
        for _ in range(ask["times"] // AT_ONCE):
            response = await self.client.request(ask["method"], ask["path"])
            response.raise_for_status()

    def request(self, ask):
        content = open(ask["body"], "rb").read() if ask["body"] else None
        return self.client.build_request(ask["method"], ask["path"], headers=ask["fields"], content=content)

    async def save(self, response, ask):
        """Keeps what comes, even when it is not all."""
        with open(ask["into"], "wb") as into:
            async for chunk in response.aiter_bytes():
                into.write(chunk)
                if ask["giveup"]:
                    return


async def main():
    base, *authority = sys.argv[1:]
    client = Client(base, authority[0] if authority else None)
    for line in sys.stdin:
        try:
            told = await client.perform(json.loads(line))
        except httpx.HTTPError as error:
            told = {"error": repr(error)}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    asyncio.run(main())

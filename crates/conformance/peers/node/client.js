// A client on Node's http2 that asks for what it is told.
//
// Usage: node client.js URL [AUTHORITY]
//
// It reads one request a line and writes one answer a line, both JSON; peers/go/client.go says what they hold.
'use strict';

const fs = require('node:fs');
const http2 = require('node:http2');
const readline = require('node:readline');

const [base, authority] = process.argv.slice(2);
const options = { ca: authority && fs.readFileSync(authority), settings: { maxHeaderListSize: 1 << 20 } };

let session = null;
let held = null;

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const told = await perform(JSON.parse(line)).catch((error) => ({ error: String(error) }));
    console.log(JSON.stringify({ status: 0, fields: [], interim: [], trailers: [], error: '', ...told }));
  }
  session?.destroy();
}

async function perform(ask) {
  if (ask.resume) {
    return held;
  }
  if (ask.times) {
    return many(ask);
  }
  const exchange = begin(ask);
  if (ask.hold) {
    held = exchange.end;
    // Told when it is asked for again.
    held.catch(() => {});
    await exchange.head;
    return {};
  }
  return exchange.end;
}

// 20 at once, each after its last.
async function many(ask) {
  const some = async () => {
    for (let i = 0; i < ask.times / 20; i++) {
      const { error } = await begin({ method: ask.method, path: ask.path }).end;
      if (error) {
        throw new Error(error);
      }
    }
  };
  await Promise.all(Array.from({ length: 20 }, some));
  return {};
}

function begin(ask) {
  const head = { ':method': ask.method, ':path': `/${ask.path}` };
  for (const [name, value] of ask.fields ?? []) {
    head[name] = value;
  }
  const trailers = ask.trailers ?? [];
  const stream = connection().request(head, { waitForTrailers: trailers.length > 0, endStream: !ask.body });
  stream.on('wantTrailers', () => stream.sendTrailers(Object.fromEntries(trailers)));
  if (ask.body) {
    fs.createReadStream(ask.body).pipe(stream);
  }
  return { head: once(stream, 'response'), end: finish(ask, stream) };
}

// The one connection there is, or a new one when it takes no more requests.
function connection() {
  if (session === null || session.closed || session.destroyed) {
    session = http2.connect(base, options);
    session.on('error', () => {});
  }
  return session;
}

function once(stream, event) {
  return new Promise((resolve) => stream.once(event, resolve));
}

function finish(ask, stream) {
  const told = { status: 0, fields: [], interim: [], trailers: [], error: '' };
  const chunks = [];
  stream.on('headers', (fields) => told.interim.push(fields[':status']));
  stream.on('response', (fields) => { told.status = fields[':status']; told.fields = pairs(fields); });
  stream.on('trailers', (fields) => { told.trailers = pairs(fields); });
  stream.on('data', (chunk) => {
    chunks.push(chunk);
    if (ask.giveup) {
      stream.close(http2.constants.NGHTTP2_CANCEL);
    }
  });
  stream.on('error', (error) => { told.error = String(error); });
  return new Promise((resolve) => stream.on('close', () => {
    if (ask.into) {
      fs.writeFileSync(ask.into, Buffer.concat(chunks));
    }
    resolve(told);
  }));
}

function pairs(fields) {
  return Object.entries(fields).filter(([name]) => !name.startsWith(':')).map(([name, value]) => [name, String(value)]);
}

main();

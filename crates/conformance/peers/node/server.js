// A server on Node's http2 with what static servers do not have.
//
// Usage: node server.js CERTIFICATE KEY
//
// It prints `clear PORT` and `tls PORT` when it listens.
'use strict';

const fs = require('node:fs');
const http2 = require('node:http2');

const ALPHABET = Buffer.from('abcdefghijklmnopqrstuvwxyz'.repeat(1024));

let release = () => {};
const released = new Promise((resolve) => { release = resolve; });

const routes = {
  '/small.txt': (stream) => answer(stream, 'a feather of little weight'),
  '/empty.txt': (stream) => answer(stream, ''),
  '/big': big,
  '/echo': echo,
  '/trailers': trailers,
  '/sent-trailers': sentTrailers,
  '/interim': interim,
  '/reset': reset,
  '/wait': wait,
  '/release': (stream) => { release(); answer(stream, 'released\n'); },
  '/goaway': goaway,
  '/fields': fields,
};

// More than the 64 KiB that are the default for a section in either direction.
const settings = { maxHeaderListSize: 1 << 20 };
const tls = { cert: fs.readFileSync(process.argv[2]), key: fs.readFileSync(process.argv[3]), settings };
listen('clear', http2.createServer({ settings }));
listen('tls', http2.createSecureServer(tls));

function listen(name, server) {
  server.on('stream', serve);
  // A client that goes away in the middle is part of what is tested.
  server.on('sessionError', () => {});
  server.listen(0, '127.0.0.1', () => console.log(name, server.address().port));
}

function serve(stream, headers) {
  stream.on('error', () => {});
  const url = new URL(headers[':path'], 'http://localhost');
  const route = routes[url.pathname];
  if (route === undefined) {
    stream.respond({ ':status': 404 }, { endStream: true });
    return;
  }
  route(stream, headers, url.searchParams);
}

function answer(stream, content, head = {}) {
  stream.respond({ ':status': 200, 'content-length': Buffer.byteLength(content), ...head });
  stream.end(content);
}

// n bytes: the alphabet, again and again.
function big(stream, _, query) {
  let left = Number(query.get('n'));
  stream.respond({ ':status': 200 });
  const more = () => {
    while (left > 0) {
      const part = ALPHABET.subarray(0, Math.min(left, ALPHABET.length));
      left -= part.length;
      if (!stream.write(part)) {
        stream.once('drain', more);
        return;
      }
    }
    stream.end();
  };
  more();
}

function echo(stream, headers) {
  stream.respond({ ':status': 200, 'content-type': headers['content-type'] ?? 'application/octet-stream' });
  stream.pipe(stream);
}

function trailers(stream) {
  stream.respond({ ':status': 200, trailer: 'x-checksum, x-count' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-checksum': 'c0ffee', 'x-count': '16' }));
  stream.end('trailers follow\n');
}

function sentTrailers(stream) {
  let received = {};
  stream.on('trailers', (fields) => { received = fields; });
  stream.on('end', () => {
    answer(stream, ['x-checksum', 'x-count'].map((name) => `${name}: ${received[name] ?? ''}\n`).join(''));
  });
  stream.resume();
}

function interim(stream) {
  stream.additionalHeaders({ ':status': 103, link: '</style.css>; rel=preload' });
  stream.additionalHeaders({ ':status': 103, link: '</script.js>; rel=preload' });
  answer(stream, 'after two hints\n');
}

function reset(stream) {
  stream.respond({ ':status': 200, 'content-length': 20 });
  stream.write('half of it', () => stream.destroy(new Error('half of it is all there is')));
}

// A head at once, the content when somebody asks for release.
function wait(stream) {
  stream.respond({ ':status': 200 });
  stream.write('held ');
  released.then(() => stream.end('and released\n'));
}

// Answers, and takes no more requests on this connection.
function goaway(stream) {
  answer(stream, 'the last answer\n');
  stream.session.close();
}

// n fields of size bytes each; the content says what came with the request.
function fields(stream, headers, query) {
  const head = {};
  for (let i = 0; i < Number(query.get('n')); i++) {
    head[`x-field-${i}`] = 'v'.repeat(Number(query.get('size')));
  }
  const sent = Object.keys(headers).filter((name) => name.startsWith('x-sent-'));
  const bytes = sent.reduce((sum, name) => sum + headers[name].length, 0);
  answer(stream, `${sent.length} fields, ${bytes} bytes\n`, head);
}

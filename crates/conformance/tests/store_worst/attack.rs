//! Requests as bytes, and the attacks that are made of them.

use std::time::Duration;

/// A shape of requests that cost much.
pub(crate) struct Attack {
    pub(crate) shape: String,
    /// The requests that make what is stored before, each of which is answered with 2xx.
    pub(crate) before: Vec<Vec<u8>>,
    /// The requests, on a connection for each.
    pub(crate) requests: Vec<Vec<u8>>,
    /// The clients read the answers to their ends.
    pub(crate) reads: bool,
    /// The bytes of records that all requests together touch.
    pub(crate) records: usize,
    /// The bytes that a store may hold for all of them together, whatever they sent.
    pub(crate) unpaid: u64,
    /// The time that all of them together may take, whatever they sent.
    pub(crate) free_time: Duration,
}

impl Attack {
    /// An attack of one request on an empty store, whose answer is read.
    pub(crate) fn of(shape: impl Into<String>, request: Vec<u8>) -> Self {
        Self {
            shape: shape.into(),
            before: Vec::new(),
            requests: vec![request],
            reads: true,
            records: 0,
            unpaid: 0,
            free_time: Duration::ZERO,
        }
    }

    /// The requests that come before, and the bytes that each request touches of what they store.
    pub(crate) fn after(self, before: Vec<Vec<u8>>, touched: usize) -> Self {
        Self { before, records: touched * self.requests.len(), ..self }
    }

    /// The same request on so many connections, whose answers nobody reads.
    pub(crate) fn unread(self, connections: usize) -> Self {
        let requests = vec![self.requests[0].clone(); connections];
        Self { requests, reads: false, records: self.records * connections, ..self }
    }

    /// Returns true if a request may change what is stored.
    pub(crate) fn writes(&self) -> bool {
        self.requests.iter().any(|request| !request.starts_with(b"GET "))
    }

    /// The same request on so many connections.
    pub(crate) fn times(self, connections: usize) -> Self {
        let requests = vec![self.requests[0].clone(); connections];
        Self { requests, records: self.records * connections, ..self }
    }
}

/// A request of HTTP/1.1 that is the last of its connection; fields end with CRLF each.
pub(crate) fn request(method: &str, path: &str, fields: &str, content: &[u8]) -> Vec<u8> {
    let length = match content.len() {
        0 if method == "GET" => String::new(),
        length => format!("content-length: {length}\r\n"),
    };
    let head =
        format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{fields}{length}\r\n");
    [head.as_bytes(), content].concat()
}

/// A PUT of a text.
pub(crate) fn put(path: &str, fields: &str, content: &[u8]) -> Vec<u8> {
    request("PUT", path, &format!("content-type: text/plain\r\n{fields}"), content)
}

pub(crate) fn get(path: &str, fields: &str) -> Vec<u8> {
    request("GET", path, fields, b"")
}

/// A request whose content is JSON.
pub(crate) fn json(method: &str, path: &str, content: &str) -> Vec<u8> {
    request(method, path, "content-type: application/json\r\n", content.as_bytes())
}

/// Numbered units that fill so many bytes, with something between them.
pub(crate) fn filled(bytes: usize, between: &str, unit: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(bytes);
    for number in 0.. {
        let next = unit(number);
        if text.len() + between.len() + next.len() > bytes {
            break;
        }
        if number > 0 {
            text.push_str(between);
        }
        text.push_str(&next);
    }
    text
}

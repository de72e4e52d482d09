//! Heads that are sent (RFC 9112 §2.1), in three parts: the start line, the fields, and the end with added
//! fields. Room for all of a part is taken once, then it is written plainly.

use alula_fields::{Decimal, Field, FieldSection, RequestHead, Status};
use alula_machine::OutBuf;

use crate::config::Spelling;

/// The fields that the machine adds to the given ones.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Extra {
    /// `content-length`.
    pub(crate) length: Option<u64>,
    /// `transfer-encoding: chunked`.
    pub(crate) is_chunked: bool,
    /// `connection: close`.
    pub(crate) closes: bool,
    /// `connection: keep-alive`, for peers of HTTP/1.0.
    pub(crate) keeps_alive: bool,
}

/// The most bytes of the lines of [`Extra`].
const EXTRA_BYTES_MAX: usize = 160;

/// Writes the request line, and `host` unless it is among the fields; an `absolute` target names scheme and
/// authority, as proxies require (RFC 9112 §3.2.2).
#[inline]
pub(crate) fn request_line(
    head: &RequestHead<'_>,
    has_host: bool,
    is_absolute: bool,
    spelling: Spelling,
    out: &mut OutBuf,
) {
    /// The bytes of spaces, version, the name of `host` and line ends.
    const BESIDE_BYTES: usize = 64;
    let control = head.method.len() + head.scheme.len() + 2 * head.authority.len() + head.path.len();
    write(out, control + BESIDE_BYTES, |line| {
        line.put(head.method.as_bytes());
        line.put(b" ");
        line.target(head, is_absolute);
        line.put(b" HTTP/1.1\r\n");
        if !has_host {
            line.field(spelled(spelling, "Host", "host"), head.authority.as_bytes());
        }
    });
}

/// The bytes of version, digits, spaces, the longest reason and the line end.
const STATUS_LINE_BYTES_MAX: usize = 64;

/// Writes the status line.
#[inline]
pub(crate) fn status_line(status: Status, out: &mut OutBuf) {
    write(out, STATUS_LINE_BYTES_MAX, |line| line.status(status));
}

/// Writes a whole head from remembered field lines, without added fields.
#[inline]
pub(crate) fn known_answer(status: Status, lines: &[u8], out: &mut OutBuf) {
    write(out, STATUS_LINE_BYTES_MAX + lines.len() + 2, |line| {
        line.status(status);
        line.put(lines);
        line.put(b"\r\n");
    });
}

/// Writes the lines of fields: colon, space and line end are four bytes beside name and value, and a spelling
/// is as long as its name.
#[inline]
pub(crate) fn fields(fields: &FieldSection, spelling: Spelling, out: &mut OutBuf) {
    write(out, fields.bytes() + 4 * fields.len(), |line| line.fields(fields, spelling));
}

/// Writes the added fields and the end of a head.
#[inline]
pub(crate) fn end(extra: Extra, spelling: Spelling, out: &mut OutBuf) {
    if extra == Extra::default() {
        return out.extend(b"\r\n");
    }
    write(out, EXTRA_BYTES_MAX, |line| {
        line.extra(extra, spelling);
        line.put(b"\r\n");
    });
}

/// Writes the last chunk, the trailers, and the end of the message.
pub(crate) fn trailers(trailers: &FieldSection, spelling: Spelling, out: &mut OutBuf) {
    out.extend(b"0\r\n");
    fields(trailers, spelling, out);
    out.extend(b"\r\n");
}

/// Adds the credentials for the proxy to the head just written (RFC 9110 §11.7.2).
#[cold]
pub(crate) fn add_proxy_authorization(value: &str, spelling: Spelling, out: &mut OutBuf) {
    const END: &[u8] = b"\r\n";
    out.truncate(out.end() - END.len());
    let name = spelled(spelling, "Proxy-Authorization", "proxy-authorization");
    write(out, name.len() + value.len() + 4, |line| line.field(name, value.as_bytes()));
    out.extend(END);
}

/// Writes one field line.
pub(crate) fn field(field: &Field<'_>, spelling: Spelling, out: &mut OutBuf) {
    write(out, field.name_bytes().len() + field.value().len() + 4, |line| line.given(field, spelling));
}

#[inline]
const fn spelled<'a>(spelling: Spelling, canonical: &'a str, lower: &'a str) -> &'a str {
    match spelling {
        Spelling::Lower => lower,
        Spelling::Given | Spelling::Canonical => canonical,
    }
}

/// Writes a name in another spelling than the stored one, with a colon and a space.
#[inline(never)]
fn write_respelled(field: &Field<'_>, spelling: Spelling, space: &mut [u8]) -> Option<usize> {
    let name = field.name_bytes();
    space[..name.len()].copy_from_slice(name);
    if spelling != Spelling::Lower {
        field.write_canonical(space)?;
    }
    space[name.len()..][..2].copy_from_slice(b": ");
    Some(name.len() + 2)
}

/// Bytes that are written into reserved room.
struct Line<'a> {
    space: &'a mut [u8],
    len: usize,
}

/// Reserves room for everything that `lines` writes.
#[inline]
fn write(out: &mut OutBuf, room: usize, lines: impl FnOnce(&mut Line<'_>)) {
    let mut line = Line { space: out.spare(room), len: 0 };
    lines(&mut line);
    let written = line.len;
    out.commit(written);
}

impl Line<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.space[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    #[inline]
    fn target(&mut self, head: &RequestHead<'_>, is_absolute: bool) {
        if head.method == "CONNECT" {
            return self.put(head.authority.as_bytes());
        }
        if is_absolute {
            self.put(head.scheme.as_bytes());
            self.put(b"://");
            self.put(head.authority.as_bytes());
            if head.path == "*" {
                // The last proxy makes the asterisk of a URI without path (RFC 9112 §3.2.4).
                return;
            }
        }
        self.put(head.path.as_bytes());
    }

    #[inline]
    fn status(&mut self, status: Status) {
        if status == Status::OK {
            return self.put(b"HTTP/1.1 200 OK\r\n");
        }
        self.put(b"HTTP/1.1 ");
        self.put(&status.digits());
        self.put(b" ");
        self.put(status.reason().unwrap_or_default().as_bytes());
        self.put(b"\r\n");
    }

    #[inline]
    fn field(&mut self, name: &str, value: &[u8]) {
        self.put(name.as_bytes());
        self.put(b": ");
        self.put(value);
        self.put(b"\r\n");
    }

    #[inline]
    fn given(&mut self, field: &Field<'_>, spelling: Spelling) {
        let space = &mut self.space[self.len..];
        let written = match spelling {
            Spelling::Given => field.write_line_start(space),
            Spelling::Canonical | Spelling::Lower => write_respelled(field, spelling, space),
        };
        // There is room for every name.
        self.len += written.unwrap_or_default();
        self.put(field.value());
        self.put(b"\r\n");
    }

    #[inline]
    fn fields(&mut self, fields: &FieldSection, spelling: Spelling) {
        for field in fields {
            self.given(&field, spelling);
        }
    }

    #[inline]
    fn extra(&mut self, extra: Extra, spelling: Spelling) {
        if let Some(length) = extra.length {
            let name = spelled(spelling, "Content-Length", "content-length");
            self.field(name, Decimal::of(length).as_bytes());
        }
        if extra.is_chunked {
            self.field(spelled(spelling, "Transfer-Encoding", "transfer-encoding"), b"chunked");
        }
        if extra.closes || extra.keeps_alive {
            let word: &[u8] = if extra.closes { b"close" } else { b"keep-alive" };
            self.field(spelled(spelling, "Connection", "connection"), word);
        }
    }
}

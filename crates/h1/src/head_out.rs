//! Heads as they go (RFC 9112 §2.1): room for all of a head is taken once, then it is written plainly.

use alula_fields::{Decimal, Field, FieldSection, OutBuf, RequestHead, ResponseHead, Status};

use crate::config::Spelling;

/// What is written beside the fields that were given.
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

/// More than the longest of what is not given: the versions and the ends of lines, the names and values of [`Extra`].
const REST_BYTES: usize = 192;

/// Writes a request; an `absolute` target names scheme and authority, as proxies ask for (RFC 9112 §3.2.2).
#[inline]
pub(crate) fn request(
    head: &RequestHead<'_>,
    has_host: bool,
    is_absolute: bool,
    extra: Extra,
    spelling: Spelling,
    out: &mut OutBuf,
) {
    let control = head.method.len() + head.scheme.len() + 2 * head.authority.len() + head.path.len();
    write(out, control + room(head.fields), |line| {
        line.put(head.method.as_bytes());
        line.put(b" ");
        line.target(head, is_absolute);
        line.put(b" HTTP/1.1\r\n");
        if !has_host {
            line.field(spelled(spelling, "Host", "host"), head.authority.as_bytes());
        }
        line.rest(head.fields, extra, spelling);
    });
}

/// Writes a response.
#[inline]
pub(crate) fn response(head: &ResponseHead<'_>, extra: Extra, spelling: Spelling, out: &mut OutBuf) {
    write(out, room(head.fields), |line| {
        line.status(head.status);
        line.rest(head.fields, extra, spelling);
    });
}

/// Writes the fields after the last chunk, and the end of the message.
pub(crate) fn trailers(fields: &FieldSection, spelling: Spelling, out: &mut OutBuf) {
    write(out, room(fields), |line| {
        line.put(b"0\r\n");
        line.rest(fields, Extra::default(), spelling);
    });
}

/// Writes what a prepared request leaves open, and the end of its head.
pub(crate) fn rest(extra: Extra, spelling: Spelling, out: &mut OutBuf) {
    write(out, REST_BYTES, |line| line.rest(&FieldSection::new(), extra, spelling));
}

/// Adds to the head just written what only the proxy is to know (RFC 9110 §11.7.2).
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

/// Name, colon, space, value and the end of the line are four octets beside name and value; a spelling is as long as its name.
#[inline]
fn room(fields: &FieldSection) -> usize {
    fields.octets() + 4 * fields.len() + REST_BYTES
}

#[inline]
const fn spelled<'a>(spelling: Spelling, canonical: &'a str, lower: &'a str) -> &'a str {
    match spelling {
        Spelling::Lower => lower,
        Spelling::Given | Spelling::Canonical => canonical,
    }
}

/// Octets being written into room that was taken for them.
struct Line<'a> {
    space: &'a mut [u8],
    len: usize,
}

/// Takes room for all that `lines` writes.
#[inline]
fn write(out: &mut OutBuf, room: usize, lines: impl FnOnce(&mut Line<'_>)) {
    let mut line = Line { space: out.spare(room), len: 0 };
    lines(&mut line);
    let written = line.len;
    out.commit(written);
}

impl Line<'_> {
    #[inline]
    fn put(&mut self, octets: &[u8]) {
        self.space[self.len..self.len + octets.len()].copy_from_slice(octets);
        self.len += octets.len();
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
            Spelling::Given => field.write_spelling(space),
            Spelling::Canonical => field.name().canonical().write_to(space),
            Spelling::Lower => {
                let name = field.name_bytes();
                space[..name.len()].copy_from_slice(name);
                Some(name.len())
            }
        };
        // There is room for every name.
        self.len += written.unwrap_or_default();
        self.put(b": ");
        self.put(field.value());
        self.put(b"\r\n");
    }

    #[inline]
    fn rest(&mut self, fields: &FieldSection, extra: Extra, spelling: Spelling) {
        for field in fields {
            self.given(&field, spelling);
        }
        self.extra(extra, spelling);
        self.put(b"\r\n");
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

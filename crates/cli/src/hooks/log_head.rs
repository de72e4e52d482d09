//! `alula echo --log`: the head of each request as it came.

use std::{io::Write as _, time::SystemTime};

use alula::{Answer, Begun, Hook, Request, Version, masked_target};

use super::lines::{ClfTime, Escaped, Lines};

/// Writes the head of each request on arrival: peer, time, method, target and version on a line, then each
/// field on an indented line, then an empty line.
///
/// Credentials and values of queries are hidden as everywhere.
pub(crate) struct LogHead(pub(crate) Lines);

impl Hook for LogHead {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        let (peer, request) = (begun.peer(), begun.request());
        self.0.push(|lines| {
            // A `Vec` takes all there is.
            let _ = write!(lines, "{peer} [{}] ", ClfTime(SystemTime::now()));
            write(lines, request);
        });
        None
    }
}

fn write(lines: &mut Vec<u8>, request: &Request) {
    let authority = request.authority().unwrap_or_default();
    // That of CONNECT is the authority.
    let target = if request.path().is_empty() { authority } else { request.path() };
    let target = masked_target(target).to_string();
    let (method, target) = (Escaped(request.method().as_bytes()), Escaped(target.as_bytes()));
    let _ = writeln!(lines, "{method} {target} {}", request.version());
    match request.version() {
        // It is taken out of the fields.
        Version::Http1 => write_field(lines, b"host", authority.as_bytes()),
        // HTTP/2 sends these as pseudo-fields, which are not among the fields (RFC 9113 §8.3.1).
        Version::Http2 => {
            write_field(lines, b":scheme", request.claimed_scheme().unwrap_or_default().as_bytes());
            write_field(lines, b":authority", authority.as_bytes());
        }
    }
    for field in request.headers() {
        write_field(lines, field.spelling().map_or(field.name_bytes(), str::as_bytes), &field.shown());
    }
    lines.push(b'\n');
}

fn write_field(lines: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    let _ = writeln!(lines, "  {}: {}", Escaped(name), Escaped(value));
}

//! The first line of a message: request line (RFC 9112 §3) and status line (RFC 9112 §4).

use alula_fields::{Authority, Head, KnownName, Status, bytes};

use crate::guard::violation::Violation;

/// The status line of most answers.
pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\n";

/// A request line of valid form; `is_old` is HTTP/1.0.
pub(crate) struct RequestLine<'i> {
    pub(crate) method: &'i [u8],
    pub(crate) target: &'i [u8],
    pub(crate) is_old: bool,
}

impl<'i> RequestLine<'i> {
    /// Splits the first line, if it is in the usual form: GET or POST, a path and HTTP/1.1, all of it here.
    /// Returns its length as well, with its end.
    #[inline]
    pub(crate) fn usual(input: &'i [u8]) -> Option<(Self, usize)> {
        const REST: &[u8] = b" HTTP/1.1\r\n";
        let method_len = [&b"GET /"[..], b"POST /"].iter().find(|start| input.starts_with(start))?.len() - 2;
        let (method, rest) = input.split_at_checked(method_len)?;
        let target = &rest[1..];
        let (target, rest) = target.split_at_checked(bytes::position_outside_path(target)?)?;
        let line = Self { method, target, is_old: false };
        rest.starts_with(REST).then_some((line, method_len + 1 + target.len() + REST.len()))
    }

    /// Splits a line without its end.
    #[inline]
    pub(crate) fn split(line: &'i [u8]) -> Result<Self, Violation> {
        const VERSION_BYTES: usize = " HTTP/1.1".len();
        // The version is cut off at the end, so that a target with spaces is seen whole and refused as such.
        let (before, version) = line.split_last_chunk::<VERSION_BYTES>().ok_or(Violation::REQUEST_LINE)?;
        let is_old = match version {
            b" HTTP/1.1" => false,
            other => is_old(other.strip_prefix(b" ").ok_or(Violation::REQUEST_LINE)?)?,
        };
        let space = before.iter().position(|byte| *byte == b' ').ok_or(Violation::REQUEST_LINE)?;
        Ok(Self { method: &before[..space], target: &before[space + 1..], is_old })
    }

    /// Sets the control data of a head; the scheme is this one unless the target has its own.
    #[inline]
    pub(crate) fn put(&self, head: &mut Head, scheme: &str) -> Result<(), Violation> {
        if self.method != b"GET" && !bytes::is_token(self.method) {
            return Err(Violation::METHOD_INVALID);
        }
        if !bytes::is_path(self.target) {
            let has_spaces = self.target.contains(&b' ');
            return Err(if has_spaces { Violation::REQUEST_LINE } else { Violation::TARGET_INVALID });
        }
        head.put_pseudo(KnownName::PSEUDO_METHOD, self.method);
        match self.target {
            [b'/', ..] if self.method != b"CONNECT" => self.put_path(head, scheme, self.target),
            _ => return self.put_other(head, scheme),
        }
        Ok(())
    }

    /// Sets the control data of a head from a [usual](Self::usual) line.
    #[inline]
    pub(crate) fn put_usual(&self, head: &mut Head, scheme: &str) {
        head.put_pseudo(KnownName::PSEUDO_METHOD, self.method);
        self.put_path(head, scheme, self.target);
    }

    #[inline]
    fn put_path(&self, head: &mut Head, scheme: &str, path: &[u8]) {
        head.put_pseudo(KnownName::PSEUDO_SCHEME, scheme.as_bytes());
        head.put_pseudo(KnownName::PSEUDO_PATH, path);
    }

    /// Parses a target that is not a path: `*`, an authority, or a whole URI (RFC 9112 §3.2.2 to §3.2.4).
    #[cold]
    fn put_other(&self, head: &mut Head, scheme: &str) -> Result<(), Violation> {
        match self.method {
            b"CONNECT" => put_authority(head, self.target, true),
            b"OPTIONS" if self.target == b"*" => {
                self.put_path(head, scheme, self.target);
                Ok(())
            }
            _ => self.put_uri(head),
        }
    }

    fn put_uri(&self, head: &mut Head) -> Result<(), Violation> {
        let colon = self.target.windows(3).position(|bytes| bytes == b"://");
        let (scheme, rest) = self.target.split_at(colon.ok_or(Violation::TARGET_INVALID)?);
        let scheme = match scheme {
            _ if scheme.eq_ignore_ascii_case(b"http") => "http",
            _ if scheme.eq_ignore_ascii_case(b"https") => "https",
            _ => return Err(Violation::TARGET_INVALID),
        };
        let rest = &rest[3..];
        let path_at = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(path_at);
        put_authority(head, authority, false)?;
        match path {
            // `OPTIONS *` is sent through a proxy as a URI without a path (RFC 9112 §3.2.4).
            [] if self.method == b"OPTIONS" => self.put_path(head, scheme, b"*"),
            [] => self.put_path(head, scheme, b"/"),
            [b'/', ..] => self.put_path(head, scheme, path),
            // An empty path before a query means the same as `/` (RFC 9110 §4.2.3).
            query => self.put_path(head, scheme, &[b"/", query].concat()),
        }
        Ok(())
    }
}

fn put_authority(head: &mut Head, bytes: &[u8], needs_port: bool) -> Result<(), Violation> {
    let text = core::str::from_utf8(bytes).map_err(|_| Violation::TARGET_INVALID)?;
    let authority = Authority::parse(text).map_err(|_| Violation::TARGET_INVALID)?;
    // CONNECT has no scheme that would give a port (RFC 9112 §3.2.3).
    if authority.host().is_empty() || (needs_port && authority.port().is_none()) {
        return Err(Violation::TARGET_INVALID);
    }
    head.put_pseudo(KnownName::PSEUDO_AUTHORITY, bytes);
    Ok(())
}

/// Reads a status line without its end: the status, and whether the version is HTTP/1.0. The reason means
/// nothing; a line that ends after the status is taken, since servers send it.
#[inline]
pub(crate) fn status(line: &[u8]) -> Result<(Status, bool), Violation> {
    let (version, rest) = line.split_at_checked("HTTP/1.1".len()).ok_or(Violation::STATUS_LINE)?;
    let is_old = version != b"HTTP/1.1" && is_old(version)?;
    let (space, rest) = rest.split_first().ok_or(Violation::STATUS_LINE)?;
    let (digits, reason) = rest.split_at_checked(3).ok_or(Violation::STATUS_INVALID)?;
    // RFC 9112 §4 requires a space behind the status; some servers leave it out together with the reason.
    if *space != b' ' || !matches!(reason, [] | [b' ', ..]) {
        return Err(Violation::STATUS_LINE);
    }
    if !bytes::is_field_value(reason) {
        return Err(Violation::STATUS_LINE);
    }
    let status = Status::parse(digits).map_err(|_| Violation::STATUS_INVALID)?;
    Ok((status, is_old))
}

/// Checks by its first word that a line, or its received part, may be a status line or a request line: a peer
/// that speaks another protocol is not waited for, and gets the same answer however its bytes are cut.
#[inline]
pub(crate) fn may_begin(line: &[u8], is_response: bool) -> Result<(), Violation> {
    const VERSION: &[u8] = b"HTTP/";
    match is_response {
        true if line.starts_with(VERSION) || VERSION.starts_with(line) => Ok(()),
        true => Err(Violation::VERSION_INVALID),
        false if line.starts_with(b"GET ") || may_be_method(line) => Ok(()),
        false => Err(Violation::METHOD_INVALID),
    }
}

fn may_be_method(line: &[u8]) -> bool {
    let word = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    line.is_empty() || bytes::is_token(word)
}

/// Returns true if the version is 1.0; a later minor version counts as 1.1 (RFC 9110 §2.5).
#[cold]
fn is_old(version: &[u8]) -> Result<bool, Violation> {
    match version {
        b"HTTP/1.0" => Ok(true),
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0'..=b'9'] => Ok(false),
        [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => Err(Violation::VERSION_UNSUPPORTED),
        _ => Err(Violation::VERSION_INVALID),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> Result<(Head, bool), Violation> {
        let split = RequestLine::split(line.as_bytes())?;
        let mut head = Head::new();
        split.put(&mut head, "http")?;
        Ok((head, split.is_old))
    }

    fn parts(line: &str) -> [Option<alloc::string::String>; 4] {
        let (head, _) = request(line).unwrap();
        [head.method(), head.scheme(), head.authority(), head.path()].map(|part| part.map(Into::into))
    }

    #[test]
    fn the_four_forms_of_targets() {
        let some = |text: &str| Some(text.into());
        assert_eq!(parts("GET /a?b HTTP/1.1"), [some("GET"), some("http"), None, some("/a?b")]);
        assert_eq!(parts("OPTIONS * HTTP/1.1"), [some("OPTIONS"), some("http"), None, some("*")]);
        assert_eq!(
            parts("GET HTTPS://a:1/b HTTP/1.1"),
            [some("GET"), some("https"), some("a:1"), some("/b")]
        );
        assert_eq!(parts("OPTIONS http://a HTTP/1.1")[3], some("*"));
        assert_eq!(parts("GET http://a HTTP/1.1")[3], some("/"));
        for method in ["GET", "OPTIONS"] {
            assert_eq!(
                parts(&alloc::format!("{method} http://a?b/c HTTP/1.1"))[3],
                some("/?b/c"),
                "{method}"
            );
        }
        assert_eq!(parts("CONNECT a:443 HTTP/1.1"), [some("CONNECT"), None, some("a:443"), None]);
    }

    #[test]
    fn what_is_no_request_line_is_refused() {
        for (line, rule) in [
            ("", Violation::REQUEST_LINE),
            ("GET /", Violation::REQUEST_LINE),
            ("GET  / HTTP/1.1", Violation::REQUEST_LINE),
            ("GET /  HTTP/1.1", Violation::REQUEST_LINE),
            ("GET /a b HTTP/1.1", Violation::REQUEST_LINE),
            ("GET\t/ HTTP/1.1", Violation::REQUEST_LINE),
            (" / HTTP/1.1", Violation::METHOD_INVALID),
            ("G@T / HTTP/1.1", Violation::METHOD_INVALID),
            ("GET / http/1.1", Violation::VERSION_INVALID),
            ("GET / HTTP/1,1", Violation::VERSION_INVALID),
            ("GET / HTTP/2.0", Violation::VERSION_UNSUPPORTED),
            ("GET /\u{e9} HTTP/1.1", Violation::TARGET_INVALID),
            ("GET /#a HTTP/1.1", Violation::TARGET_INVALID),
            ("GET a HTTP/1.1", Violation::TARGET_INVALID),
            ("GET * HTTP/1.1", Violation::TARGET_INVALID),
            ("GET ftp://a/ HTTP/1.1", Violation::TARGET_INVALID),
            ("GET http:///a HTTP/1.1", Violation::TARGET_INVALID),
            ("GET http://a@b/ HTTP/1.1", Violation::TARGET_INVALID),
            ("GET http://?b HTTP/1.1", Violation::TARGET_INVALID),
            ("CONNECT / HTTP/1.1", Violation::TARGET_INVALID),
            ("CONNECT a HTTP/1.1", Violation::TARGET_INVALID),
        ] {
            assert_eq!(request(line).err(), Some(rule), "{line:?}");
        }
    }

    #[test]
    fn usual_request_lines_are_read_as_others_are() {
        for (line, is_usual) in [
            ("GET / HTTP/1.1", true),
            ("POST /a/longer/path?with=a&query=b HTTP/1.1", true),
            ("GET /~{\"} HTTP/1.1", true),
            ("PUT / HTTP/1.1", false),
            ("GET / HTTP/1.0", false),
            ("GET * HTTP/1.1", false),
            ("GET  / HTTP/1.1", false),
            ("GET /  HTTP/1.1", false),
            ("GET /a b HTTP/1.1", false),
            ("GET /\u{e9} HTTP/1.1", false),
            ("GET /#a HTTP/1.1", false),
            ("GET /\t HTTP/1.1", false),
            ("GET http://a/ HTTP/1.1", false),
        ] {
            let text = alloc::format!("{line}\r\nHost: a\r\n");
            let usual = RequestLine::usual(text.as_bytes()).map(|(usual, len)| {
                assert_eq!(len, line.len() + 2);
                let mut head = Head::new();
                usual.put_usual(&mut head, "http");
                [head.method(), head.scheme(), head.authority(), head.path()].map(|part| part.map(Into::into))
            });
            assert_eq!(usual, is_usual.then(|| parts(line)), "{line}");
            let without_end = &text.as_bytes()[..line.len() + 1];
            assert!(RequestLine::usual(without_end).is_none(), "{line}");
        }
    }

    #[test]
    fn later_minor_versions_are_taken_for_the_one_we_know() {
        assert!(!request("GET / HTTP/1.2").unwrap().1);
        assert!(request("GET / HTTP/1.0").unwrap().1);
    }

    #[test]
    fn status_lines_need_no_reason() {
        for line in ["HTTP/1.1 200 OK", "HTTP/1.1 200 ", "HTTP/1.1 200", "HTTP/1.1 200 \u{e9}t\u{e9}"] {
            assert_eq!(status(line.as_bytes()), Ok((Status::OK, false)), "{line}");
        }
        assert_eq!(status(b"HTTP/1.0 404 x"), Ok((Status::NOT_FOUND, true)));
        for (line, rule) in [
            ("", Violation::STATUS_LINE),
            ("HTTP/1.1", Violation::STATUS_LINE),
            ("HTTP/1.1 20", Violation::STATUS_INVALID),
            ("HTTP/1.1 2000", Violation::STATUS_LINE),
            ("HTTP/1.1  200 OK", Violation::STATUS_LINE),
            ("HTTP/1.1 099 OK", Violation::STATUS_INVALID),
            ("HTTP/1.1 2x0 OK", Violation::STATUS_INVALID),
            ("HTTP/1.1\t200 OK", Violation::STATUS_LINE),
            ("HTTP/2.0 200 OK", Violation::VERSION_UNSUPPORTED),
            ("ICY/1.1 200 OK", Violation::VERSION_INVALID),
            ("HTTP/1.1 200 a\u{1}", Violation::STATUS_LINE),
        ] {
            assert_eq!(status(line.as_bytes()), Err(rule), "{line:?}");
        }
    }
}

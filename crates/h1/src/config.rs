//! The configuration of a connection.

use alloc::string::String;
use core::fmt;

use alula_fields::masked_field;
use alula_machine::Limits;

/// The configuration that a machine is made with.
///
/// `Debug` does not show `proxy_authorization`.
#[derive(Clone)]
pub struct Config {
    /// The limits on what the peer may make this side hold or do.
    pub limits: Limits,
    /// The faults that the peer is forgiven; none by default.
    pub leniency: Leniency,
    /// The spelling of field names in sent messages.
    pub spelling: Spelling,
    /// True if received names keep their spelling, at the cost of their bytes. Off by default.
    pub keep_spelling: bool,
    /// True if requests name scheme and authority in their target, as a proxy requires (RFC 9112 §3.2.2).
    /// Clients only.
    pub absolute_targets: bool,
    /// The credentials for a proxy: the value of `proxy-authorization` (RFC 9110 §11.7.2) that is written
    /// into each request beside the given fields; empty for none. Clients only.
    pub proxy_authorization: String,
    /// The scheme of requests that do not name one: `http`, or `https` over TLS. Servers only.
    pub scheme: &'static str,
    /// Accepts content and tunnels that last until the close when TLS ends without close_notify; see
    /// [`Connection::receive_truncation`](crate::Connection::receive_truncation). Off by default.
    pub accept_truncated_tls: bool,
    /// True if a client that has closed its side still gets its answer; false if it counts as gone, as with
    /// other servers. The driver decides about a request under way:
    /// [`Connection::ends_with_peer`](crate::Connection::ends_with_peer). Off by default. Servers only.
    pub half_close: bool,
    /// Returns the present date as RFC 9110 §5.6.7 has it, `Sun, 06 Nov 1994 08:49:37 GMT`, for the `date` of
    /// the refusals that the machine writes itself (RFC 9110 §6.6.1), such as 400, 408 and 431; it is called
    /// for nothing else. `None` for a server without a clock, whose refusals have no date. Servers only.
    pub date: Option<fn() -> [u8; 29]>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            leniency: Leniency::default(),
            spelling: Spelling::default(),
            keep_spelling: false,
            absolute_targets: false,
            proxy_authorization: String::new(),
            scheme: "http",
            accept_truncated_tls: false,
            half_close: false,
            date: None,
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let credentials = masked_field("proxy-authorization", self.proxy_authorization.as_bytes());
        f.debug_struct("Config")
            .field("limits", &self.limits)
            .field("leniency", &self.leniency)
            .field("spelling", &self.spelling)
            .field("keep_spelling", &self.keep_spelling)
            .field("absolute_targets", &self.absolute_targets)
            .field("proxy_authorization", &String::from_utf8_lossy(&credentials))
            .field("scheme", &self.scheme)
            .field("accept_truncated_tls", &self.accept_truncated_tls)
            .field("half_close", &self.half_close)
            .field("date", &self.date.is_some())
            .finish()
    }
}

/// The faults that a peer is forgiven, one by one; none by default.
///
/// Each of these has been used to smuggle requests past one reader to another: allow what a peer that you
/// know needs, and never on a server behind a proxy.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Leniency {
    /// Lines that end in a line feed alone (RFC 9112 §2.2): those of heads and of trailers, and those that
    /// frame chunks.
    pub bare_lf: bool,
    /// Field lines that go on in the next line (RFC 9112 §5.2); the break becomes one space. Not for fields
    /// that say where the message ends.
    pub folded_lines: bool,
    /// White space before the colon (RFC 9112 §5.1); it is taken out.
    pub space_before_colon: bool,
    /// `content-length` beside `transfer-encoding: chunked` (RFC 9112 §6.3): the length is removed, and the
    /// connection is not used again.
    pub length_with_coding: bool,
    /// `content-length` more than once with the same number in requests (RFC 9112 §6.3). Clients allow it in
    /// responses.
    pub repeated_length: bool,
}

/// The spelling of field names in sent messages; all spellings mean the same (RFC 9110 §5.1).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Spelling {
    /// The given spelling for names added with `append_spelled`, the usual one for others: `Content-Type`.
    #[default]
    Given,
    /// The usual spelling for every name.
    Canonical,
    /// Lower case for every name, as in HTTP/2.
    Lower,
}

//! The version of HTTP that a connection speaks, and how the two sides agree on it.

/// A version of HTTP.
///
/// ```
/// use alula::Version;
///
/// assert_eq!((Version::Http1.to_string(), Version::Http2.to_string()), ("HTTP/1.1".into(), "HTTP/2".into()));
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Version {
    /// HTTP/1.1 (RFC 9112), or 1.0 with peers that speak no other.
    Http1,
    /// HTTP/2 (RFC 9113).
    Http2,
}

impl std::fmt::Display for Version {
    /// Writes the version as start lines name it: `HTTP/1.1`, `HTTP/2`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
        })
    }
}

/// The versions that one side speaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Speaks {
    /// HTTP/1.1.
    pub http1: bool,
    /// HTTP/2.
    pub http2: bool,
}

impl Default for Speaks {
    fn default() -> Self {
        Self { http1: true, http2: true }
    }
}

impl Speaks {
    /// HTTP/1.1 only.
    pub const HTTP1: Self = Self { http1: true, http2: false };
    /// HTTP/2 only.
    pub const HTTP2: Self = Self { http1: false, http2: true };

    /// Returns true if this version is among them.
    pub const fn has(self, version: Version) -> bool {
        match version {
            Version::Http1 => self.http1,
            Version::Http2 => self.http2,
        }
    }

    /// Returns the names for ALPN (RFC 7301), the preferred one first.
    pub fn alpn(self) -> Vec<Vec<u8>> {
        let names = [(self.http2, &b"h2"[..]), (self.http1, b"http/1.1")];
        names.into_iter().filter(|(is_spoken, _)| *is_spoken).map(|(_, name)| name.to_vec()).collect()
    }

    /// Returns the version that ALPN has chosen; HTTP/1.1 if the peer chose none (RFC 9113 §3.3). `None` if
    /// this side does not speak that version.
    pub fn agreed(self, alpn: Option<&[u8]>) -> Option<Version> {
        let version = if alpn == Some(b"h2") { Version::Http2 } else { Version::Http1 };
        self.has(version).then_some(version)
    }
}

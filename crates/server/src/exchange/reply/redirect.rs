//! Redirections (RFC 9110 §15.4).

use alula_fields::{FieldFlags, KnownName};
use alula_net::{Error, Sent};

use crate::{connection::scratch::Scratch, exchange::reply::Reply};

impl Reply {
    /// Sends a redirection to this URI or reference, such as `/there?page=2` or `https://example.com/`; the
    /// status must be 3xx, and not 304.
    ///
    /// Bytes that may not stand in a URI (RFC 3986 §2), such as spaces, backslashes and letters beyond
    /// ASCII, are percent-encoded, and so is a percent sign that begins no escape. A reference that begins
    /// with `//` leads to another host: check what comes from a peer. Dropping the future part-way resets the
    /// stream. Allocates nothing once warm.
    ///
    /// # Errors
    /// The status is none of a redirection, the location is empty or holds a control character; or as
    /// [`send`](Self::send).
    ///
    /// ```
    /// # async fn example(exchange: alula::Exchange) -> Result<alula::Sent, alula::Error> {
    /// exchange.respond(alula::Status::SEE_OTHER).redirect("/ports").await
    /// # }
    /// ```
    #[doc(alias = "Redirect")]
    pub async fn redirect(mut self, to: impl AsRef<str>) -> Result<Sent, Error> {
        self.set_location(to.as_ref())?;
        self.send([]).await
    }

    fn set_location(&mut self, to: &str) -> Result<(), Error> {
        if !(300..400).contains(&self.answer.status.as_u16()) || self.answer.status.as_u16() == 304 {
            return Err(Error::usage("the status of a redirection must be 3xx and not 304 (RFC 9110 §15.4)"));
        }
        if to.is_empty() || to.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(Error::usage(
                "a location must not be empty or hold control characters (RFC 9110 §10.2.2)",
            ));
        }
        let mut location = Scratch::lend();
        escape(to.as_bytes(), &mut location);
        let headers = self.headers_mut();
        headers.remove(KnownName::LOCATION);
        headers.push_known(KnownName::LOCATION, &location, FieldFlags::NONE);
        Ok(())
    }
}

/// Appends a reference, and percent-encodes invalid characters.
fn escape(reference: &[u8], out: &mut Vec<u8>) {
    for (at, &byte) in reference.iter().enumerate() {
        if is_uri_byte(byte) || (byte == b'%' && begins_escape(&reference[at..])) {
            out.push(byte);
        } else {
            out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 0xf)]]);
        }
    }
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

fn begins_escape(text: &[u8]) -> bool {
    matches!(text, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

/// Returns true for `unreserved` and `reserved` (RFC 3986 §2.2, §2.3).
const fn is_uri_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'.' | b'_' | b'~')
        || matches!(byte, b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@')
        || matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_stand_in_a_uri_is_escaped_once() {
        for (reference, expected) in [
            ("/a/b?c=d&e#f", "/a/b?c=d&e#f"),
            ("https://[::1]:8080/", "https://[::1]:8080/"),
            ("/two words", "/two%20words"),
            ("/gr\u{fc}n", "/gr%C3%BCn"),
            ("/%41%4a", "/%41%4a"),
            ("/100%", "/100%25"),
            ("/%4x%", "/%254x%25"),
            ("/\\evil.example", "/%5Cevil.example"),
            ("/\"<>^`{|}", "/%22%3C%3E%5E%60%7B%7C%7D"),
        ] {
            let mut out = Vec::new();
            escape(reference.as_bytes(), &mut out);
            assert_eq!(std::str::from_utf8(&out), Ok(expected), "{reference}");
        }
    }
}

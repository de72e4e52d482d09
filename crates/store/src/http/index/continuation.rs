//! Continuations: the last result of a page, after which the next page begins (Riak §11.3).
//!
//! ```text
//! version    1 byte: 1
//! term       number of bytes, then the bytes, in the form in which engines order terms; none for lists of keys
//! key        the rest
//! ```
//!
//! Clients get it in base64 in the alphabet for URLs without padding, so that it stands in a query as it is.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::engine::Item;
use crate::model::bytes::{Bytes, put_counted};

const VERSION: u8 = 1;

/// A result that a client was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Continuation {
    bytes: Vec<u8>,
    /// The range of the key.
    key: usize,
    /// The range of the term.
    term: usize,
}

impl Continuation {
    /// Reads the text of a continuation, or returns `None` for text that [`Continuation::text`] does not
    /// make.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let mut rest = Bytes::new(&bytes);
        if rest.byte()? != VERSION {
            return None;
        }
        let term_len = rest.counted()?.len();
        let key = bytes.len() - rest.rest().len();
        Some(Self { term: key - term_len, key, bytes })
    }

    /// Returns the text of the continuation after a result.
    pub(crate) fn text(item: Item<'_>) -> String {
        let mut bytes = alula::Scratch::lend();
        bytes.push(VERSION);
        put_counted(item.term, &mut bytes);
        bytes.extend_from_slice(item.key);
        URL_SAFE_NO_PAD.encode(&*bytes)
    }

    /// Returns the result.
    pub(crate) fn item(&self) -> Item<'_> {
        Item { term: &self.bytes[self.term..self.key], key: &self.bytes[self.key..] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back() {
        let long = vec![0xff; 70_000];
        for (term, key) in [(&b""[..], &b""[..]), (b"term", b"key"), (b"\0\xff", b"\0"), (&long, &long)] {
            let text = Continuation::text(Item { term, key });
            assert!(
                text.bytes().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_'))
            );
            let read = Continuation::read(text.as_bytes()).expect("a continuation");
            assert_eq!(read.item(), Item { term, key });
        }
    }

    #[test]
    fn other_text_is_none() {
        let whole = Continuation::text(Item { term: b"term", key: b"" });
        for cut in 0..whole.len() {
            assert_eq!(Continuation::read(&whole.as_bytes()[..cut]), None, "{cut}");
        }
        for text in ["", "!", "AA", "AgA", "AQ==", "AQA=", "AQE", "AYA", "AQA ", " AQA"] {
            assert_eq!(Continuation::read(text.as_bytes()), None, "{text}");
        }
        assert!(Continuation::read(b"AQA").is_some());
    }
}

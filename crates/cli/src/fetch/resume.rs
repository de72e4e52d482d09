//! `-C`: going on with a file that is there in part (RFC 9110 §14).

use std::fs;

use alula::{KnownName, Response, masked_url};

use super::destination::Destination;
use crate::{
    args::From,
    exit::{Exit, Failure},
};

/// The number of octets that are there already; nothing to go on with when there are none.
pub(super) fn offset(from: Option<From>, to: &Destination) -> Result<Option<u64>, Failure> {
    let usage = |sentence: String| Err(Failure::new(Exit::Usage, sentence));
    let there = to.path().and_then(|path| fs::metadata(path).ok());
    let there = there.filter(fs::Metadata::is_file).map(|there| there.len());
    match (from, to.path()) {
        (None, _) => Ok(None),
        (Some(From::EndOfFile), None) => usage("-C - goes on with a file: -o or -O names it".to_owned()),
        (Some(From::EndOfFile), Some(_)) => Ok(there.filter(|octets| *octets > 0)),
        (Some(From::Octet(octet)), Some(path)) if octet != there.unwrap_or(0) => {
            let length = there.unwrap_or(0);
            usage(format!("{} has {length} octets, so -C {octet} would not go on with it", path.display()))
        }
        (Some(From::Octet(octet)), _) => Ok(Some(octet).filter(|octet| *octet > 0)),
    }
}

/// What a response means for somebody who has the first octets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Rest {
    /// Its content is what is missing.
    Follows,
    /// Nothing is missing.
    IsNothing,
}

/// Whether the response is the rest from here; anything else must not be appended.
pub(super) fn rest_of(response: &Response, offset: u64, url: &str) -> Result<Rest, Failure> {
    let content_range = response.headers().get(KnownName::CONTENT_RANGE);
    let content_range = content_range.and_then(|value| std::str::from_utf8(value).ok());
    rest(response.status().as_u16(), content_range, offset)
        .map_err(|sentence| Failure::new(Exit::Resume, format_args!("{}: {sentence}", masked_url(url))))
}

fn rest(status: u16, content_range: Option<&str>, offset: u64) -> Result<Rest, String> {
    match (status, content_range.and_then(range)) {
        (206, Some((Some(first), _))) if first == offset => Ok(Rest::Follows),
        (206, _) => {
            let range = content_range.unwrap_or("nothing");
            Err(format!(
                "the server sent another part than was asked for: octet {offset} on, and it says {range}"
            ))
        }
        (416, Some((None, Some(length)))) if length == offset => Ok(Rest::IsNothing),
        (416, Some((None, Some(length)))) => Err(format!(
            "what is there has {offset} octets and the resource {length}: it is not its beginning"
        )),
        (200, _) => {
            Err("the server sends all of it again, and nothing was added (leave -C out to start over)"
                .to_owned())
        }
        (status, _) => Err(format!("the server answered {status}, and nothing was added")),
    }
}

/// The first octet, if there is a range, and the length of the whole, if it is known (RFC 9110 §14.4).
fn range(content_range: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (range, length) = content_range.strip_prefix("bytes ")?.split_once('/')?;
    let first = match range {
        "*" => None,
        range => Some(range.split_once('-')?.0.parse().ok()?),
    };
    Some((first, length.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_rest_from_there_is_appended() {
        for (status, content_range, expected) in [
            (206, Some("bytes 5-9/10"), Some(Rest::Follows)),
            (206, Some("bytes 5-9/*"), Some(Rest::Follows)),
            (206, Some("bytes 4-9/10"), None),
            (206, Some("pages 5-9/10"), None),
            (206, None, None),
            (416, Some("bytes */5"), Some(Rest::IsNothing)),
            (416, Some("bytes */4"), None),
            (416, Some("bytes */*"), None),
            (416, None, None),
            (200, None, None),
            (404, None, None),
        ] {
            assert_eq!(rest(status, content_range, 5).ok(), expected, "{status} {content_range:?}");
        }
    }
}

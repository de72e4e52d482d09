//! `-C`: continues a file that is there in part (RFC 9110 §14).

use std::{fs, ops};

use alula::{KnownName, Response, masked_url};

use super::destination::Destination;
use crate::{
    args::From,
    failure::exit::{Exit, Failure, Outcome},
};

/// Returns the number of bytes that are there; nothing if there are none.
pub(in crate::fetch) fn offset(from: Option<From>, to: &Destination) -> Result<Option<u64>, Failure> {
    let usage = |sentence: String| Err(Failure::new(Exit::Usage, sentence));
    let there = to.path().and_then(|path| fs::metadata(path).ok());
    let there = there.filter(fs::Metadata::is_file).map(|there| there.len());
    match (from, to.path()) {
        (None, _) => Ok(None),
        (Some(From::EndOfFile), None) => usage("-C - goes on with a file: -o or -O names it".to_owned()),
        (Some(From::EndOfFile), Some(_)) => Ok(there.filter(|bytes| *bytes > 0)),
        (Some(From::Byte(byte)), Some(path)) if byte != there.unwrap_or(0) => {
            let length = there.unwrap_or(0);
            usage(format!("{} has {length} bytes, so -C {byte} would not go on with it", path.display()))
        }
        (Some(From::Byte(byte)), _) => Ok(Some(byte).filter(|byte| *byte > 0)),
    }
}

/// The meaning of a response when the first bytes are there already.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::fetch) enum Rest {
    /// The missing rest follows.
    Follows,
    /// Nothing is missing.
    IsNothing,
}

/// Checks that the response is the rest from `offset`, because nothing else may be appended.
pub(in crate::fetch) fn rest_of(response: &Response, offset: u64, url: &str) -> Result<Rest, Failure> {
    rest(response.status().as_u16(), content_range(response), response.content_length(), offset)
        .map_err(|sentence| Failure::new(Exit::Resume, format_args!("{}: {sentence}", masked_url(url))))
}

/// Returns the length of the whole content that the response is a part of, if it states it.
pub(in crate::fetch) fn whole_of(response: &Response) -> Option<u64> {
    content_range(response).and_then(range)?.whole
}

fn rest(status: u16, text: Option<&str>, length: Option<u64>, offset: u64) -> Result<Rest, String> {
    match (status, text.and_then(range)) {
        (206, Some(Range { part: Some(part), .. })) if part.start == offset => {
            let named = part.end - part.start;
            match length {
                // One of the two numbers is wrong, and the file would end up with a gap or an overlap.
                Some(length) if length != named => {
                    Err(format!("the server sends {length} bytes, and says {}", text.unwrap_or_default()))
                }
                _ => Ok(Rest::Follows),
            }
        }
        (206, _) => {
            let range = text.unwrap_or("nothing");
            Err(format!(
                "the server sent another part than was asked for: byte {offset} on, and it says {range}"
            ))
        }
        (416, Some(Range { part: None, whole: Some(whole) })) if whole == offset => Ok(Rest::IsNothing),
        (416, Some(Range { part: None, whole: Some(whole) })) => {
            Err(format!("what is there has {offset} bytes and the resource {whole}: it is not its beginning"))
        }
        // The server ignored the range, as it may (RFC 9110 §14.2): its content starts over.
        (200, _) => {
            Err("the server sends all of it again, and nothing was added (leave -C out to start over)"
                .to_owned())
        }
        (status, _) => Err(format!("the server answered {status}, and nothing was added")),
    }
}

/// A part that is being received: a server may send less of the rest than requested (RFC 9110 §15.3.7).
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::fetch) struct Coming {
    part: ops::Range<u64>,
    whole: Option<u64>,
}

impl Coming {
    /// Returns the part of a 206 response; the length of the whole may be known from before.
    pub(in crate::fetch) fn of(response: &Response, whole: Option<u64>) -> Option<Self> {
        let range = content_range(response).and_then(range).filter(|_| response.status().as_u16() == 206)?;
        Some(Self { part: range.part?, whole: range.whole.or(whole) })
    }

    /// Fails when more comes than the server has stated.
    pub(in crate::fetch) fn check(&self, received: u64, url: &str) -> Outcome {
        let named = self.part.end - self.part.start;
        if received <= named {
            return Ok(());
        }
        let sentence =
            format_args!("{}: the server sends more than the {named} bytes that it says", masked_url(url));
        Err(Failure::new(Exit::Resume, sentence))
    }

    /// Fails when the content ends too early.
    pub(in crate::fetch) fn check_end(&self, received: u64, url: &str) -> Outcome {
        let (end, url) = (self.part.start + received, masked_url(url));
        let whole = self.whole.unwrap_or(self.part.end);
        // The part may be shorter than what was asked for: the whole is what counts.
        if end >= whole {
            return Ok(());
        }
        let sentence = format_args!(
            "{url}: the server sent {end} bytes of {whole} and no more (-C - goes on with them)"
        );
        Err(Failure::new(Exit::CutOff, sentence))
    }
}

/// The parts of `content-range` (RFC 9110 §14.4).
#[derive(Clone, Debug)]
struct Range {
    part: Option<ops::Range<u64>>,
    whole: Option<u64>,
}

fn content_range(response: &Response) -> Option<&str> {
    std::str::from_utf8(response.headers().get(KnownName::CONTENT_RANGE)?).ok()
}

fn range(text: &str) -> Option<Range> {
    let (part, whole) = text.strip_prefix("bytes ")?.split_once('/')?;
    let part = match part {
        "*" => None,
        part => {
            let (first, last) = part.split_once('-')?;
            let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
            Some(first..last.checked_add(1).filter(|end| first < *end)?)
        }
    };
    let whole = whole.parse().ok();
    let is_within = part.as_ref().zip(whole).is_none_or(|(part, whole)| part.end <= whole);
    is_within.then_some(Range { part, whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_rest_from_there_is_appended() {
        for (status, content_range, expected) in [
            (206, Some("bytes 5-9/10"), Some(Rest::Follows)),
            (206, Some("bytes 5-9/11"), Some(Rest::Follows)),
            (206, Some("bytes 5-8/10"), None),
            (206, Some("bytes 5-9/9"), None),
            (206, Some("bytes 5-4/10"), None),
            (206, Some("bytes 5-18446744073709551615/*"), None),
            (206, Some("bytes 5/10"), None),
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
            assert_eq!(rest(status, content_range, Some(5), 5).ok(), expected, "{status} {content_range:?}");
        }
    }
}

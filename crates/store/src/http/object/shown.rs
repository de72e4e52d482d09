//! The part of an object that a response shows: its one content, one of several, or all of them.

use alula::FieldSection;

use crate::budget::{Budget, SMALL_BYTES_MAX, Share, Spent};
use crate::http::answer::fail::Fail;
use crate::http::checks::negotiation::{self, IDENTITY};
use crate::model::{Attribute, Content, Moment, Record, Vtag};

/// The media type of a content that was stored without one.
const UNKNOWN_TYPE: &[u8] = b"application/octet-stream";

/// The part of an object that a response shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shown<'a> {
    One(Content<'a>),
    Siblings(Record<'a>),
}

/// The form in which siblings are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The vtags of the siblings, a line each.
    Text,
    /// The siblings with their fields and values, a part each.
    Multipart,
}

impl<'a> Shown<'a> {
    /// Returns the sibling of a vtag, or all contents; `None` if no content has the vtag.
    pub(super) fn of(record: Record<'a>, vtag: Option<Option<Vtag>>) -> Option<Self> {
        match vtag {
            Some(vtag) => record.contents().find(|content| Some(content.vtag()) == vtag).map(Self::One),
            None => Some(record.single().map_or(Self::Siblings(record), Self::One)),
        }
    }

    pub(super) fn vtag(&self) -> Vtag {
        match self {
            Self::One(content) => content.vtag(),
            Self::Siblings(record) => record.vtag(),
        }
    }

    pub(super) fn modified(&self) -> Moment {
        match self {
            Self::One(content) => content.modified(),
            Self::Siblings(record) => record.modified(),
        }
    }

    /// Negotiates the media type and the coding, and returns the form of siblings.
    ///
    /// # Errors
    /// 406 for fields of a request that take neither.
    pub(super) fn negotiated(&self, headers: &FieldSection) -> Result<Form, Fail> {
        match self {
            Self::One(content) => {
                let coding = coding(content).unwrap_or(IDENTITY);
                negotiation::choose(headers, &[media_type(content)], coding).map(|_| Form::Text)
            }
            Self::Siblings(_) => {
                let offers: [&[u8]; 2] = [b"text/plain", b"multipart/mixed"];
                negotiation::choose(headers, &offers, IDENTITY)
                    .map(|offer| [Form::Text, Form::Multipart][offer])
            }
        }
    }
}

/// Takes room for the fields of the response to a long record: each byte of a link may be escaped as three,
/// and the fields of all siblings are made before the first is sent.
///
/// # Errors
/// [`Spent`] if there is no room for them.
pub(super) fn charge_fields(
    budget: &Budget,
    share: &mut Share,
    bytes: u64,
    record: &Record<'_>,
) -> Result<(), Spent> {
    if bytes <= SMALL_BYTES_MAX {
        return Ok(());
    }
    let fields = 3 * record.contents().map(|content| content.attributes_len() as u64).sum::<u64>();
    if fields > SMALL_BYTES_MAX { budget.grow(share, bytes + fields) } else { Ok(()) }
}

/// Returns the media type of a content.
pub(super) fn media_type<'a>(content: &Content<'a>) -> &'a [u8] {
    let media_type = content.attributes().flatten().find_map(|attribute| match attribute {
        Attribute::MediaType(value) => Some(value),
        _ => None,
    });
    media_type.unwrap_or(UNKNOWN_TYPE)
}

/// Returns the coding of a content, if it was stored with one.
pub(super) fn coding<'a>(content: &Content<'a>) -> Option<&'a [u8]> {
    // It is kept behind the media type and before everything else, of which there may be much.
    let first =
        content.attributes().flatten().find(|attribute| !matches!(attribute, Attribute::MediaType(_)))?;
    match first {
        Attribute::Coding(value) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::*;
    use crate::model::{Actor, Context, Dots, NewContent, Rules, write};

    /// Returns a record of one content.
    fn record(attributes: &[u8], value: &[u8]) -> Vec<u8> {
        let new = NewContent {
            dot: Dots::new(Actor::new(7)).next().expect("the first"),
            vtag: Vtag::from_bits(1),
            now: Moment::from_micros(1),
            is_deleted: false,
            attributes,
            value,
        };
        let rules = Rules { allow_mult: true, last_write_wins: false, siblings_max: 1, bytes_max: u64::MAX };
        let mut out = Vec::new();
        write(None, Context::EMPTY, &new, &rules, &mut out).expect("within its limits");
        out
    }

    #[tokio::test]
    async fn long_fields_take_room_beside_their_record() {
        let budget = Budget::new(1_000_000, 0);
        let soon = Instant::now() + Duration::from_secs(60);
        let _other = budget.share(500_000, soon).await.expect("room");
        let bytes = 100_000;
        for (attributes, fits) in [(0, true), (20_000, true), (100_000, true), (140_000, false)] {
            let record = record(&vec![0; attributes], b"v");
            let record = Record::read(&record).expect("a record");
            let mut share = budget.share(bytes, soon).await.expect("room");
            let charged = charge_fields(&budget, &mut share, bytes, &record);
            assert_eq!(charged.is_ok(), fits, "{attributes}");
            // A short record is not looked at.
            assert!(charge_fields(&budget, &mut share, SMALL_BYTES_MAX, &record).is_ok());
        }
    }
}

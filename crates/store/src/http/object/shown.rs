//! The part of an object that a response shows: its one content, one of several, or all of them.

use alula::FieldSection;

use super::super::fail::Fail;
use super::super::negotiation::{self, IDENTITY};
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
    /// Their vtags, a line each.
    Text,
    /// Each with its fields and its value.
    Multipart,
}

impl<'a> Shown<'a> {
    /// The sibling of a vtag, or all there is; `None` if no content has the vtag.
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

/// The media type of a content.
pub(super) fn media_type<'a>(content: &Content<'a>) -> &'a [u8] {
    let media_type = content.attributes().flatten().find_map(|attribute| match attribute {
        Attribute::MediaType(value) => Some(value),
        _ => None,
    });
    media_type.unwrap_or(UNKNOWN_TYPE)
}

/// The coding of a content, if it was stored with one.
pub(super) fn coding<'a>(content: &Content<'a>) -> Option<&'a [u8]> {
    // It is kept behind the media type and before everything else, of which there may be much.
    let first =
        content.attributes().flatten().find(|attribute| !matches!(attribute, Attribute::MediaType(_)))?;
    match first {
        Attribute::Coding(value) => Some(value),
        _ => None,
    }
}

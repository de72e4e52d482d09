//! Mistakes in the patterns of routes, found while a router is built.

use std::{
    error::Error,
    fmt::{self, Write as _},
};

use super::pattern::SEGMENTS_MAX;
use alula_fields::{CAPTURES_MAX, OneLine};

/// A pattern that a router cannot accept, or two that conflict.
///
/// `Display` names the patterns, the position and the reason. It is made while a router is built, never by a
/// request.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RouteError {
    pattern: String,
    position: usize,
    mistake: Mistake,
}

/// The reasons.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Mistake {
    NoSlash,
    EmptyName,
    NotAName,
    OtherSyntax,
    InsideSegment,
    RestNotLast,
    TooManyCaptures,
    TooManySegments,
    TooManyHandlers,
    TooManyLayers,
    HostBelow(String),
    DuplicateName(String),
    BadByte,
    EmptySegment,
    EncodedSlash,
    DotSegment,
    Taken(String),
    OtherNames(String),
    OtherCut,
}

impl RouteError {
    pub(super) fn new(pattern: &str, position: usize, mistake: Mistake) -> Self {
        Self { pattern: pattern.to_owned(), position, mistake }
    }

    /// Returns the error of a router with too many handlers.
    pub(crate) fn too_many_handlers() -> Self {
        Self::new("", 0, Mistake::TooManyHandlers)
    }

    /// Returns the error of a route with too many layers.
    pub(crate) fn too_many_layers(pattern: &str) -> Self {
        Self::new(pattern, 0, Mistake::TooManyLayers)
    }

    /// Returns the error of a router with a host that is nested below a prefix.
    pub(crate) fn host_below(prefix: &str, host: String) -> Self {
        Self::new(prefix, 0, Mistake::HostBelow(host))
    }

    /// Returns the pattern, with its prefix.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns the byte of the pattern at which the mistake begins, counted from zero.
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Returns the earlier pattern for the same paths, if that is the mistake.
    pub fn conflicts_with(&self) -> Option<&str> {
        match &self.mistake {
            Mistake::Taken(other) | Mistake::OtherNames(other) => Some(other),
            _ => None,
        }
    }
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(OneLine(f), "route `{}`, byte {}: {}", self.pattern, self.position, self.mistake)
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSlash => "a pattern begins with `/`",
            Self::EmptyName => "a capture has a name, as in `{id}` or `{*rest}`",
            Self::NotAName => "a capture is a name and no more, as in `{id}` or `{*rest}`; `param_as` reads it as a type",
            Self::OtherSyntax => "a capture is written `{id}`, and `{*rest}` for all that follows",
            Self::InsideSegment => "a capture is a whole segment, as in `/{id}/`; a brace in a path is written `%7B` or `%7D`",
            Self::RestNotLast => "`{*rest}` ends a pattern",
            Self::TooManyCaptures => return write!(f, "a pattern has at most {CAPTURES_MAX} captures"),
            Self::TooManyHandlers => return f.write_str("a router has at most 65,535 handlers"),
            Self::TooManyLayers => "a route has at most 255 layers around it",
            Self::HostBelow(host) => {
                return write!(f, "a router with hosts, as that of `{host}`, cannot be nested below a prefix");
            }
            Self::TooManySegments => return write!(f, "a pattern has at most {SEGMENTS_MAX} segments"),
            Self::DuplicateName(name) => return write!(f, "there is another capture named `{name}`"),
            Self::BadByte => "no path has this byte: write it percent-encoded, and leave the query out",
            Self::EmptySegment => "paths with empty segments do not come here under `EmptySegments`",
            Self::EncodedSlash => "segments with `%2F` do not come here under `EncodedSlash`",
            Self::DotSegment => "paths with `.` and `..` are refused under `DotSegments`",
            Self::Taken(other) => return write!(f, "`{other}` matches the same paths"),
            Self::OtherNames(other) => {
                return write!(f, "`{other}` matches the same paths and names its captures otherwise");
            }
            Self::OtherCut => "nested routes have another rule for what separates segments: `EmptySegments::Drop` and `EncodedSlash::Separate` hold for both or for neither",
        })
    }
}

impl Error for RouteError {}

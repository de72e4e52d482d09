//! The pattern of a route, parsed and checked.

use alula_fields::bytes;

use super::error::{Mistake, RouteError};
use super::judge::{Refused, refusal};
use super::segments::{EmptySegments, EncodedSlash, Segments};
use alula_fields::CAPTURES_MAX;

/// The most segments of a pattern, which bounds the depth of a search. GitHub's REST API has 10 at most.
pub(super) const SEGMENTS_MAX: usize = 64;

/// A checked pattern.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub(super) text: String,
    pub(super) parts: Vec<Part>,
    /// True if the pattern ends in a slash; `/` alone does.
    pub(super) has_slash: bool,
}

/// A segment of a pattern.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Part {
    Literal(Vec<u8>),
    Capture(String),
    Rest(String),
}

/// Returns the text of a pattern below a prefix; `/` there is the prefix itself.
pub(crate) fn below(prefix: &str, pattern: &str) -> String {
    match prefix.trim_end_matches('/') {
        "" => pattern.into(),
        prefix if pattern == "/" => prefix.into(),
        prefix => [prefix, pattern].concat(),
    }
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// It is malformed, or no path that these options let through could match it.
    pub(super) fn parse(text: &str, options: Segments) -> Result<Self, RouteError> {
        let error = |position, mistake| RouteError::new(text, position, mistake);
        let body = text.strip_prefix('/').ok_or_else(|| error(0, Mistake::NoSlash))?;
        let has_slash = body.is_empty() || body.ends_with('/');
        let mut pattern = Self { text: text.to_owned(), parts: Vec::new(), has_slash };
        if body.is_empty() {
            return Ok(pattern);
        }
        let mut at = 1;
        for segment in body.strip_suffix('/').unwrap_or(body).split('/') {
            let part = Part::parse(segment, options).map_err(|(within, why)| error(at + within, why))?;
            pattern.push(part).map_err(|mistake| error(at, mistake))?;
            at += segment.len() + 1;
        }
        match pattern.parts.last() {
            Some(Part::Rest(_)) if has_slash => Err(error(text.len() - 1, Mistake::RestNotLast)),
            _ => Ok(pattern),
        }
    }

    fn push(&mut self, part: Part) -> Result<(), Mistake> {
        if let Some(Part::Rest(_)) = self.parts.last() {
            return Err(Mistake::RestNotLast);
        }
        if let Some(name) = part.name() {
            if self.names().any(|other| other == name) {
                return Err(Mistake::DuplicateName(name.to_owned()));
            }
            if self.names().count() == CAPTURES_MAX {
                return Err(Mistake::TooManyCaptures);
            }
        }
        if self.parts.len() == SEGMENTS_MAX {
            return Err(Mistake::TooManySegments);
        }
        self.parts.push(part);
        Ok(())
    }

    /// Returns the names of the captures, in their order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(Part::name)
    }

    /// Returns the shape of a pattern: its parts without names. Patterns of the same shape match the same
    /// paths.
    pub(super) fn shape(&self) -> Vec<Part> {
        let without_name = |part: &Part| match part {
            Part::Literal(literal) => Part::Literal(literal.clone()),
            Part::Capture(_) => Part::Capture(String::new()),
            Part::Rest(_) => Part::Rest(String::new()),
        };
        self.parts.iter().map(without_name).collect()
    }
}

impl Part {
    /// Parses one segment; the error has its place in the segment.
    fn parse(segment: &str, options: Segments) -> Result<Self, (usize, Mistake)> {
        let inner = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let Some(inner) = inner else { return Self::literal(segment, options) };
        let (name, is_rest) = inner.strip_prefix('*').map_or((inner, false), |name| (name, true));
        let place = |at| segment.len() - 1 - name.len() + at;
        if let Some(at) = end_of_name(name) {
            return Err((place(at), Mistake::NotAName));
        }
        match name.find(['{', '}', '*']) {
            Some(at) => Err((place(at), Mistake::InsideSegment)),
            None if name.is_empty() => Err((0, Mistake::EmptyName)),
            None if is_rest => Ok(Self::Rest(name.to_owned())),
            None => Ok(Self::Capture(name.to_owned())),
        }
    }

    fn literal(segment: &str, options: Segments) -> Result<Self, (usize, Mistake)> {
        if let Some(at) = segment.find(['{', '}']) {
            return Err((at, Mistake::InsideSegment));
        }
        if is_other_syntax(segment) {
            return Err((0, Mistake::OtherSyntax));
        }
        let is_foreign = |byte: u8| byte == b'?' || !byte.is_ascii() || !bytes::is_path(&[byte]);
        if let Some(at) = segment.bytes().position(is_foreign) {
            return Err((at, Mistake::BadByte));
        }
        match unmatched(segment.as_bytes(), options) {
            Some(mistake) => Err((0, mistake)),
            None => Ok(Self::Literal(segment.as_bytes().to_vec())),
        }
    }

    /// Returns the bytes of a literal.
    pub(super) fn literal_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Literal(literal) => Some(literal),
            Self::Capture(_) | Self::Rest(_) => None,
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Literal(_) => None,
            Self::Capture(name) | Self::Rest(name) => Some(name),
        }
    }
}

/// Returns the end of a name that is followed by a type, an expression or a mark, as in routers of actix, Go
/// and Express: `{id:[0-9]+}`, `{rest...}`, `{id?}`. Taken as names they would capture what nobody asks for.
fn end_of_name(name: &str) -> Option<usize> {
    name.find([':', '?', '$']).or_else(|| name.find("..."))
}

/// Returns true for a capture in the syntax of other routers: `:id`, `*rest`, `*`. Taken as literals they
/// would match no path that is asked for, and the route would be 404 without a reason.
fn is_other_syntax(segment: &str) -> bool {
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match segment.strip_prefix(':') {
        Some(name) => !name.is_empty() && is_name(name),
        None => segment.strip_prefix('*').is_some_and(is_name),
    }
}

/// Returns the reason for which a literal can never match under these options.
fn unmatched(literal: &[u8], options: Segments) -> Option<Mistake> {
    if literal.is_empty() && options.empty != EmptySegments::Keep {
        return Some(Mistake::EmptySegment);
    }
    let cuts = options.encoded_slash == EncodedSlash::Separate;
    let judged = if cuts { options.encoded_slash(EncodedSlash::Refuse) } else { options };
    refusal(literal, judged).map(|refused| match refused {
        Refused::EmptySegment => Mistake::EmptySegment,
        Refused::EncodedSlash => Mistake::EncodedSlash,
        Refused::DotSegment => Mistake::DotSegment,
    })
}

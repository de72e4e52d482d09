//! Requests that are sent repeatedly, checked and encoded once.

use alloc::vec::Vec;

use alula_fields::{FieldSection, Hole, KnownName, RequestHead, bytes};
use alula_hpack::{Field, Indexing, Part, PreparedBlock};
use alula_machine::Limits;

use crate::error::SendError;
use crate::guard::violation::Violation;
use crate::head::fields_in::IS_SPECIAL;
use crate::head::fields_out::{self, HeadFacts};
use crate::stream::content;

/// A request that is checked and encoded as far as possible without a connection, with holes for values that
/// change.
///
/// It belongs to no connection: any number of them, on any thread, may send it with
/// [`Connection::send_prepared`](crate::Connection::send_prepared), and each remembers which entries of its
/// compression table the fields are. Making one allocates; sending it does not.
///
/// ```
/// use alula::{FieldSection, machine::OutBuf};
/// use alula::h2::{Config, Connection, Hole, Prepared, RequestHead};
///
/// let mut fields = FieldSection::new();
/// fields.append("accept", "*/*")?;
/// let head = RequestHead {
///     method: "GET",
///     scheme: "https",
///     authority: "a.example",
///     path: "/",
///     protocol: None,
///     fields: &fields,
/// };
/// let prepared = Prepared::new(&head, &[Hole::Path, Hole::Field("x-request-id")])?;
///
/// let (mut client, mut out) = (Connection::client(Config::default()), OutBuf::new());
/// client.send_prepared(&prepared, &[b"/first", b"17"], true, &mut out)?;
/// client.send_prepared(&prepared, &[b"/second", b"18"], true, &mut out)?;
/// assert!(client.send_prepared(&prepared, &[b"no path", b"19"], true, &mut out).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Prepared {
    block: PreparedBlock,
    facts: HeadFacts,
    is_extended: bool,
    is_options: bool,
    is_http: bool,
    holes: Vec<HoleRule>,
}

/// The rule for a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum HoleRule {
    Path,
    ContentLength,
    Value,
}

impl Prepared {
    /// Checks and encodes a request; values for the holes have to come in this order. The path of the head is
    /// only checked if there is a hole for it.
    ///
    /// # Errors
    /// When it could not be sent over any connection. The number of a refused field counts the head's fields
    /// first, then the holes.
    pub fn new(head: &RequestHead<'_>, holes: &[Hole<'_>]) -> Result<Self, SendError> {
        let facts = fields_out::request(head, None, None)?;
        if holes.iter().skip(1).any(|hole| *hole == Hole::Path) {
            return Err(SendError::Holes);
        }
        let rules = holes.iter().enumerate().map(|(at, hole)| rule_of(hole, head, head.fields.len() + at));
        let rules = rules.collect::<Result<Vec<_>, _>>()?;
        let mut lengths = (0..).zip(&rules).filter(|(_, rule)| **rule == HoleRule::ContentLength).skip(1);
        if let Some((at, _)) = lengths.next() {
            let rule = Violation::CONTENT_LENGTH_INVALID;
            return Err(SendError::Field { at: head.fields.len() + at, rule });
        }
        let block = block(head, holes)?;
        Ok(Self {
            facts: HeadFacts { size: block.list_size(), ..facts },
            block,
            is_extended: head.protocol.is_some(),
            is_options: head.method == "OPTIONS",
            is_http: matches!(head.scheme, "https" | "http"),
            holes: rules,
        })
    }

    /// Checks what [`send_prepared`](crate::Connection::send_prepared) would refuse on any connection with
    /// these limits; with `end` the request has no content. Allocates nothing.
    ///
    /// # Errors
    /// When it could not be sent.
    pub fn check_sendable(&self, values: &[&[u8]], end: bool, limits: &Limits) -> Result<(), SendError> {
        self.check(values)?.check(end, limits)
    }

    /// Returns the number of values to give.
    pub fn holes(&self) -> usize {
        self.holes.len()
    }

    pub(crate) fn block(&self) -> &PreparedBlock {
        &self.block
    }

    pub(crate) fn is_extended_connect(&self) -> bool {
        self.is_extended
    }

    /// Checks the values for the holes, and returns the facts of the request with them.
    #[inline(always)]
    pub(crate) fn check(&self, values: &[&[u8]]) -> Result<HeadFacts, SendError> {
        if values.len() != self.holes.len() {
            return Err(SendError::Holes);
        }
        let mut facts = self.facts;
        for (at, (rule, value)) in self.holes.iter().zip(values).enumerate() {
            facts.size += value.len();
            match rule {
                HoleRule::Path if self.is_path(value) => {}
                HoleRule::Path => return Err(SendError::Control(Violation::PATH_INVALID)),
                HoleRule::Value if is_value(value) => {}
                HoleRule::Value => return Err(SendError::Field { at, rule: Violation::VALUE_INVALID }),
                HoleRule::ContentLength => {
                    let rule = Violation::CONTENT_LENGTH_INVALID;
                    let length = content::parse(value).ok_or(SendError::Field { at, rule })?;
                    facts.content_length = Some(length).filter(|_| !facts.is_connect);
                }
            }
        }
        Ok(facts)
    }

    #[inline]
    fn is_path(&self, value: &[u8]) -> bool {
        let has_form = match value {
            [b'/', ..] => true,
            b"*" => self.is_options,
            [] => false,
            _ => !self.is_http,
        };
        has_form && bytes::is_path(value)
    }
}

#[inline]
fn is_value(value: &[u8]) -> bool {
    bytes::is_trimmed(value) && bytes::is_field_value(value)
}

fn rule_of(hole: &Hole<'_>, head: &RequestHead<'_>, at: usize) -> Result<HoleRule, SendError> {
    let refuse = |rule| Err(SendError::Field { at, rule });
    let name = match hole {
        Hole::Path if fields_out::is_plain_connect(head) => {
            return Err(SendError::Control(Violation::CONNECT_PSEUDO));
        }
        Hole::Path => return Ok(HoleRule::Path),
        Hole::Field(name) => name.as_bytes(),
    };
    match KnownName::lookup_folded(name) {
        Some(KnownName::CONTENT_LENGTH) if head.fields.contains(KnownName::CONTENT_LENGTH) => {
            refuse(Violation::CONTENT_LENGTH_INVALID)
        }
        Some(KnownName::CONTENT_LENGTH) => Ok(HoleRule::ContentLength),
        Some(KnownName::COOKIE | KnownName::EXPECT | KnownName::PRIORITY) => Ok(HoleRule::Value),
        Some(name) if name.is_pseudo() => refuse(Violation::NAME_INVALID),
        Some(name) if IS_SPECIAL[usize::from(name.id())] => refuse(Violation::CONNECTION_SPECIFIC),
        Some(_) => Ok(HoleRule::Value),
        None if bytes::is_token(name) => Ok(HoleRule::Value),
        None => refuse(Violation::NAME_INVALID),
    }
}

/// Encodes the parts in their order on the wire: pseudo-fields with the path, then fields, then holes for
/// fields.
fn block(head: &RequestHead<'_>, holes: &[Hole<'_>]) -> Result<PreparedBlock, SendError> {
    let mut names = FieldSection::new();
    for hole in holes {
        if let Hole::Field(name) = hole {
            names.append(*name, "").map_err(|_| SendError::Control(Violation::NAME_INVALID))?;
        }
    }
    let pseudo = pseudo(head, holes.first() == Some(&Hole::Path));
    let fields = head.fields.iter().map(|field| {
        let indexing = if field.is_sensitive() { Indexing::Never } else { Indexing::Auto };
        Part::Field(Field { name: field.name_bytes(), known: field.known(), value: field.value(), indexing })
    });
    let holes = names.iter().map(|field| hole(field.name_bytes()));
    PreparedBlock::new(pseudo.chain(fields).chain(holes))
        .map_err(|error| SendError::Field { at: error.part, rule: Violation::VALUE_INVALID })
}

fn pseudo<'a>(head: &RequestHead<'a>, has_path_hole: bool) -> impl Iterator<Item = Part<'a>> {
    let has_target = !fields_out::is_plain_connect(head);
    let known = |name, value: &'a str, is_there: bool| {
        is_there.then(|| Part::Field(Field::known(name, value.as_bytes())))
    };
    let path = match has_path_hole {
        true => Some(hole(b":path")),
        false => known(KnownName::PSEUDO_PATH, head.path, has_target),
    };
    let parts = [
        known(KnownName::PSEUDO_METHOD, head.method, true),
        known(KnownName::PSEUDO_PROTOCOL, head.protocol.unwrap_or_default(), head.protocol.is_some()),
        known(KnownName::PSEUDO_SCHEME, head.scheme, has_target),
        known(KnownName::PSEUDO_AUTHORITY, head.authority, !head.authority.is_empty()),
        path,
    ];
    parts.into_iter().flatten()
}

fn hole(name: &[u8]) -> Part<'_> {
    Part::Hole { name, indexing: Indexing::Auto }
}

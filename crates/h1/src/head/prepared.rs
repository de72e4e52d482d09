//! Requests that are sent repeatedly, checked and encoded once.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use alula_fields::{FieldSection, Hole, KnownName, RequestHead, bytes};
use alula_machine::OutBuf;

use crate::config::Spelling;
use crate::connection::Plan;
use crate::error::SendError;
use crate::guard::facts::{self, Facts, HAS_RULES};
use crate::guard::violation::Violation;
use crate::head::head_out;
use crate::head::outgoing;

/// A request that is checked and encoded as far as possible, with holes for values that change.
///
/// It belongs to no connection: any number of them, on any thread, may send it with
/// [`Connection::send_prepared`](crate::Connection::send_prepared). Making one allocates; sending it does
/// not.
///
/// ```
/// use alula::{FieldSection, machine::OutBuf};
/// use alula::h1::{Config, Connection, Hole, Prepared, RequestHead, Spelling};
///
/// let mut fields = FieldSection::new();
/// fields.append("accept", "*/*")?;
/// let head = RequestHead {
///     method: "GET",
///     scheme: "http",
///     authority: "a.example",
///     path: "/",
///     protocol: None,
///     fields: &fields,
/// };
/// let prepared = Prepared::new(&head, &[Hole::Path, Hole::Field("x-request-id")], Spelling::Given)?;
///
/// let (mut client, mut out) = (Connection::client(Config::default()), OutBuf::new());
/// client.send_prepared(&prepared, &[b"/first", b"17"], true, &mut out)?;
/// assert_eq!(out.unsent(), b"GET /first HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\nX-Request-ID: 17\r\n\r\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `Debug` shows the method and the number of holes.
pub struct Prepared {
    method: String,
    /// The scheme and authority, which come before the path in requests to a proxy.
    origin: String,
    /// The constant bytes, one part after the other.
    bytes: Vec<u8>,
    /// The position of the target in these bytes.
    target_at: usize,
    /// The positions of the holes in these bytes, in order.
    holes: Vec<(usize, Rule)>,
    facts: Facts,
}

/// The rule for a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Rule {
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
    pub fn new(head: &RequestHead<'_>, holes: &[Hole<'_>], spelling: Spelling) -> Result<Self, SendError> {
        let facts = outgoing::fields(head.fields)?;
        outgoing::control(head, &facts, None)?;
        if holes.iter().skip(1).any(|hole| *hole == Hole::Path) {
            return Err(SendError::Holes);
        }
        let has_path_hole = holes.first() == Some(&Hole::Path);
        if has_path_hole && head.method == "CONNECT" {
            return Err(SendError::Control(Violation::TARGET_INVALID));
        }
        let mut prepared = Self {
            method: head.method.into(),
            origin: [head.scheme, "://", head.authority].concat(),
            bytes: Vec::new(),
            target_at: head.method.len() + 1,
            holes: Vec::new(),
            facts,
        };
        prepared.write_head(head, has_path_hole, spelling);
        for (at, hole) in holes.iter().enumerate() {
            if let Hole::Field(name) = hole {
                prepared.add_hole(name, head.fields.len() + at, spelling)?;
            }
        }
        Ok(prepared)
    }

    /// Checks what [`send_prepared`](crate::Connection::send_prepared) would refuse on any connection; with
    /// `end` the request has no content. Allocates nothing.
    ///
    /// # Errors
    /// When it could not be sent.
    pub fn check_sendable(&self, values: &[&[u8]], end: bool) -> Result<(), SendError> {
        let facts = self.check(values)?;
        Plan::of(&self.method, &facts, end).map(drop)
    }

    /// Returns the number of values to give.
    pub fn holes(&self) -> usize {
        self.holes.len()
    }

    pub(crate) fn has_authority(&self) -> bool {
        !self.origin.ends_with("://")
    }

    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    fn write_head(&mut self, head: &RequestHead<'_>, has_path_hole: bool, spelling: Spelling) {
        let path = if has_path_hole { "" } else { head.path };
        let head = RequestHead { path, ..*head };
        let mut out = OutBuf::new();
        head_out::request_line(&head, self.facts.has_host, false, spelling, &mut out);
        head_out::fields(head.fields, spelling, &mut out);
        self.bytes.extend_from_slice(out.unsent());
        if has_path_hole {
            self.holes.push((self.target_at, Rule::Path));
        }
    }

    fn add_hole(&mut self, name: &str, at: usize, spelling: Spelling) -> Result<(), SendError> {
        let rule = self.rule_of(name.as_bytes(), at)?;
        let mut section = FieldSection::new();
        let invalid = SendError::Field { at, rule: Violation::NAME_INVALID };
        section.append_spelled(name, "").map_err(|_| invalid)?;
        let mut out = OutBuf::new();
        for field in &section {
            let spelling = if spelling == Spelling::Given { Spelling::Canonical } else { spelling };
            head_out::field(&field, spelling, &mut out);
        }
        let line = out.unsent();
        self.bytes.extend_from_slice(&line[..line.len() - 2]);
        self.holes.push((self.bytes.len(), rule));
        self.bytes.extend_from_slice(b"\r\n");
        Ok(())
    }

    fn rule_of(&self, name: &[u8], at: usize) -> Result<Rule, SendError> {
        let refuse = |rule| Err(SendError::Field { at, rule });
        match KnownName::lookup_folded(name) {
            Some(KnownName::CONTENT_LENGTH) if self.facts.is_chunked => refuse(Violation::LENGTH_WITH_CODING),
            Some(KnownName::CONTENT_LENGTH) if self.states_length() => refuse(Violation::LENGTH_REPEATED),
            Some(KnownName::CONTENT_LENGTH) => Ok(Rule::ContentLength),
            Some(name) if name.is_pseudo() || HAS_RULES[usize::from(name.id())] => {
                refuse(Violation::NAME_INVALID)
            }
            _ if bytes::is_token(name) => Ok(Rule::Value),
            _ => refuse(Violation::NAME_INVALID),
        }
    }

    /// Returns true if a field or an earlier hole states the length; a second one would be written beside it.
    fn states_length(&self) -> bool {
        self.facts.content_length.is_some() || self.holes.iter().any(|(_, rule)| *rule == Rule::ContentLength)
    }

    /// Checks the values for the holes, and returns the facts of the request with them.
    #[inline(always)]
    pub(crate) fn check(&self, values: &[&[u8]]) -> Result<Facts, SendError> {
        if values.len() != self.holes.len() {
            return Err(SendError::Holes);
        }
        let mut facts = self.facts;
        for (at, ((_, rule), value)) in self.holes.iter().zip(values).enumerate() {
            match rule {
                Rule::Path => outgoing::target("http", &self.method, value)?,
                Rule::Value if bytes::is_field_value(value) => {}
                Rule::Value => return Err(SendError::Field { at, rule: Violation::VALUE_INVALID }),
                Rule::ContentLength => {
                    let rule = Violation::LENGTH_INVALID;
                    let length = facts::number(value).ok_or(SendError::Field { at, rule })?;
                    facts.content_length = Some(length);
                }
            }
        }
        Ok(facts)
    }

    /// Writes the head without its end; the values were checked.
    #[inline]
    pub(crate) fn write(&self, values: &[&[u8]], is_absolute: bool, out: &mut OutBuf) {
        let mut from = 0;
        if is_absolute && self.method != "CONNECT" {
            out.extend(&self.bytes[..self.target_at]);
            out.extend(self.origin.as_bytes());
            // The last proxy makes the asterisk of a URI without path (RFC 9112 §3.2.4).
            let has_asterisk = self.bytes[self.target_at..].starts_with(b"*");
            from = self.target_at + usize::from(has_asterisk);
        }
        for ((at, rule), value) in self.holes.iter().zip(values) {
            out.extend(&self.bytes[from..*at]);
            if !(is_absolute && *rule == Rule::Path && *value == b"*") {
                out.extend(value);
            }
            from = *at;
        }
        out.extend(&self.bytes[from..]);
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut prepared = f.debug_struct("Prepared");
        prepared.field("method", &self.method).field("holes", &self.holes.len()).finish_non_exhaustive()
    }
}

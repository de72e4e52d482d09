//! The rules for sent messages, which are checked before anything is written.
//!
//! Names are tokens and values are free of controls by construction of a [`FieldSection`]; what HTTP/1.1 asks
//! beyond that is checked here.

use alloc::vec::Vec;

use alula_fields::{Authority, FieldSection, KnownName, RequestHead, Scheme, bytes};

use crate::error::SendError;
use crate::guard::facts::{Facts, HAS_RULES};
use crate::guard::violation::Violation;

/// Checks fields, and returns their facts.
#[inline]
pub(crate) fn fields(fields: &FieldSection) -> Result<Facts, SendError> {
    let mut facts = Facts::default();
    for (at, field) in fields.iter().enumerate() {
        // For most this look into the table is all.
        if HAS_RULES[field.known().map_or(0, |name| usize::from(name.id()))]
            && let Some(name) = field.known()
        {
            let noted = facts.note(name, bytes::trim(field.value()), false);
            let rule = match noted {
                Err(rule) => rule,
                Ok(_) if facts.is_chunked && facts.content_length.is_some() => Violation::LENGTH_WITH_CODING,
                Ok(_) => continue,
            };
            return Err(SendError::Field { at, rule });
        }
    }
    Ok(facts)
}

/// Checks the control data of a request. `known_authority` is the last authority found good, which is nearly
/// always the next one, too; without it nothing is remembered, and nothing allocated.
#[inline]
pub(crate) fn control(
    head: &RequestHead<'_>,
    facts: &Facts,
    known_authority: Option<&mut Vec<u8>>,
) -> Result<(), SendError> {
    if head.method != "GET" && !bytes::is_token(head.method.as_bytes()) {
        return Err(SendError::Control(Violation::METHOD_INVALID));
    }
    if head.protocol.is_some() {
        return Err(SendError::Protocol);
    }
    if facts.has_host {
        host(head)?;
    }
    authority(head.authority, known_authority)?;
    match head.method {
        "CONNECT" => check(!head.authority.is_empty(), Violation::TARGET_INVALID),
        _ => target(head.scheme, head.method, head.path.as_bytes()),
    }
}

/// Checks path and query.
#[inline]
pub(crate) fn target(scheme: &str, method: &str, path: &[u8]) -> Result<(), SendError> {
    let is_http = matches!(scheme, "http" | "https");
    let has_form = matches!(path, [b'/', ..]) || (path == b"*" && method == "OPTIONS");
    check(
        has_form && bytes::is_path(path) && (is_http || Scheme::parse(scheme).is_ok()),
        Violation::TARGET_INVALID,
    )
}

#[inline]
fn authority(text: &str, known: Option<&mut Vec<u8>>) -> Result<(), SendError> {
    let is_known = known.as_ref().is_some_and(|known| text.as_bytes() == known.as_slice());
    if !text.is_empty() && !is_known {
        check(Authority::parse(text).is_ok(), Violation::HOST_INVALID)?;
        if let Some(known) = known {
            known.clear();
            known.extend_from_slice(text.as_bytes());
        }
    }
    Ok(())
}

/// Checks that a host among the fields agrees with the authority, or replaces it.
#[cold]
fn host(head: &RequestHead<'_>) -> Result<(), SendError> {
    let value = head.fields.get(KnownName::HOST).unwrap_or_default();
    let agrees = head.authority.as_bytes().eq_ignore_ascii_case(value);
    check(agrees || head.authority.is_empty(), Violation::HOST_DIFFERS)?;
    let is_valid = core::str::from_utf8(value).is_ok_and(|text| Authority::parse(text).is_ok());
    check(is_valid || value.is_empty(), Violation::HOST_INVALID)
}

/// Checks trailers, which must not state anything about the message (RFC 9110 §6.5.1).
pub(crate) fn trailers(fields: &FieldSection) -> Result<(), SendError> {
    for (at, field) in fields.iter().enumerate() {
        let rule = match field.known() {
            Some(KnownName::CONTENT_LENGTH) => Violation::LENGTH_INVALID,
            Some(KnownName::TRANSFER_ENCODING) => Violation::CODING_UNKNOWN,
            Some(KnownName::HOST) => Violation::HOST_REPEATED,
            _ => continue,
        };
        return Err(SendError::Field { at, rule });
    }
    Ok(())
}

#[inline]
fn check(is_valid: bool, rule: Violation) -> Result<(), SendError> {
    if is_valid { Ok(()) } else { Err(SendError::Control(rule)) }
}

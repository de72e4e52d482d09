//! The rules for sent field sections (RFC 9113 §8.2, §8.3, RFC 8441 §4), checked before anything is written.
//!
//! Names are tokens in lower case and values are free of controls by construction of a
//! [`FieldSection`](alula_fields::FieldSection); what HTTP/2 asks beyond that is checked here, but for white
//! space around values: it is no part of a value (RFC 9110 §5.5) and is left out when values are written.

use alula_fields::{Authority, FieldSection, KnownName, RequestHead, ResponseHead, Scheme, Status, bytes};
use alula_machine::Limits;

use crate::error::SendError;
use crate::guard::violation::Violation;
use crate::head::fields_in::{HAS_RULES, Section};
use crate::head::last_authority::LastAuthority;
use crate::head::repeated::Known;
use crate::stream::content::{self, Content};

/// The facts of a head to be sent that the machine needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct HeadFacts {
    pub(crate) is_head: bool,
    pub(crate) is_connect: bool,
    pub(crate) content_length: Option<u64>,
    /// Name + value + 32, summed over pseudo-fields and fields (RFC 9113 §10.5.1).
    pub(crate) size: usize,
}

impl HeadFacts {
    /// Checks what no connection with these limits would accept.
    pub(crate) fn check(&self, end: bool, limits: &Limits) -> Result<(), SendError> {
        check_own_size(self.size, limits)?;
        self.content(end).map(drop)
    }

    /// Returns the content that is stated, of which there is none where the head is the `end`.
    #[inline]
    pub(crate) fn content(&self, end: bool) -> Result<Content, SendError> {
        Content::stated(self.content_length).check(0, end).map_err(|_| SendError::ContentLength)
    }
}

#[inline]
pub(crate) fn check_own_size(size: usize, limits: &Limits) -> Result<(), SendError> {
    let (size, limit) = (size as u64, limits.connection_memory_bytes);
    if size > limit { Err(SendError::HeadTooLarge { size, limit }) } else { Ok(()) }
}

/// Checks a request; its fields only if they are not `known` to be valid. `known_authority` is the last
/// authority found good, which is nearly always the next one, too; without it nothing is remembered, and
/// nothing allocated.
#[inline]
pub(crate) fn request(
    head: &RequestHead<'_>,
    known: Option<Known>,
    known_authority: Option<&mut LastAuthority>,
) -> Result<HeadFacts, SendError> {
    let is_connect = head.method == "CONNECT";
    if head.method != "GET" && !bytes::is_token(head.method.as_bytes()) {
        return Err(SendError::Control(Violation::METHOD_INVALID));
    }
    let mut size = pseudo_size(KnownName::PSEUDO_METHOD, head.method);
    if let Some(protocol) = head.protocol {
        check(is_connect && bytes::is_token(protocol.as_bytes()), Violation::PROTOCOL_UNEXPECTED)?;
        size += pseudo_size(KnownName::PSEUDO_PROTOCOL, protocol);
    }
    if is_plain_connect(head) {
        check(!head.authority.is_empty(), Violation::CONNECT_PSEUDO)?;
    } else {
        target(head)?;
        size += pseudo_size(KnownName::PSEUDO_SCHEME, head.scheme)
            + pseudo_size(KnownName::PSEUDO_PATH, head.path);
    }
    let content_length = match known {
        Some(known) => known.content_length,
        None => fields(head.fields, Section::Request, Some(head))?,
    };
    if !head.authority.is_empty() {
        authority(head.authority, known_authority)?;
        size += pseudo_size(KnownName::PSEUDO_AUTHORITY, head.authority);
    }
    size += head.fields.list_size();
    let is_head = head.method == "HEAD";
    Ok(HeadFacts { is_head, is_connect, content_length: content_length.filter(|_| !is_connect), size })
}

/// Checks a response, final or interim; its fields only if they are not `known` to be valid.
#[inline]
pub(crate) fn response(
    head: &ResponseHead<'_>,
    is_interim: bool,
    known: Option<Known>,
) -> Result<HeadFacts, SendError> {
    if head.status.is_informational() != is_interim || head.status == Status::SWITCHING_PROTOCOLS {
        return Err(SendError::Status);
    }
    let content_length = match known {
        Some(known) => known.content_length,
        None => fields(head.fields, Section::Response, None)?,
    };
    const STATUS_BYTES: usize = ":status".len() + "200".len() + 32;
    let size = STATUS_BYTES + head.fields.list_size();
    Ok(HeadFacts { is_head: false, is_connect: false, content_length, size })
}

/// Checks trailers; their size is that of the section.
pub(crate) fn trailers(section: &FieldSection) -> Result<(), SendError> {
    fields(section, Section::Trailers, None).map(|_| ())
}

/// Returns true for CONNECT without a protocol, which has neither scheme nor path (RFC 9113 §8.5).
#[inline]
pub(crate) fn is_plain_connect(head: &RequestHead<'_>) -> bool {
    head.method == "CONNECT" && head.protocol.is_none()
}

#[inline]
fn target(head: &RequestHead<'_>) -> Result<(), SendError> {
    let path = head.path.as_bytes();
    let is_http = matches!(head.scheme, "https" | "http");
    check(is_http || Scheme::parse(head.scheme).is_ok(), Violation::SCHEME_INVALID)?;
    let has_form = match path {
        [b'/', ..] => true,
        // The asterisk form is for OPTIONS only (RFC 9113 §8.3.1).
        b"*" => head.method == "OPTIONS",
        [] => false,
        _ => !is_http,
    };
    check(has_form && bytes::is_path(path), Violation::PATH_INVALID)
}

#[inline]
fn authority(text: &str, known: Option<&mut LastAuthority>) -> Result<(), SendError> {
    let is_known = known.as_ref().is_some_and(|known| known.is(text.as_bytes()));
    if !is_known {
        check(Authority::parse(text).is_ok(), Violation::AUTHORITY_INVALID)?;
        if let Some(known) = known {
            known.note(text.as_bytes());
        }
    }
    Ok(())
}

/// Checks fields and finds `content-length`.
#[inline]
fn fields(
    fields: &FieldSection,
    section: Section,
    request: Option<&RequestHead<'_>>,
) -> Result<Option<u64>, SendError> {
    let mut content_length = None;
    for (at, field) in fields.iter().enumerate() {
        // For most this look into the table is all.
        if HAS_RULES[field.known().map_or(0, |name| usize::from(name.id()))]
            && let Some(name) = field.known()
        {
            let value = trimmed(field.value());
            special(name, value, section, request, &mut content_length)
                .map_err(|rule| SendError::Field { at, rule })?;
        }
    }
    Ok(content_length)
}

fn special(
    name: KnownName,
    value: &[u8],
    section: Section,
    request: Option<&RequestHead<'_>>,
    content_length: &mut Option<u64>,
) -> Result<(), Violation> {
    let is_trailers = section == Section::Trailers;
    match name {
        // They say nothing about a message whose content is sent (RFC 9110 §6.5.1).
        KnownName::CONTENT_LENGTH if is_trailers => Err(Violation::CONTENT_LENGTH_INVALID),
        KnownName::HOST if is_trailers => Err(Violation::HOST_DIFFERS),
        KnownName::CONTENT_LENGTH => {
            let length = content::parse(value).ok_or(Violation::CONTENT_LENGTH_INVALID)?;
            match content_length.replace(length) {
                None => Ok(()),
                Some(_) => Err(Violation::CONTENT_LENGTH_INVALID),
            }
        }
        KnownName::HOST => match request {
            Some(head) if head.authority.as_bytes().eq_ignore_ascii_case(value) => Ok(()),
            // A request may name its host by `host` alone (RFC 9113 §8.3.1).
            Some(head) if head.authority.is_empty() => host(value),
            Some(_) => Err(Violation::HOST_DIFFERS),
            None => Ok(()),
        },
        KnownName::TE if request.is_some() && value.eq_ignore_ascii_case(b"trailers") => Ok(()),
        KnownName::TE if request.is_some() => Err(Violation::TE_INVALID),
        _ => Err(Violation::CONNECTION_SPECIFIC),
    }
}

fn host(value: &[u8]) -> Result<(), Violation> {
    let is_valid = core::str::from_utf8(value).is_ok_and(|text| Authority::parse(text).is_ok());
    if is_valid { Ok(()) } else { Err(Violation::AUTHORITY_INVALID) }
}

/// Returns a value as it is sent. It has no controls but tab, so an end is blank exactly if it is not above a
/// space; few are.
#[inline]
pub(crate) fn trimmed(value: &[u8]) -> &[u8] {
    match (value.first(), value.last()) {
        (Some(first), Some(last)) if *first.min(last) <= b' ' => bytes::trim(value),
        _ => value,
    }
}

#[inline]
fn pseudo_size(name: KnownName, value: &str) -> usize {
    name.as_str().len() + value.len() + 32
}

#[inline]
fn check(is_valid: bool, rule: Violation) -> Result<(), SendError> {
    if is_valid { Ok(()) } else { Err(SendError::Control(rule)) }
}

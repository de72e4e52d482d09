//! The rules for received field sections (RFC 9113 §8.2, §8.3, RFC 8441 §4), checked field by field while
//! they are decoded.
//!
//! Rule 1: the decoder must see every field, or its table would be wrong; so a broken rule is noted, the rest
//! is skipped, and the verdict waits for the end of the block.
//! Rule 2: the classes of names and values come from the decoder; only what HTTP/2 asks beyond them is
//! checked here.

use alloc::vec::Vec;

use alula_fields::{Authority, FieldFlags, Head, KnownName, Scheme, Status, bytes};
use alula_hpack::{Class, Decoded, Visitor};

use crate::frame::priority::Priority;
use crate::guard::violation::Violation;
use crate::head::last_authority::LastAuthority;
use crate::stream::content;

/// The kind of field section that a block holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Section {
    Request,
    Response,
    Trailers,
    /// A section that is dropped: it only updates the decoder's table and counts its size.
    Discarded,
}

/// The limits on the part of a section that is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SectionLimits {
    pub(crate) bytes: usize,
    pub(crate) fields: u32,
    pub(crate) cookie_crumbs: u32,
}

/// The known facts about a section beside its fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldCheck {
    section: Section,
    /// The pseudo-fields that have come.
    pseudo: u8,
    target: TargetFacts,
    /// True after a field has come, when no pseudo-field may follow.
    has_fields: bool,
    has_host: bool,
    is_too_large: bool,
    violation: Option<Violation>,
    /// Name + value + 32, summed over all fields (RFC 9113 §10.5.1).
    pub(crate) size: usize,
    pub(crate) fields: u32,
    pub(crate) crumbs: u32,
    pub(crate) content_length: Option<u64>,
    /// The value of the field `priority`, if it can be parsed.
    pub(crate) priority: Option<Priority>,
}

/// The facts of a request that the machine needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct RequestFacts {
    pub(crate) is_head: bool,
    pub(crate) is_connect: bool,
}

/// The facts of a request's pseudo-fields on which its verdict depends, collected as they come.
#[derive(Clone, Copy, Debug)]
struct TargetFacts {
    method: RequestFacts,
    is_options: bool,
    /// The scheme is `http` or `https`, whose paths begin with a slash (RFC 9113 §8.3.1).
    is_http: bool,
    has_slash: bool,
    is_asterisk: bool,
}

impl TargetFacts {
    const NONE: Self = Self {
        method: RequestFacts { is_head: false, is_connect: false },
        is_options: false,
        is_http: false,
        has_slash: false,
        is_asterisk: false,
    };
}

const METHOD: u8 = 1;
const SCHEME: u8 = 2;
const AUTHORITY: u8 = 4;
const PATH: u8 = 8;
const PROTOCOL: u8 = 16;
const STATUS: u8 = 32;

impl FieldCheck {
    pub(crate) const fn new(section: Section) -> Self {
        Self {
            section,
            pseudo: 0,
            target: TargetFacts::NONE,
            has_fields: false,
            has_host: false,
            is_too_large: false,
            violation: None,
            size: 0,
            fields: 0,
            crumbs: 0,
            content_length: None,
            priority: None,
        }
    }

    #[inline]
    pub(crate) const fn section(&self) -> Section {
        self.section
    }

    /// Returns true if the section may be remembered: all of it was kept unchanged.
    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        self.violation.is_none() && !self.is_too_large && self.crumbs <= 1
    }

    /// Returns true if the section exceeds a limit, and is not kept.
    #[inline]
    pub(crate) const fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// Returns the rule that a single field has broken.
    #[inline]
    pub(crate) const fn violation(&self) -> Option<Violation> {
        self.violation
    }

    /// Returns the verdict on a complete request.
    #[inline]
    pub(crate) fn request(&self, connect_protocol: bool) -> Result<RequestFacts, Violation> {
        if let Some(violation) = self.violation {
            return Err(violation);
        }
        let TargetFacts { method: facts, is_options, is_http, has_slash, is_asterisk } = self.target;
        // Extended CONNECT has a scheme and a path, plain CONNECT has neither (RFC 8441 §4, RFC 9113 §8.5).
        if facts.is_connect || self.pseudo & PROTOCOL != 0 {
            self.connect(facts, connect_protocol)?;
            if self.pseudo & PROTOCOL == 0 {
                return Ok(facts);
            }
        }
        const NEEDED: u8 = METHOD | SCHEME | PATH;
        if self.pseudo & NEEDED != NEEDED {
            return Err(Violation::PSEUDO_MISSING);
        }
        // Paths of other schemes need not begin with a slash (RFC 9113 §8.3.1).
        match has_slash || !is_http || (is_asterisk && is_options) {
            true => Ok(facts),
            false => Err(Violation::PATH_INVALID),
        }
    }

    /// Returns the method, if it is known, for a request that was not kept completely.
    pub(crate) const fn method_facts(&self) -> RequestFacts {
        self.target.method
    }

    fn connect(&self, facts: RequestFacts, enabled: bool) -> Result<(), Violation> {
        let extended = self.pseudo & PROTOCOL != 0;
        if extended && !(enabled && facts.is_connect) {
            return Err(Violation::PROTOCOL_UNEXPECTED);
        }
        let targets = self.pseudo & (SCHEME | PATH);
        if self.pseudo & AUTHORITY == 0 || (!extended && targets != 0) {
            return Err(Violation::CONNECT_PSEUDO);
        }
        Ok(())
    }

    /// Returns the verdict on a complete response, to CONNECT or another method. One that opens a tunnel has
    /// no content, and what it says of a length is ignored (RFC 9110 §9.3.6).
    #[inline]
    pub(crate) fn response(&self, head: &Head, to_connect: bool) -> Result<Status, Violation> {
        if let Some(violation) = self.violation {
            let opens_tunnel = to_connect && head.status().is_some_and(|status| status.is_success());
            if !opens_tunnel || violation != Violation::CONTENT_LENGTH_INVALID {
                return Err(violation);
            }
        }
        match head.status() {
            // HTTP/2 has no 101 (RFC 9113 §8.6).
            Some(Status::SWITCHING_PROTOCOLS) => Err(Violation::STATUS_SWITCHING),
            Some(status) => Ok(status),
            None => Err(Violation::STATUS_INVALID),
        }
    }
}

/// Stores the fields of a block in a head, and checks them.
pub(crate) struct Collect<'a> {
    pub(crate) check: &'a mut FieldCheck,
    pub(crate) head: &'a mut Head,
    /// The joined crumbs of a cookie that came in several fields.
    pub(crate) cookies: &'a mut Vec<u8>,
    /// The last valid authority, which the next one usually equals.
    pub(crate) authority: &'a mut LastAuthority,
    pub(crate) limits: SectionLimits,
    /// True if white space is removed at the ends of values in responses.
    pub(crate) trims_values: bool,
}

impl Visitor for Collect<'_> {
    #[inline]
    fn field(&mut self, field: Decoded<'_>) {
        if !self.takes(&field) {
            return;
        }
        if !field.class.field_ok() {
            return self.not_a_field(&field);
        }
        self.take(&field);
    }
}

impl Collect<'_> {
    /// Counts a field, and returns whether to process it.
    #[inline]
    fn takes(&mut self, field: &Decoded<'_>) -> bool {
        let check = &mut *self.check;
        // The size counts on after a violation, since a section that is far too large ends the connection.
        check.size += field.name.len() + field.value.len() + 32;
        if check.size > self.limits.bytes {
            check.is_too_large = true;
        }
        !check.is_too_large && check.violation.is_none() && check.section != Section::Discarded
    }

    /// Takes a field with a valid name and value.
    #[inline]
    fn take(&mut self, field: &Decoded<'_>) {
        self.check.has_fields = true;
        let name = match field.known {
            Some(name) if IS_SPECIAL[usize::from(name.id())] => return self.special(name, field),
            name => name,
        };
        self.push(name, field);
    }

    #[inline]
    fn push(&mut self, name: Option<KnownName>, field: &Decoded<'_>) {
        self.check.fields += 1;
        if self.check.fields > self.limits.fields {
            self.check.is_too_large = true;
            return;
        }
        // A field that must never be indexed stays so when it is forwarded (RFC 7541 §6.2.3).
        let flags = if field.never { FieldFlags::SENSITIVE } else { FieldFlags::NONE };
        match name {
            Some(name) => self.head.fields.push_known(name, field.value, flags),
            None => self.head.fields.push_valid(field.name, field.value, flags),
        }
    }

    #[inline]
    fn not_a_field(&mut self, field: &Decoded<'_>) {
        if self.trims_values && field.class.name_ok() && field.class.value_ok() {
            let value = bytes::trim(field.value);
            // All that was wrong was at the ends of the value, which the size counts as they came.
            return self.take(&Decoded { value, class: Class::of(field.name, value), ..*field });
        }
        let verdict = match field.class.name_pseudo() {
            true => self.pseudo(field),
            false if field.class.name_ok() => Err(Violation::VALUE_INVALID),
            false => Err(Violation::NAME_INVALID),
        };
        self.note(verdict);
    }

    fn note(&mut self, verdict: Result<(), Violation>) {
        match verdict {
            Ok(()) => {}
            // A tunnel forgives this one, and no other.
            Err(Violation::CONTENT_LENGTH_INVALID) if self.check.violation.is_some() => {}
            Err(violation) => self.check.violation = Some(violation),
        }
    }

    #[inline]
    fn pseudo(&mut self, field: &Decoded<'_>) -> Result<(), Violation> {
        if self.check.section == Section::Trailers {
            return Err(Violation::PSEUDO_IN_TRAILERS);
        }
        // A proxy that has already routed the request could not take a late pseudo-field back (RFC 9113
        // §8.3).
        if self.check.has_fields {
            return Err(Violation::PSEUDO_AFTER_FIELD);
        }
        let name = field.known.ok_or(Violation::PSEUDO_UNKNOWN)?;
        let (section, bit) = pseudo_of(name).ok_or(Violation::PSEUDO_UNKNOWN)?;
        if section != self.check.section {
            return Err(Violation::PSEUDO_UNKNOWN);
        }
        if self.check.pseudo & bit != 0 {
            return Err(Violation::PSEUDO_TWICE);
        }
        self.check.pseudo |= bit;
        self.check_pseudo(bit, field.value)?;
        self.head.put_pseudo(name, field.value);
        Ok(())
    }

    #[inline]
    fn check_pseudo(&mut self, bit: u8, value: &[u8]) -> Result<(), Violation> {
        let (is_valid, rule) = match bit {
            METHOD => (self.is_method(value), Violation::METHOD_INVALID),
            SCHEME => (self.is_scheme(value), Violation::SCHEME_INVALID),
            AUTHORITY => (self.is_authority(value), Violation::AUTHORITY_INVALID),
            PATH => (self.is_path(value), Violation::PATH_INVALID),
            PROTOCOL => (bytes::is_token(value), Violation::PROTOCOL_UNEXPECTED),
            _ => (Status::parse(value).is_ok(), Violation::STATUS_INVALID),
        };
        if is_valid { Ok(()) } else { Err(rule) }
    }

    #[inline]
    fn is_method(&mut self, value: &[u8]) -> bool {
        let target = &mut self.check.target;
        target.method = RequestFacts { is_head: value == b"HEAD", is_connect: value == b"CONNECT" };
        target.is_options = value == b"OPTIONS";
        bytes::is_token(value)
    }

    #[inline]
    fn is_scheme(&mut self, value: &[u8]) -> bool {
        let scheme = match value {
            b"https" => Some(Scheme::Https),
            b"http" => Some(Scheme::Http),
            other => core::str::from_utf8(other).ok().and_then(|text| Scheme::parse(text).ok()),
        };
        self.check.target.is_http = matches!(scheme, Some(Scheme::Http | Scheme::Https));
        scheme.is_some()
    }

    /// Returns true if the path is valid; whether it suits method and scheme, which may follow, is checked in
    /// the end.
    #[inline]
    fn is_path(&mut self, value: &[u8]) -> bool {
        let target = &mut self.check.target;
        target.has_slash = value.starts_with(b"/");
        target.is_asterisk = value == b"*";
        bytes::is_path(value) && !value.is_empty()
    }

    #[inline]
    fn is_authority(&mut self, value: &[u8]) -> bool {
        if self.authority.is(value) {
            return true;
        }
        let is_valid = authority(value).is_some();
        if is_valid {
            self.authority.note(value);
        }
        is_valid
    }

    /// Handles a field for which HTTP/2 has its own rules.
    fn special(&mut self, name: KnownName, field: &Decoded<'_>) {
        let verdict = match (name, self.check.section) {
            (KnownName::CONTENT_LENGTH, Section::Request | Section::Response) => self.content_length(field),
            (KnownName::COOKIE, Section::Request) => return self.cookie(field),
            (KnownName::HOST, Section::Request) => self.host(field),
            (KnownName::TE, Section::Request) if field.value.eq_ignore_ascii_case(b"trailers") => {
                self.push(Some(name), field);
                Ok(())
            }
            // `te` may say `trailers` and nothing else (RFC 9113 §8.2.2).
            (KnownName::TE, Section::Request) => Err(Violation::TE_INVALID),
            (KnownName::PRIORITY, Section::Request) => {
                // One that cannot be read says nothing (RFC 9651 §4.2); of several the last one counts.
                self.check.priority = Priority::parse(field.value).or(self.check.priority);
                self.push(Some(name), field);
                Ok(())
            }
            // They say nothing about a message whose content has come, and whoever merged them would be
            // misled (RFC 9110 §6.5.1).
            (KnownName::CONTENT_LENGTH | KnownName::HOST | KnownName::EXPECT, Section::Trailers) => Ok(()),
            (
                KnownName::CONTENT_LENGTH
                | KnownName::COOKIE
                | KnownName::EXPECT
                | KnownName::HOST
                | KnownName::PRIORITY,
                _,
            ) => {
                self.push(Some(name), field);
                Ok(())
            }
            // The names left here belong to a connection of HTTP/1.1 (RFC 9113 §8.2.2).
            _ => Err(Violation::CONNECTION_SPECIFIC),
        };
        self.note(verdict);
    }

    /// Checks `content-length`. A response may repeat the same length, as some servers do; a request may not,
    /// as other recipients read it differently.
    fn content_length(&mut self, field: &Decoded<'_>) -> Result<(), Violation> {
        let length = content::parse(field.value).ok_or(Violation::CONTENT_LENGTH_INVALID)?;
        match self.check.content_length.replace(length) {
            None => self.push(field.known, field),
            Some(before) if before == length && self.check.section == Section::Response => {}
            Some(_) => return Err(Violation::CONTENT_LENGTH_INVALID),
        }
        Ok(())
    }

    /// Joins crumbs to one cookie (RFC 9113 §8.2.3), at the place of the first crumb, or last if there are
    /// several.
    fn cookie(&mut self, field: &Decoded<'_>) {
        self.check.crumbs += 1;
        match self.check.crumbs {
            1 => {
                self.cookies.clear();
                self.cookies.extend_from_slice(field.value);
                self.push(field.known, field);
            }
            // An indexed crumb costs one byte on the wire, and all of its bytes here.
            crumbs if crumbs > self.limits.cookie_crumbs => self.check.is_too_large = true,
            _ => {
                self.cookies.extend_from_slice(b"; ");
                self.cookies.extend_from_slice(field.value);
            }
        }
    }

    fn host(&mut self, field: &Decoded<'_>) -> Result<(), Violation> {
        let host = authority(field.value).ok_or(Violation::AUTHORITY_INVALID)?;
        let first = !core::mem::replace(&mut self.check.has_host, true);
        let agrees = match self.head.authority() {
            Some(text) if text.as_bytes() == field.value => true,
            Some(text) => {
                let scheme = self.head.scheme().and_then(|text| Scheme::parse(text).ok());
                let scheme = scheme.unwrap_or(Scheme::Other(""));
                Authority::parse(text).is_ok_and(|authority| authority.is_same(host, scheme))
            }
            None => true,
        };
        if !first || !agrees {
            return Err(Violation::HOST_DIFFERS);
        }
        self.push(field.known, field);
        Ok(())
    }
}

/// Ends a section: joins the crumbs of several cookie fields.
#[inline]
pub(crate) fn join_cookies(check: &FieldCheck, head: &mut Head, cookies: &[u8]) {
    if check.crumbs > 1 {
        let is_secret =
            head.fields.iter().any(|field| field.known() == Some(KnownName::COOKIE) && field.is_sensitive());
        head.fields.remove(KnownName::COOKIE);
        let flags = if is_secret { FieldFlags::SENSITIVE } else { FieldFlags::NONE };
        head.fields.push_known(KnownName::COOKIE, cookies, flags);
    }
}

#[inline]
fn pseudo_of(name: KnownName) -> Option<(Section, u8)> {
    Some(match name {
        KnownName::PSEUDO_METHOD => (Section::Request, METHOD),
        KnownName::PSEUDO_SCHEME => (Section::Request, SCHEME),
        KnownName::PSEUDO_AUTHORITY => (Section::Request, AUTHORITY),
        KnownName::PSEUDO_PATH => (Section::Request, PATH),
        KnownName::PSEUDO_PROTOCOL => (Section::Request, PROTOCOL),
        KnownName::PSEUDO_STATUS => (Section::Response, STATUS),
        _ => return None,
    })
}

fn authority(value: &[u8]) -> Option<Authority<'_>> {
    Authority::parse(core::str::from_utf8(value).ok()?).ok()
}

/// The fields for [`Collect::special`], by id.
pub(crate) static IS_SPECIAL: [bool; 256] = by_id(true);

/// The fields with rules of HTTP/2 for both sides, by id; 0 is none.
pub(crate) static HAS_RULES: [bool; 256] = by_id(false);

const fn by_id(comes: bool) -> [bool; 256] {
    let mut table = [false; 256];
    let mut id = 1;
    while id <= u8::MAX as usize {
        if let Some(name) = KnownName::from_id(id as u8) {
            table[id] = name.is_connection_specific();
        }
        id += 1;
    }
    table[KnownName::TE.id() as usize] = true;
    table[KnownName::CONTENT_LENGTH.id() as usize] = true;
    table[KnownName::HOST.id() as usize] = true;
    table[KnownName::COOKIE.id() as usize] = comes;
    table[KnownName::EXPECT.id() as usize] = comes;
    table[KnownName::PRIORITY.id() as usize] = comes;
    table
}

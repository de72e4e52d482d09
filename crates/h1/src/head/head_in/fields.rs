//! The fields of received heads: which are kept, and what they state about the message and its host.

use alula_fields::{Authority, FieldFlags, Head, KnownName, Status};

use super::{HeadIn, Kind};
use crate::guard::facts::{HAS_RULES, Verdict};
use crate::guard::violation::Violation;
use crate::head::list;

/// The names of fields that state something about the message, or are counted differently.
static IS_SPECIAL: [bool; 256] = {
    let mut table = HAS_RULES;
    table[KnownName::COOKIE.id() as usize] = true;
    table[KnownName::KEEP_ALIVE.id() as usize] = true;
    table
};

impl HeadIn {
    /// Checks a field's name and stores the field.
    #[cold]
    pub(super) fn store(&mut self, name: &[u8], value: &[u8], head: &mut Head) -> Result<(), Violation> {
        let name = self.checked(name)?;
        self.store_valid(KnownName::lookup_folded(name), name, value, head)
    }

    /// Stores a field with a `known` name, or a valid token.
    #[inline(always)]
    pub(super) fn store_valid(
        &mut self,
        known: Option<KnownName>,
        name: &[u8],
        value: &[u8],
        head: &mut Head,
    ) -> Result<(), Violation> {
        self.may_fold = true;
        let Some(known) = known else { return self.store_unknown(name, value, head) };
        if IS_SPECIAL[usize::from(known.id())] {
            return self.store_special(known, name, value, head);
        }
        self.count(1)?;
        self.push_known(known, name, value, head);
        Ok(())
    }

    #[inline(never)]
    fn store_unknown(&mut self, name: &[u8], value: &[u8], head: &mut Head) -> Result<(), Violation> {
        self.count(1)?;
        head.fields.push_folding(name, value, self.rules.keep_spelling);
        Ok(())
    }

    #[inline(never)]
    fn store_special(
        &mut self,
        known: KnownName,
        name: &[u8],
        value: &[u8],
        head: &mut Head,
    ) -> Result<(), Violation> {
        let mut kept = Some(value);
        if known == KnownName::COOKIE {
            self.count_crumb()?;
        } else if known == KnownName::KEEP_ALIVE {
            self.count(1)?;
            self.facts.has_terms |= self.kind == Kind::Response;
        } else {
            self.count(1)?;
            kept = self.meaning(known, value, head)?;
        }
        if let Some(value) = kept {
            self.push_known(known, name, value, head);
        }
        Ok(())
    }

    #[inline(always)]
    fn push_known(&self, known: KnownName, name: &[u8], value: &[u8], head: &mut Head) {
        match self.rules.keep_spelling {
            false => head.fields.push_known(known, value, FieldFlags::NONE),
            true => head.fields.push_known_spelled(known, name, value),
        }
    }

    /// Records a field that states something about the message, and returns the part of its value to keep.
    /// Such fields are dropped from trailers (RFC 9110 §6.5.1); one length of a list of equal ones is kept
    /// (RFC 9110 §8.6).
    fn meaning<'v>(
        &mut self,
        known: KnownName,
        value: &'v [u8],
        head: &mut Head,
    ) -> Result<Option<&'v [u8]>, Violation> {
        self.may_fold = false;
        match self.kind {
            // A field of a trailer must not change framing or routing after the fact (RFC 9110 §6.5.1).
            Kind::Trailers => return Ok(None),
            // A host in a response says nothing, however often.
            Kind::Response if known == KnownName::HOST => return Ok(Some(value)),
            // A client ignores length and coding in the answer that opens a tunnel (RFC 9110 §9.3.6).
            Kind::Response if self.opens_tunnel(head) && frames_content(known) => return Ok(Some(value)),
            Kind::Request | Kind::Response => {}
        }
        let may_repeat = self.rules.lenient.repeated_length || self.kind == Kind::Response;
        let verdict = self.facts.note(known, value, may_repeat)?;
        match known {
            KnownName::HOST => self.put_host(value, head).map(|()| None),
            _ if verdict == Verdict::Drop => Ok(None),
            KnownName::CONTENT_LENGTH => Ok(list::members(value).next()),
            _ => Ok(Some(value)),
        }
    }

    /// Returns true if the requested tunnel is open behind this head.
    fn opens_tunnel(&self, head: &Head) -> bool {
        self.answers_connect && head.status().is_some_and(|status| status.is_success())
    }

    /// Sets the host as control data; it has to agree with that of the target (RFC 9112 §3.2.2).
    fn put_host(&mut self, value: &[u8], head: &mut Head) -> Result<(), Violation> {
        if value != self.host.as_slice() {
            self.check_host(value)?;
        }
        match head.pseudo(KnownName::PSEUDO_AUTHORITY) {
            None => {
                head.put_pseudo(KnownName::PSEUDO_AUTHORITY, value);
                Ok(())
            }
            Some(authority) if authority.eq_ignore_ascii_case(value) => Ok(()),
            Some(_) => Err(Violation::HOST_DIFFERS),
        }
    }

    /// Checks a host that differs from the last valid one, which hosts rarely do.
    #[cold]
    fn check_host(&mut self, value: &[u8]) -> Result<(), Violation> {
        // An empty `host` is valid: it stands for a target without an authority (RFC 9112 §3.2).
        if !value.is_empty() && !is_authority(value) {
            return Err(Violation::HOST_INVALID);
        }
        self.host.clear();
        self.host.extend_from_slice(value);
        Ok(())
    }

    #[inline]
    fn count(&mut self, fields: u32) -> Result<(), Violation> {
        self.fields_left = self.fields_left.checked_sub(fields).ok_or(Violation::FIELDS_MANY)?;
        Ok(())
    }

    fn count_crumb(&mut self) -> Result<(), Violation> {
        match self.crumbs_left.checked_sub(1) {
            Some(left) => self.crumbs_left = left,
            // Many crumbs of a cookie are legal, so the first ones have an allowance of their own; the others
            // count as fields.
            None => self.count(1)?,
        }
        Ok(())
    }
}

/// The checks of a whole head, beyond its lines.
impl HeadIn {
    /// Checks the fields of a request together, and completes its control data.
    #[inline]
    pub(crate) fn finish_request(&mut self, head: &mut Head) -> Result<(), Violation> {
        // HTTP/1.1 requires `host`, HTTP/1.0 does not know it (RFC 9112 §3.2).
        if !self.facts.has_host && !self.facts.is_old {
            return Err(Violation::HOST_MISSING);
        }
        self.finish(head)
    }

    /// Checks the fields of a response together. A response without content must not have a transfer coding
    /// (RFC 9112 §6.1). A chunked 204 ends with its head all the same (RFC 9112 §6.3): some servers send it,
    /// with a last chunk behind it or without. Since a client cannot tell which, the connection is not used
    /// again.
    #[inline]
    pub(crate) fn finish_response(&mut self, head: &mut Head, status: Status) -> Result<(), Violation> {
        match status.as_u16() {
            100..=199 if self.facts.is_chunked => return Err(Violation::CODING_UNEXPECTED),
            204 if self.facts.is_chunked => self.facts.says_close = true,
            _ => {}
        }
        self.finish(head)
    }

    #[inline]
    fn finish(&mut self, head: &mut Head) -> Result<(), Violation> {
        if self.facts.settle(self.rules.lenient.length_with_coding)? {
            head.fields.remove(KnownName::CONTENT_LENGTH);
        }
        Ok(())
    }
}

/// Returns true for the fields that frame content.
const fn frames_content(name: KnownName) -> bool {
    matches!(name, KnownName::CONTENT_LENGTH | KnownName::TRANSFER_ENCODING)
}

fn is_authority(value: &[u8]) -> bool {
    core::str::from_utf8(value).is_ok_and(|text| Authority::parse(text).is_ok())
}

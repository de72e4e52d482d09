//! The facts in the fields of a head about the connection and the end of the content.
//!
//! Rule 1: whatever could be read in two ways is refused (RFC 9112 §11.2), unless the configuration forgives
//! it by name.
//! Rule 2: most fields cost one look into [`HAS_RULES`].

use alula_fields::{KnownName, bytes};

use crate::guard::violation::Violation;
use crate::head::list;

/// The facts of a head, as far as it was read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Facts {
    /// The version is 1.0.
    pub(crate) is_old: bool,
    /// The target of the request contains an authority.
    pub(crate) is_authority_in_target: bool,
    pub(crate) content_length: Option<u64>,
    pub(crate) is_chunked: bool,
    pub(crate) has_host: bool,
    pub(crate) says_close: bool,
    pub(crate) says_keep_alive: bool,
    pub(crate) says_upgrade: bool,
    pub(crate) expects_continue: bool,
    /// A response states conditions for the connection (`keep_alive.rs`).
    pub(crate) has_terms: bool,
}

/// The known names that have a rule here.
pub(crate) const HAS_RULES: [bool; 256] = {
    let mut table = [false; 256];
    table[KnownName::HOST.id() as usize] = true;
    table[KnownName::CONTENT_LENGTH.id() as usize] = true;
    table[KnownName::TRANSFER_ENCODING.id() as usize] = true;
    table[KnownName::CONNECTION.id() as usize] = true;
    table[KnownName::EXPECT.id() as usize] = true;
    table
};

/// The verdict on a field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// The field is kept with the others.
    Keep,
    /// The field repeats an earlier one, and is dropped.
    Drop,
}

impl Facts {
    /// Records a field whose name has a rule; `repeated_length` forgives the same content-length twice.
    pub(crate) fn note(
        &mut self,
        name: KnownName,
        value: &[u8],
        repeated_length: bool,
    ) -> Result<Verdict, Violation> {
        match name {
            KnownName::CONTENT_LENGTH => return self.note_length(value, repeated_length),
            KnownName::TRANSFER_ENCODING => self.note_coding(value)?,
            KnownName::CONNECTION => self.note_connection(value),
            KnownName::EXPECT => self.expects_continue |= value.eq_ignore_ascii_case(b"100-continue"),
            _ => self.note_host()?,
        }
        Ok(Verdict::Keep)
    }

    /// Returns true if the connection outlives the message (RFC 9112 §9.3).
    pub(crate) const fn persists(&self) -> bool {
        !self.says_close && (!self.is_old || self.says_keep_alive)
    }

    /// Resolves repeated statements about the end of the content; returns true if the length has to be
    /// dropped.
    pub(crate) fn settle(&mut self, length_with_coding: bool) -> Result<bool, Violation> {
        // An HTTP/1.0 recipient on the way may have ignored the coding (RFC 9112 §6.1).
        if self.is_chunked && self.is_old {
            return Err(Violation::CODING_TOO_EARLY);
        }
        if !self.is_chunked || self.content_length.is_none() {
            return Ok(false);
        }
        if !length_with_coding {
            return Err(Violation::LENGTH_WITH_CODING);
        }
        // The coding overrides the length, and the connection must not be used again: the message may be an
        // attempt to smuggle (RFC 9112 §6.3).
        self.content_length = None;
        self.says_close = true;
        Ok(true)
    }

    fn note_host(&mut self) -> Result<(), Violation> {
        // Two hosts are refused even if they are equal (RFC 9112 §3.2).
        if core::mem::replace(&mut self.has_host, true) {
            return Err(Violation::HOST_REPEATED);
        }
        Ok(())
    }

    fn note_length(&mut self, value: &[u8], may_repeat: bool) -> Result<Verdict, Violation> {
        let length = length(value, may_repeat)?;
        match self.content_length.replace(length) {
            None => Ok(Verdict::Keep),
            Some(before) if may_repeat && before == length => Ok(Verdict::Drop),
            Some(_) => Err(Violation::LENGTH_REPEATED),
        }
    }

    /// Records a transfer coding: only `chunked`, and only once, since recipients disagree on any other list.
    fn note_coding(&mut self, value: &[u8]) -> Result<(), Violation> {
        if self.is_chunked {
            return Err(Violation::CODING_REPEATED);
        }
        if !value.eq_ignore_ascii_case(b"chunked") {
            let are_all_chunked = list::members(value).all(|member| member.eq_ignore_ascii_case(b"chunked"));
            // `chunked, chunked` breaks another rule than an unknown coding (RFC 9112 §6.1).
            let is_list = list::members(value).count() > 1;
            return Err(if is_list && are_all_chunked {
                Violation::CODING_REPEATED
            } else {
                Violation::CODING_UNKNOWN
            });
        }
        self.is_chunked = true;
        Ok(())
    }

    fn note_connection(&mut self, value: &[u8]) {
        // This is the usual value, which needs no parsing as a list.
        if value.eq_ignore_ascii_case(b"keep-alive") {
            self.says_keep_alive = true;
            return;
        }
        self.says_close |= list::has(value, b"close");
        self.says_keep_alive |= list::has(value, b"keep-alive");
        self.says_upgrade |= list::has(value, b"upgrade");
    }
}

/// Returns the number in one value, which may be a list of equal numbers.
fn length(value: &[u8], may_repeat: bool) -> Result<u64, Violation> {
    if let Some(number) = number(value) {
        return Ok(number);
    }
    let mut all = list::members(value).map(number);
    let first = all.next().flatten().ok_or(Violation::LENGTH_INVALID)?;
    let is_list_of_one = value.contains(&b',');
    match all.all(|other| other == Some(first)) {
        true if is_list_of_one && may_repeat => Ok(first),
        true if is_list_of_one => Err(Violation::LENGTH_REPEATED),
        _ => Err(Violation::LENGTH_INVALID),
    }
}

/// Returns the number of `1*DIGIT`, up to the 19 digits that fit.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    // Nineteen digits always fit; a longer number would overflow in some recipient and not in another.
    let is_number = !digits.is_empty() && digits.len() <= 19 && bytes::all_in(digits, bytes::DIGIT);
    is_number.then(|| digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(values: &[&str], may_repeat: bool) -> Result<Option<u64>, Violation> {
        let mut facts = Facts::default();
        for value in values {
            facts.note(KnownName::CONTENT_LENGTH, value.as_bytes(), may_repeat)?;
        }
        Ok(facts.content_length)
    }

    #[test]
    fn a_length_is_digits_and_once() {
        assert_eq!(lengths(&["0"], false), Ok(Some(0)));
        assert_eq!(lengths(&["9999999999999999999"], false), Ok(Some(9_999_999_999_999_999_999)));
        for value in ["", "+1", "-1", "1 2", "0x1", "1.0", "10000000000000000000", "a", "1,a", ","] {
            assert_eq!(lengths(&[value], true), Err(Violation::LENGTH_INVALID), "{value}");
        }
        for values in [&["5", "5"][..], &["5, 5"], &["5,"], &["5", "6"]] {
            assert_eq!(lengths(values, false), Err(Violation::LENGTH_REPEATED), "{values:?}");
        }
        assert_eq!(lengths(&["5", "5, 5"], true), Ok(Some(5)));
        assert_eq!(lengths(&["5", "6"], true), Err(Violation::LENGTH_REPEATED));
        assert_eq!(lengths(&["5, 6"], true), Err(Violation::LENGTH_INVALID));
    }

    #[test]
    fn the_one_coding_is_chunked() {
        let coding = |values: &[&str]| {
            let mut facts = Facts::default();
            let mut notes =
                values.iter().map(|value| facts.note(KnownName::TRANSFER_ENCODING, value.as_bytes(), false));
            notes.find_map(Result::err)
        };
        assert_eq!((coding(&["chunked"]), coding(&["Chunked"])), (None, None));
        for values in [&["chunked", "chunked"][..], &["chunked, chunked"]] {
            assert_eq!(coding(values), Some(Violation::CODING_REPEATED), "{values:?}");
        }
        for value in ["", "gzip", "gzip, chunked", "chunked, gzip", "xchunked", "identity", "chunked,"] {
            assert_eq!(coding(&[value]), Some(Violation::CODING_UNKNOWN), "{value}");
        }
    }

    #[test]
    fn connections_persist_by_version_and_by_word() {
        let persists = |is_old, values: &[&str]| {
            let mut facts = Facts { is_old, ..Facts::default() };
            values.iter().for_each(|value| facts.note_connection(value.as_bytes()));
            facts.persists()
        };
        assert!(persists(false, &[]) && persists(true, &["Keep-Alive"]) && persists(false, &["x, y"]));
        assert!(
            !persists(true, &[])
                && !persists(false, &["x, close"])
                && !persists(true, &["close, keep-alive"])
        );
    }
}

//! Validators: the entity-tag and the date of the current representation (RFC 9110 §8.8).

use std::time::{Duration, SystemTime};

use alula_fields::{FieldSection, KnownName};

/// The validators of the representation that a request is about: an entity-tag, a date of change, both or
/// neither.
///
/// ```
/// use alula::conditional::Validators;
/// use std::time::SystemTime;
///
/// let object = Validators::present().etag("\"3f2a\"").modified(SystemTime::now());
/// let nothing_there = Validators::absent();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Validators<'a> {
    pub(super) exists: bool,
    pub(super) etag: Option<&'a [u8]>,
    pub(super) modified: Option<SystemTime>,
    pub(super) is_date_strong: bool,
}

impl<'a> Validators<'a> {
    /// Makes the validators of a resource that has no representation now: nothing is stored under its name.
    pub const fn absent() -> Self {
        Self { exists: false, etag: None, modified: None, is_date_strong: false }
    }

    /// Makes the validators of a representation of which nothing else is known.
    pub const fn present() -> Self {
        Self { exists: true, ..Self::absent() }
    }

    /// Makes the validators that an answer states by its own fields.
    pub(crate) fn stated(headers: &'a FieldSection) -> Self {
        let mut validators = Self::present();
        if let Some(etag) = headers.get(KnownName::ETAG) {
            validators = validators.etag(etag);
        }
        match headers.get(KnownName::LAST_MODIFIED).and_then(parse_date) {
            Some(modified) => validators.modified(modified),
            None => validators,
        }
    }

    /// Takes an entity-tag as it is sent, with its quotes, and `W/` in front if it is weak (RFC 9110 §8.8.3).
    pub fn etag<T: AsRef<[u8]> + ?Sized>(self, etag: &'a T) -> Self {
        Self { etag: Some(etag.as_ref()), ..self }
    }

    /// Takes the time of the last change, which counts in whole seconds, as `last-modified` tells it; one
    /// from before 1970 counts as none.
    pub fn modified(self, modified: SystemTime) -> Self {
        let since_epoch = modified.duration_since(SystemTime::UNIX_EPOCH).ok();
        let whole = |since: Duration| SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs());
        Self { modified: since_epoch.map(whole), ..self }
    }

    /// Sets whether the date alone tells every state from every other (RFC 9110 §8.8.2.2), as it does for
    /// what cannot change twice within a second: then `if-range` may name it. False unless set.
    pub const fn strong_date(self, is_strong: bool) -> Self {
        Self { is_date_strong: is_strong, ..self }
    }
}

/// Parses a date in any of the three forms of RFC 9110 §5.6.7.
pub(super) fn parse_date(value: &[u8]) -> Option<SystemTime> {
    httpdate::parse_http_date(std::str::from_utf8(value).ok()?).ok()
}

//! Validators: the entity-tag and the date of the current representation (RFC 9110 §8.8).

use std::time::{Duration, SystemTime};

use alula_fields::{FieldSection, KnownName};

/// The validators of a representation: an entity-tag, a date of change, both or neither.
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
    /// Creates the validators of a resource without a representation: nothing is stored under its name.
    pub const fn absent() -> Self {
        Self { exists: false, etag: None, modified: None, is_date_strong: false }
    }

    /// Creates the validators of a representation without tag and date.
    pub const fn present() -> Self {
        Self { exists: true, ..Self::absent() }
    }

    /// Creates the validators in the fields of an answer.
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

    /// Sets an entity-tag in its sent form, with quotes, and `W/` in front if it is weak (RFC 9110 §8.8.3).
    pub fn etag<T: AsRef<[u8]> + ?Sized>(self, etag: &'a T) -> Self {
        Self { etag: Some(etag.as_ref()), ..self }
    }

    /// Sets the time of the last change, in whole seconds as in `last-modified`; a time before 1970 counts as
    /// none.
    pub fn modified(self, modified: SystemTime) -> Self {
        let since_epoch = modified.duration_since(SystemTime::UNIX_EPOCH).ok();
        let whole = |since: Duration| SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs());
        Self { modified: since_epoch.map(whole), ..self }
    }

    /// Sets whether the date alone distinguishes all states (RFC 9110 §8.8.2.2), because the resource cannot
    /// change twice within a second: then `if-range` may use it. False unless set.
    pub const fn strong_date(self, is_strong: bool) -> Self {
        Self { is_date_strong: is_strong, ..self }
    }
}

/// Parses a date in any of the three forms of RFC 9110 §5.6.7.
pub(super) fn parse_date(value: &[u8]) -> Option<SystemTime> {
    httpdate::parse_http_date(std::str::from_utf8(value).ok()?).ok()
}

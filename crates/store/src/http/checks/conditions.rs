//! Conditional requests by Riak's rules.
//!
//! Tags are read as quoted strings alone: what stands outside quotes, such as the prefix of a weak tag, is
//! passed over. Dates that cannot be read count as absent. A write owns its conditions, so that an engine
//! checks them at the moment at which it decides.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use alula::{FieldSection, KnownName, Scratch, Status};

use crate::http::{answer::fail::Fail, object::vclock};
use crate::model::{Context, Moment, Record};

/// The capacity of a buffer for tags, which are held until the request ends.
const LENT_BYTES_MAX: usize = 1024;

/// The field that names the context which a write expects.
const IF_NOT_MODIFIED: &str = "x-riak-if-not-modified";

/// The conditions of a request. Taking them from a request that has none allocates nothing.
#[derive(Debug, Default)]
pub(in crate::http) struct Conditions {
    if_match: Option<Scratch>,
    if_none_match: Option<Scratch>,
    unmodified_since: Option<SystemTime>,
    modified_since: Option<SystemTime>,
    context: Option<Scratch>,
}

/// The stored state that conditions are checked against.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Present<'a> {
    /// The tag without its quotes.
    pub(in crate::http) tag: &'a [u8],
    pub(in crate::http) modified: Moment,
}

impl Conditions {
    /// Reads the conditions of a read.
    pub(in crate::http) fn of_read(headers: &FieldSection) -> Self {
        Self {
            if_match: tags(headers, KnownName::IF_MATCH),
            if_none_match: tags(headers, KnownName::IF_NONE_MATCH),
            unmodified_since: date(headers, KnownName::IF_UNMODIFIED_SINCE),
            modified_since: date(headers, KnownName::IF_MODIFIED_SINCE),
            context: None,
        }
    }

    /// Reads the conditions of a write.
    ///
    /// # Errors
    /// 400 for a context that cannot be read, or more than one.
    pub(in crate::http) fn of_write(headers: &FieldSection) -> Result<Self, Fail> {
        Ok(Self { context: vclock::read(headers, IF_NOT_MODIFIED)?, ..Self::of_read(headers) })
    }

    /// Returns true if a write has conditions: their outcome tells about what is stored.
    pub(in crate::http) fn are_in_write(headers: &FieldSection) -> bool {
        let known = [KnownName::IF_MATCH, KnownName::IF_NONE_MATCH, KnownName::IF_UNMODIFIED_SINCE];
        known.into_iter().any(|name| headers.get(name).is_some()) || headers.get(IF_NOT_MODIFIED).is_some()
    }

    /// Returns true if a write has to be checked against what is stored.
    pub(in crate::http) fn are_for_writes(&self) -> bool {
        self.if_match.is_some()
            || self.if_none_match.is_some()
            || self.unmodified_since.is_some()
            || self.context.is_some()
    }

    /// Returns the bytes that the conditions hold.
    pub(in crate::http) fn capacity(&self) -> usize {
        let texts = [&self.if_match, &self.if_none_match, &self.context];
        texts.into_iter().flatten().map(|text| text.capacity()).sum()
    }

    /// Checks the conditions of a read against the stored object; 304 or 412 if it is not carried out.
    pub(in crate::http) fn check_read(&self, present: Present<'_>) -> Result<(), Status> {
        self.check_match(Some(present))?;
        if let Some(tags) = &self.if_none_match {
            // `if-modified-since` does not count beside `if-none-match` (RFC 9110 §13.1.3).
            return if names(tags, present.tag) { Err(Status::NOT_MODIFIED) } else { Ok(()) };
        }
        // A date in the future does not count, as in Riak: the clock of the client is wrong.
        let is_past = |date: &SystemTime| *date <= SystemTime::now();
        match self.modified_since.filter(is_past) {
            Some(date) if !is_newer(present.modified, date) => Err(Status::NOT_MODIFIED),
            _ => Ok(()),
        }
    }

    /// Checks the conditions of a write against the stored object; 409 or 412 if it is not carried out.
    /// Whatever reads as deleted is absent.
    pub(in crate::http) fn check_write(&self, stored: Option<&Record<'_>>) -> Result<(), Status> {
        let tag = stored.map(|record| record.vtag().text());
        let present = stored.zip(tag.as_ref()).filter(|(record, _)| !record.is_deleted());
        let present =
            present.map(|(record, tag)| Present { tag: tag.as_bytes(), modified: record.modified() });
        self.check_match(present)?;
        if let (Some(tags), Some(present)) = (&self.if_none_match, present)
            && names(tags, present.tag)
        {
            return Err(Status::PRECONDITION_FAILED);
        }
        match &self.context {
            Some(context) if !is_context_of(context, stored) => Err(Status::CONFLICT),
            _ => Ok(()),
        }
    }

    fn check_match(&self, present: Option<Present<'_>>) -> Result<(), Status> {
        if let Some(tags) = &self.if_match
            && !present.is_some_and(|present| names(tags, present.tag))
        {
            return Err(Status::PRECONDITION_FAILED);
        }
        match (self.unmodified_since, present) {
            (Some(date), Some(present)) if is_newer(present.modified, date) => {
                Err(Status::PRECONDITION_FAILED)
            }
            _ => Ok(()),
        }
    }
}

fn is_context_of(context: &[u8], stored: Option<&Record<'_>>) -> bool {
    let mut bytes = Scratch::lend();
    stored
        .is_some_and(|record| record.context(&mut bytes) == Context::read(context).unwrap_or(Context::EMPTY))
}

/// Returns true if a list is `*` or has this tag.
fn names(list: &[u8], tag: &[u8]) -> bool {
    let mut quoted = list.split(|byte| *byte == b'"').skip(1).step_by(2);
    list.trim_ascii() == b"*" || quoted.any(|other| other == tag)
}

fn is_newer(modified: Moment, date: SystemTime) -> bool {
    UNIX_EPOCH + Duration::from_secs(modified.seconds()) > date
}

fn tags(headers: &FieldSection, name: KnownName) -> Option<Scratch> {
    headers.contains(name).then(|| {
        let mut all = Scratch::lend_within(LENT_BYTES_MAX);
        for value in headers.get_all(name) {
            if !all.is_empty() {
                all.extend_from_slice(b", ");
            }
            all.extend_from_slice(value);
        }
        all
    })
}

fn date(headers: &FieldSection, name: KnownName) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.text(name)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Riak goes on to the date after other tags; a date of the same second would hide a change.
    #[test]
    fn a_date_does_not_count_beside_tags() {
        let now = SystemTime::now();
        for (list, date, outcome) in [
            (None, Some(now), Err(Status::NOT_MODIFIED)),
            (Some("\"t\""), None, Err(Status::NOT_MODIFIED)),
            (Some("\"other\""), Some(now), Ok(())),
        ] {
            let mut headers = FieldSection::new();
            let mut put = |name: KnownName, value: &str| headers.append(name, value).expect("a field");
            list.into_iter().for_each(|list| put(KnownName::IF_NONE_MATCH, list));
            date.into_iter()
                .for_each(|date| put(KnownName::IF_MODIFIED_SINCE, &httpdate::fmt_http_date(date)));
            let present = Present { tag: b"t", modified: Moment::default() };
            assert_eq!(Conditions::of_read(&headers).check_read(present), outcome, "{list:?}");
        }
    }

    #[test]
    fn tags_are_quoted() {
        for (list, named) in [
            ("\"t\"", true),
            ("W/\"t\"", true),
            ("\"a\", \"t\"", true),
            ("*", true),
            (" * ", true),
            ("t", false),
            ("\"a\"t\"b\"", false),
            ("\"tt\"", false),
            ("", false),
            ("\"*\"", false),
        ] {
            assert_eq!(names(list.as_bytes(), b"t"), named, "{list}");
        }
    }
}

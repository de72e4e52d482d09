//! A download to a file that broke off, and the state from which the next try continues.
//!
//! Rule: only what the server names by a strong validator is gone on with, and by `if-range`: of anything
//! else nobody knows whether the rest belongs to what is there. The file is then cut back to what was there
//! before, and written anew.

use std::{
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
    time::Duration,
};

use alula::{FieldSection, KnownName, Response};

use super::{
    There,
    destination::{Destination, NamedBy},
    resume::{self, Rest},
};
use crate::failure::exit::{Exit, Failure, Outcome};

/// The state of a file after its download broke off.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::fetch) struct Cut {
    path: PathBuf,
    /// The bytes that -C found in the file before the first try.
    base: Option<u64>,
    rest: Option<RestOf>,
}

/// The place from which a file is continued.
#[derive(Clone, Debug, Eq, PartialEq)]
struct RestOf {
    /// The place in the content.
    offset: u64,
    /// The length of the file, which begins with the head if that was asked for.
    file_bytes: u64,
    /// The length of the whole content, if it is known.
    whole: Option<u64>,
    /// The entity-tag or the date of the present bytes.
    validator: String,
}

/// The state of the file when the content of a try begins.
#[derive(Clone, Debug)]
pub(in crate::fetch) struct Begun {
    path: PathBuf,
    base: Option<u64>,
    /// The length of the file before the first byte of content.
    file_bytes: u64,
    /// The place of its first byte in the content; none if the response is a part other than the rest.
    offset: Option<u64>,
    /// The length of the whole content, if it is known.
    whole: Option<u64>,
    validator: Option<String>,
}

impl Begun {
    /// Records the beginning of a response to a regular file; nothing for a pipe or a device, which cannot be
    /// cut back.
    pub(in crate::fetch) fn of(
        response: &Response,
        path: Option<&Path>,
        base: Option<u64>,
        offset: Option<u64>,
    ) -> Option<Self> {
        let path = path?;
        let file_bytes = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
        let offset = match response.status().as_u16() {
            // Decoded content has no place in the coded one that a range counts in.
            200 if !response.is_decoded() => Some(0),
            206 if !response.is_decoded() => offset,
            _ => None,
        };
        let whole = match response.status().as_u16() {
            206 => resume::whole_of(response),
            _ => response.content_length(),
        };
        Some(Self {
            path: path.to_owned(),
            base,
            file_bytes,
            offset,
            whole,
            validator: validator(response.headers()),
        })
    }

    /// Sets the length of the whole content that is known from before, unless this response states it.
    pub(in crate::fetch) fn of_whole(self, whole: Option<u64>) -> Self {
        Self { whole: self.whole.or(whole), ..self }
    }

    /// Returns the state of the file after so many bytes of content.
    pub(in crate::fetch) fn cut_after(self, received: u64) -> Cut {
        let Self { path, base, file_bytes, offset, whole, validator } = self;
        let now = fs::metadata(&path).map_or(0, |file| file.len());
        // Formatted content has another length, and no place in the content as it came.
        let is_as_it_came = now == file_bytes + received;
        // Without a validator nobody knows whether the next response continues this one (RFC 9110 §13.1.5).
        let rest = offset.zip(validator).filter(|_| is_as_it_came && received > 0);
        let rest = rest.map(|(offset, validator)| RestOf {
            offset: offset + received,
            file_bytes: now,
            whole,
            validator,
        });
        Cut { path, base, rest }
    }
}

impl Cut {
    /// Returns the file that was written, whoever has named it.
    pub(in crate::fetch) fn destination(&self) -> Destination {
        Destination::File { path: self.path.clone(), named_by: NamedBy::User }
    }

    /// Returns the bytes that -C found before the first try.
    pub(in crate::fetch) fn base(&self) -> Option<u64> {
        self.base
    }

    /// Returns the place from which the next try requests the content: the end of the received bytes, or of
    /// those that -C found.
    pub(in crate::fetch) fn offset(&self) -> Option<u64> {
        self.rest.as_ref().map(|rest| rest.offset).or(self.base)
    }

    /// Returns the value of `if-range`.
    pub(in crate::fetch) fn if_range(&self) -> Option<&str> {
        self.rest.as_ref().map(|rest| &*rest.validator)
    }

    /// Returns the length of the whole content, if it is known.
    pub(in crate::fetch) fn whole(&self) -> Option<u64> {
        self.rest.as_ref().and_then(|rest| rest.whole)
    }

    /// Removes the received bytes if they are not continued; those that -C found stay.
    pub(in crate::fetch) fn cut_back(&self) -> Outcome {
        match self.rest {
            None => self.set_len(),
            Some(_) => Ok(()),
        }
    }

    fn set_len(&self) -> Outcome {
        let file = OpenOptions::new().write(true).open(&self.path);
        let cut = file.and_then(|file| file.set_len(self.base.unwrap_or(0)));
        cut.map_err(|error| Failure::local(self.path.display(), &error))
    }

    /// Returns the place of the content in the file by the head of the response; nothing if the file is
    /// complete.
    pub(in crate::fetch) fn there(&self, response: &Response, url: &str) -> Result<Option<There>, Failure> {
        let Some(rest) = &self.rest else {
            let Some(base) = self.base else { return Ok(Some(There::IsReplaced)) };
            let rest = resume::rest_of(response, base, url)?;
            return Ok((rest == Rest::Follows).then_some(There::IsContinued(base)));
        };
        match (response.status().as_u16(), self.base) {
            (206 | 416, _) => {
                // A 416 has no content: `rest_of` compares the lengths alone.
                let is_same = response.status().as_u16() == 416 || rest.is_of(response);
                if !is_same {
                    let sentence =
                        format!("{}: the server sent a part of something else", alula::masked_url(url));
                    return Err(Failure::new(Exit::Resume, sentence));
                }
                let follows = resume::rest_of(response, rest.offset, url)? == Rest::Follows;
                Ok(follows.then_some(There::IsContinued(rest.file_bytes)))
            }
            (_, None) => Ok(Some(There::IsReplaced)),
            (_, Some(base)) => {
                self.set_len()?;
                resume::rest_of(response, base, url).map(|_| None)
            }
        }
    }
}

impl RestOf {
    /// Returns false if the response belongs to other content: some servers ignore `if-range`.
    fn is_of(&self, response: &Response) -> bool {
        let name = if self.validator.starts_with('"') { KnownName::ETAG } else { KnownName::LAST_MODIFIED };
        let is_named = response.headers().get(name).is_none_or(|value| value == self.validator.as_bytes());
        let is_as_long = self.whole.zip(resume::whole_of(response)).is_none_or(|(whole, said)| whole == said);
        is_named && is_as_long
    }
}

/// Returns the strong validator of a response: its entity-tag, or a date that is older than the response (RFC
/// 9110 §8.8.1, §8.8.2.2).
fn validator(headers: &FieldSection) -> Option<String> {
    let text = |name| std::str::from_utf8(headers.get(name)?).ok();
    if let Some(tag) = text(KnownName::ETAG) {
        return tag.starts_with('"').then(|| tag.to_owned());
    }
    let modified = text(KnownName::LAST_MODIFIED)?;
    let [changed, sent] =
        [Some(modified), text(KnownName::DATE)].map(|date| httpdate::parse_http_date(date?).ok());
    let age = sent?.duration_since(changed?).ok()?;
    (age >= Duration::from_secs(1)).then(|| modified.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_strong_validator_names_a_part() {
        const EARLY: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        const LATE: &str = "Sun, 06 Nov 1994 08:49:38 GMT";
        for (fields, expected) in [
            (&[("etag", "\"a\"")][..], Some("\"a\"")),
            (&[("etag", "W/\"a\"")], None),
            (&[("etag", "W/\"a\""), ("last-modified", EARLY), ("date", LATE)], None),
            (&[("last-modified", EARLY), ("date", LATE)], Some(EARLY)),
            (&[("last-modified", EARLY), ("date", EARLY)], None),
            (&[("last-modified", EARLY)], None),
            (&[("last-modified", "yesterday"), ("date", LATE)], None),
            (&[], None),
        ] {
            let mut section = FieldSection::new();
            fields.iter().for_each(|(name, value)| section.append(*name, *value).unwrap());
            assert_eq!(validator(&section).as_deref(), expected, "{fields:?}");
        }
    }
}

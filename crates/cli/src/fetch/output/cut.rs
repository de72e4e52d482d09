//! A download to a file that broke off, and how the next try goes on with it.
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
    /// The bytes that -C found there before the first try.
    base: Option<u64>,
    rest: Option<RestOf>,
}

/// The place from which a file is gone on with.
#[derive(Clone, Debug, Eq, PartialEq)]
struct RestOf {
    /// The place in the content.
    offset: u64,
    /// The length of the file, which has a head before the content if that was asked for.
    file_bytes: u64,
    /// The length of the whole content, if it is known.
    whole: Option<u64>,
    /// The entity-tag or the date that names what is there.
    validator: String,
}

/// The state of the file of a try when content begins to come.
#[derive(Clone, Debug)]
pub(in crate::fetch) struct Begun {
    path: PathBuf,
    base: Option<u64>,
    /// The length of the file before the first byte of content.
    file_bytes: u64,
    /// The place in the content of its first byte; none if a part was asked for that is not the rest.
    offset: Option<u64>,
    /// The length of the whole content, if it is known.
    whole: Option<u64>,
    validator: Option<String>,
}

impl Begun {
    /// Notes what a response to a regular file begins with; nothing for a pipe or a device, which cannot be
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

    /// Notes the length of the whole content that is known from before, unless this response has said it.
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
    /// The file that was written, whoever has named it.
    pub(in crate::fetch) fn destination(&self) -> Destination {
        Destination::File { path: self.path.clone(), named_by: NamedBy::User }
    }

    /// The bytes that -C found there before the first try.
    pub(in crate::fetch) fn base(&self) -> Option<u64> {
        self.base
    }

    /// The place in the content from which the next try asks for it: the end of what came, or of what -C
    /// found.
    pub(in crate::fetch) fn offset(&self) -> Option<u64> {
        self.rest.as_ref().map(|rest| rest.offset).or(self.base)
    }

    /// The condition of the range.
    pub(in crate::fetch) fn if_range(&self) -> Option<&str> {
        self.rest.as_ref().map(|rest| &*rest.validator)
    }

    /// The length of the whole content, if it is known.
    pub(in crate::fetch) fn whole(&self) -> Option<u64> {
        self.rest.as_ref().and_then(|rest| rest.whole)
    }

    /// Takes off what came, where that is not gone on with: what -C found stays.
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

    /// Returns the place of the content in the file by the head of the response; nothing when the file is
    /// whole.
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
    /// Returns false if the response says that it is of something else: some servers pass over `if-range`.
    fn is_of(&self, response: &Response) -> bool {
        let name = if self.validator.starts_with('"') { KnownName::ETAG } else { KnownName::LAST_MODIFIED };
        let is_named = response.headers().get(name).is_none_or(|value| value == self.validator.as_bytes());
        let is_as_long = self.whole.zip(resume::whole_of(response)).is_none_or(|(whole, said)| whole == said);
        is_named && is_as_long
    }
}

/// The strong validator of a response: its entity-tag, or a date that is older than the response (RFC 9110
/// §8.8.1, §8.8.2.2).
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

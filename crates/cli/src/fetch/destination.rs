//! Which file a response goes to, if any, and by which names it may not.

use std::path::{Path, PathBuf};

use alula::Response;

use super::target::Target;
use crate::{
    args::OutputArgs,
    exit::{Exit, Failure},
};

/// Where the content of one response goes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Destination {
    Stdout {
        /// It was asked for outright: a terminal is given what it should not see.
        is_forced: bool,
    },
    File {
        path: PathBuf,
        /// The name is the server's: what is there already is left alone.
        is_new: bool,
    },
}

impl Destination {
    /// For the URL in this place.
    pub(super) fn of(args: &OutputArgs, place: usize, target: &Target) -> Result<Self, Failure> {
        match args.output.get(place) {
            Some(path) if path.as_os_str() == "-" => Ok(Self::named(path)),
            Some(path) => Ok(Self::file(within(args, path))),
            None if args.remote_name > 0 => {
                let name = target.last_segment();
                let name = checked(name).ok_or_else(|| nameless(target, name))?;
                Ok(Self::file(within(args, Path::new(name))))
            }
            None => Ok(Self::Stdout { is_forced: false }),
        }
    }

    /// For `-D`.
    pub(super) fn named(path: &Path) -> Self {
        if path.as_os_str() == "-" { Self::Stdout { is_forced: true } } else { Self::file(path.to_owned()) }
    }

    fn file(path: PathBuf) -> Self {
        Self::File { path, is_new: false }
    }

    /// The name that the response gives, if one is wanted and it gives one that is safe.
    pub(super) fn named_by(self, args: &OutputArgs, response: &Response) -> Self {
        if !args.remote_header_name || !matches!(self, Self::File { .. }) {
            return self;
        }
        let disposition = response.fields().get(alula::KnownName::CONTENT_DISPOSITION);
        let name = disposition.and_then(|value| filename(std::str::from_utf8(value).ok()?));
        match name.as_deref().and_then(checked).filter(|name| !name.starts_with('.')) {
            Some(name) => Self::File { path: within(args, Path::new(name)), is_new: true },
            None => self,
        }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::Stdout { .. } => None,
        }
    }
}

fn within(args: &OutputArgs, path: &Path) -> PathBuf {
    match &args.output_dir {
        Some(folder) => folder.join(path),
        None => path.to_owned(),
    }
}

/// A name that is one in this folder, and nothing but one.
fn checked(name: &str) -> Option<&str> {
    let is_odd = |character: char| matches!(character, '/' | '\\' | ':') || character.is_control();
    (!name.is_empty() && name != "." && name != ".." && !name.contains(is_odd)).then_some(name)
}

fn nameless(target: &Target, name: &str) -> Failure {
    let url = &target.url;
    let sentence = match name {
        "" => format!("the path of {url} has no name for -O: -o FILE gives one"),
        _ => format!("{name:?} of {url} is no name for a file: -o FILE gives one"),
    };
    Failure::new(Exit::Usage, sentence)
}

/// The parameter `filename*` in UTF-8, else `filename` (RFC 6266 §4.3).
fn filename(disposition: &str) -> Option<String> {
    let extended = parameter(disposition, "filename*").and_then(|value| {
        let (charset, rest) = value.split_once('\'')?;
        let (_, encoded) = rest.split_once('\'')?;
        let decoded = percent_encoding::percent_decode_str(encoded).decode_utf8().ok()?;
        charset.eq_ignore_ascii_case("utf-8").then(|| decoded.into_owned())
    });
    extended.or_else(|| parameter(disposition, "filename"))
}

/// The value of a parameter, without the quotes and backslashes it may have (RFC 9110 §5.6.6).
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (name, after) = rest.split_once('=')?;
        let (found, after) = token_or_quoted(after.trim_start());
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(found);
        }
        rest = after.split_once(';')?.1;
    }
}

fn token_or_quoted(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return (text[..end].trim_end().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => value.push(character),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_in_this_folder() {
        for right in ["a", "a.tar.gz", "a%2Fb", "-a", " "] {
            assert_eq!(checked(right), Some(right));
        }
        for wrong in ["", ".", "..", "a/b", "../a", "a\\b", "c:a", "a\0", "a\n"] {
            assert_eq!(checked(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_response_names_its_file() {
        for (disposition, name) in [
            ("attachment; filename=a.txt", Some("a.txt")),
            ("attachment; filename=\"a b.txt\"", Some("a b.txt")),
            ("attachment; FileName = \"a\\\"b;c\" ; x=y", Some("a\"b;c")),
            ("attachment; x=\"; filename=no\"; filename=yes", Some("yes")),
            ("attachment; filename=a; filename*=UTF-8''%e2%82%ac", Some("€")),
            ("attachment; filename*=iso-8859-1''%a3; filename=a", Some("a")),
            ("attachment; filename*=UTF-8''%ff; filename=a", Some("a")),
            ("attachment; filename=\"a", Some("a")),
            ("attachment", None),
            ("filename=a", None),
            ("attachment; filename", None),
        ] {
            assert_eq!(filename(disposition).as_deref(), name, "{disposition}");
        }
    }
}

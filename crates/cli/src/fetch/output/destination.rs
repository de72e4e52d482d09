//! The file that a response is written to, if any, and who named it.
//!
//! Rule: a name that the user has not seen names a new file in this folder and nothing else: `file_name.rs`
//! says which names do.

use std::{
    io::{IsTerminal as _, stdout},
    path::{Path, PathBuf},
};

use alula::{Response, fields::parameters};

use super::file_name;
use crate::fetch::plan::{glob, target::Target};
use crate::{
    args::{OutputArgs, OutputName},
    failure::exit::{Exit, Failure},
};

/// The place to which content is written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::fetch) enum Destination {
    Stdout {
        /// The user asked for it explicitly: even binary content is written to a terminal.
        is_forced: bool,
    },
    File {
        path: PathBuf,
        named_by: NamedBy,
    },
}

/// The origin of a file's name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::fetch) enum NamedBy {
    User,
    /// The URL, which the user has typed.
    Url,
    /// The response.
    Server,
    /// The response or the URL, with a number if the file exists.
    Free,
}

impl Destination {
    /// Returns the destination for a target.
    pub(in crate::fetch) fn of(args: &OutputArgs, target: &Target) -> Result<Self, Failure> {
        match args.name(target.place) {
            Some(OutputName::Given(path)) if path.as_os_str() == "-" => Ok(Self::named(path)),
            Some(OutputName::Given(path)) => Ok(Self::named(&within(args, &filled(path, &target.values)))),
            _ if args.is_download => {
                let name = file_name::of_segment(target.last_segment()).unwrap_or("index".into());
                Ok(Self::File { path: within(args, Path::new(&*name)), named_by: NamedBy::Free })
            }
            Some(OutputName::Remote) => {
                let segment = target.last_segment();
                let name = file_name::of_segment(segment).ok_or_else(|| nameless(target, segment))?;
                Ok(Self::File { path: within(args, Path::new(&*name)), named_by: NamedBy::Url })
            }
            None => Ok(Self::Stdout { is_forced: false }),
        }
    }

    /// Returns the destination for a path that the user typed; `-` is stdout.
    pub(in crate::fetch) fn named(path: &Path) -> Self {
        match path.as_os_str() == "-" {
            true => Self::Stdout { is_forced: true },
            false => Self::File { path: path.to_owned(), named_by: NamedBy::User },
        }
    }

    /// Returns the name that the response gives, if it is wanted and safe.
    pub(in crate::fetch) fn named_by(self, args: &OutputArgs, response: &Response) -> Self {
        let Self::File { path, named_by } = &self else { return self };
        let named_by = match named_by {
            NamedBy::Url if args.remote_header_name => NamedBy::Server,
            NamedBy::Free => NamedBy::Free,
            _ => return self,
        };
        let value = |name| std::str::from_utf8(response.headers().get(name)?).ok();
        let name = value(alula::KnownName::CONTENT_DISPOSITION)
            .and_then(|value| parameters::filename(value.as_bytes()));
        match name.filter(|name| file_name::is_harmless(name)) {
            Some(name) => Self::File { path: within(args, Path::new(&name)), named_by },
            // A download without a name from the server gets the extension of its media type, as in HTTPie.
            None if named_by == NamedBy::Free => {
                Self::File { path: with_extension(path, value(alula::KnownName::CONTENT_TYPE)), named_by }
            }
            None => self,
        }
    }

    pub(in crate::fetch) fn path(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::Stdout { .. } => None,
        }
    }

    pub(in crate::fetch) fn is_terminal(&self) -> bool {
        self.path().is_none() && stdout().is_terminal()
    }
}

/// The extensions from which programs know a file's type.
const EXTENSIONS: [(&str, &str); 14] = [
    ("text/html", "html"),
    ("text/plain", "txt"),
    ("text/css", "css"),
    ("text/csv", "csv"),
    ("text/javascript", "js"),
    ("application/json", "json"),
    ("application/xml", "xml"),
    ("application/pdf", "pdf"),
    ("application/zip", "zip"),
    ("application/gzip", "gz"),
    ("image/jpeg", "jpg"),
    ("image/png", "png"),
    ("image/gif", "gif"),
    ("image/svg+xml", "svg"),
];

/// Adds the extension of the media type, unless the path has one.
fn with_extension(path: &Path, media_type: Option<&str>) -> PathBuf {
    let essence = parameters::main(media_type.unwrap_or_default().as_bytes());
    let known = EXTENSIONS.iter().find(|(known, _)| essence.eq_ignore_ascii_case(known.as_bytes()));
    match known.filter(|_| path.extension().is_none()) {
        Some((_, extension)) => path.with_extension(extension),
        None => path.to_owned(),
    }
}

/// Replaces `#1` and so on in a path by the values of the URL's patterns.
fn filled(path: &Path, values: &[String]) -> PathBuf {
    match path.to_str() {
        Some(name) if !values.is_empty() => glob::named(name, values).into(),
        _ => path.to_owned(),
    }
}

fn within(args: &OutputArgs, path: &Path) -> PathBuf {
    match &args.output_dir {
        Some(folder) => folder.join(path),
        None => path.to_owned(),
    }
}

fn nameless(target: &Target, segment: &str) -> Failure {
    let url = &target.url;
    let sentence = match segment {
        "" => format!("the path of {url} has no name for -O: -o FILE gives one"),
        _ => format!("{segment:?} of {url} is no name for a file: -o FILE gives one"),
    };
    Failure::new(Exit::Usage, sentence).curl(23)
}

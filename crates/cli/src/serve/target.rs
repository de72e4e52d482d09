//! The mapping from the path of a request to a path within the folder, or to nothing.
//!
//! Rule: no segment that comes out of here is empty, `.`, `..` or hidden, or holds a separator or a NUL,
//! however it was encoded. `folder.rs` sees to it that links do not lead out either.

use std::{borrow::Cow, path::PathBuf};

use percent_encoding::percent_decode;

/// The beginning of the names of files that are being uploaded, which nobody sees or replaces.
pub(super) const INCOMING: &str = ".alula-upload-";

/// The target of a request within the folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Target {
    /// The path relative to the folder; empty for the folder itself.
    pub(super) path: PathBuf,
    /// The path ends in a slash: it can be a folder only.
    pub(super) is_folder: bool,
}

impl Target {
    /// Reads the path of a request, without its query; `None` when nothing here can have that name.
    pub(super) fn parse(path: &str, dot_files: bool) -> Option<Self> {
        let path = path.strip_prefix('/')?;
        let is_folder = path.is_empty() || path.ends_with('/');
        let mut found = PathBuf::new();
        // An empty segment, as in `//a`, is refused rather than passed over: one file has one path.
        if let Some(names) = (!path.is_empty()).then(|| path.strip_suffix('/').unwrap_or(path)) {
            for segment in names.split('/') {
                found.push(name(segment, dot_files)?);
            }
        }
        Some(Self { path: found, is_folder })
    }

    /// The one key of all paths that name this, of which `path` is one: as it is without escapes. It holds no
    /// `%`, so it is not taken for a path that means something else. A name with a `%` of its own, or that is
    /// no text, has no such key: there each spelling is one.
    pub(super) fn key<'p>(&self, path: &'p str) -> Cow<'p, str> {
        match self.path.to_str() {
            Some(names) if path.contains('%') && !names.contains('%') => {
                let end = if self.is_folder { "/" } else { "" };
                Cow::Owned(format!("/{names}{end}"))
            }
            _ => Cow::Borrowed(path),
        }
    }
}

/// Returns true if something in a folder can be asked for by this name.
pub(super) fn is_fit(name: &[u8], dot_files: bool) -> bool {
    let is_special = matches!(name, b"" | b"." | b"..");
    let is_hidden = (!dot_files && name.starts_with(b".")) || name.starts_with(INCOMING.as_bytes());
    !is_special && !is_hidden && !name.iter().any(|byte| is_refused(*byte))
}

/// Returns true if a name has no control characters, which terminals obey and lists of names are broken by.
/// Files that are there may have them; new ones are given none.
pub(super) fn is_plain(name: &[u8]) -> bool {
    !String::from_utf8_lossy(name).contains(char::is_control)
}

/// The path before the query.
pub(super) fn without_query(path: &str) -> &str {
    path.split_once('?').map_or(path, |(path, _)| path)
}

/// The name that a segment stands for. A malformed escape is refused, not guessed at.
fn name(segment: &str, dot_files: bool) -> Option<PathBuf> {
    let bytes = segment.as_bytes();
    let is_escape =
        |rest: &[u8]| matches!(rest, [a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit());
    if !bytes.split(|byte| *byte == b'%').skip(1).all(is_escape) {
        return None;
    }
    let name: Vec<u8> = percent_decode(bytes).collect();
    is_fit(&name, dot_files).then_some(())?;
    from_bytes(name)
}

/// Returns true for bytes that no name may hold: separators of any system, NUL, and on Windows the colon of
/// drives and streams.
const fn is_refused(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\' | 0) || (cfg!(windows) && byte == b':')
}

#[cfg(unix)]
fn from_bytes(name: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    Some(std::ffi::OsString::from_vec(name).into())
}

#[cfg(not(unix))]
fn from_bytes(name: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(name).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use super::*;

    #[test]
    fn control_characters_are_in_no_plain_name() {
        for name in ["a", "a b", "\u{e4}", "-rf", "...", "\u{a0}"] {
            assert!(is_plain(name.as_bytes()), "{name}");
        }
        for name in ["\n", "a\rb", "\x1b[31m", "\x7f", "\u{9b}31m", "\t"] {
            assert!(!is_plain(name.as_bytes()), "{name:?}");
        }
    }

    #[test]
    fn names_are_decoded_once() {
        for (path, found, is_folder) in [
            ("/", "", true),
            ("/a", "a", false),
            ("/a/", "a", true),
            ("/a/b.txt", "a/b.txt", false),
            ("/a%20b", "a b", false),
            ("/%41%e2%82%ac", "A\u{20ac}", false),
            ("/a%2520b", "a%20b", false),
            ("/%252e%252e", "%2e%2e", false),
            ("/...", "...", false),
            ("/a..b", "a..b", false),
            ("/a+b;c=d", "a+b;c=d", false),
        ] {
            let target = if path == "/..." { Target::parse(path, true) } else { Target::parse(path, false) };
            assert_eq!(target, Some(Target { path: found.into(), is_folder }), "{path}");
        }
    }

    #[test]
    fn all_spellings_have_one_key() {
        for (spellings, key) in [
            (&["/ab", "/%61b", "/a%62", "/%61%62"][..], "/ab"),
            (&["/a%20b/", "/%61%20b/"], "/a b/"),
            (&["/a%2520b"], "/a%2520b"),
            (&["/\u{20ac}", "/%e2%82%ac", "/%E2%82%AC"], "/\u{20ac}"),
            (&["/"], "/"),
        ] {
            for path in spellings {
                assert_eq!(Target::parse(path, false).unwrap().key(path), key, "{path}");
            }
        }
    }

    #[test]
    fn what_could_lead_elsewhere_is_nothing() {
        for path in [
            "",
            "*",
            "a",
            "//",
            "//a",
            "/a//b",
            "/a//",
            "/.",
            "/..",
            "/../",
            "/a/..",
            "/a/../b",
            "/a/./b",
            "/%2e",
            "/%2e%2e",
            "/%2E%2E/",
            "/.%2e",
            "/%2e.",
            "/a%2fb",
            "/a%2Fb",
            "/..%2f",
            "/%2f",
            "/%5c",
            "/a%5cb",
            "/..%5c..",
            "/a\\b",
            "/%00",
            "/a%00",
            "/a%00.txt",
            "/%",
            "/%2",
            "/%zz",
            "/a%",
            "/a%2/b",
            "/%2%65",
        ] {
            for dot_files in [false, true] {
                assert_eq!(Target::parse(path, dot_files), None, "{path}");
            }
        }
    }

    #[test]
    fn names_with_a_dot_are_hidden_unless_wanted() {
        for path in ["/.a", "/.git/config", "/a/.b/", "/%2ea", "/...", "/.alula-upload"] {
            assert_eq!(Target::parse(path, false), None, "{path}");
            assert!(Target::parse(path, true).is_some(), "{path}");
        }
        for path in ["/.alula-upload-0", "/a/%2ealula-upload-0", "/.alula-upload-/"] {
            assert_eq!(Target::parse(path, true), None, "{path}");
        }
    }

    #[test]
    fn every_short_path_stays_within() {
        const PIECES: [&str; 12] = ["/", "..", ".", "%2e", "%2F", "%5C", "\\", "%00", "a", "%", "%25", "2e"];
        let mut paths = vec![String::from("/")];
        for _ in 0..4 {
            let longer = paths.iter().flat_map(|path| PIECES.map(|piece| format!("{path}{piece}")));
            paths = longer.collect();
            for target in paths.iter().filter_map(|path| Target::parse(path, true)) {
                assert!(
                    target.path.components().all(|part| matches!(part, Component::Normal(_))),
                    "{target:?}"
                );
            }
        }
    }
}

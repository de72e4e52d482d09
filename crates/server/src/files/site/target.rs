//! Paths of requests, read as paths within the folder.
//!
//! Rule: no segment that comes out of here is empty, `.`, `..` or hidden, or holds a separator or a NUL,
//! however it was encoded. [`Root`](super::root::Root) sees to it that links do not lead out either.

use std::{borrow::Cow, path::PathBuf};

use crate::route::{Segments, decode};

/// The beginning of the names of files that are being stored, which nobody sees or replaces.
pub(in crate::files) const INCOMING: &str = ".alula-upload-";

/// The one name that begins with a dot and is served (RFC 8615).
const WELL_KNOWN: &[u8] = b".well-known";

/// The rules by which paths are read.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::files) struct Rules {
    /// Names that begin with a dot are served as well.
    pub(in crate::files) shows_hidden: bool,
    /// Empty segments are skipped, as the router does.
    pub(in crate::files) skips_empty: bool,
}

/// The target of a request within the folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::files) struct Target {
    /// The path relative to the folder; empty for the folder itself.
    pub(in crate::files) path: PathBuf,
    /// The path ends in a slash: it can be a folder only.
    pub(in crate::files) is_folder: bool,
}

impl Target {
    /// Reads a path below the folder, as it was written in a request, without its query; `None` when nothing
    /// here can have that name.
    pub(in crate::files) fn parse(path: &str, rules: Rules) -> Option<Self> {
        let is_folder = path.is_empty() || path.ends_with('/');
        let names = path.strip_suffix('/').unwrap_or(path);
        let mut found = PathBuf::new();
        // An empty segment, as in `a//b`, is refused unless the router skips them: one file has one path.
        let is_skipped = |segment: &&str| segment.is_empty() && rules.skips_empty;
        if !path.is_empty() {
            for segment in names.split('/').filter(|segment| !is_skipped(segment)) {
                found.push(name(segment, rules.shows_hidden)?);
            }
        }
        Some(Self { path: found, is_folder })
    }

    /// Returns the one key of all paths that name this, of which `path` is one: as it is without escapes. It
    /// holds no `%`, so it is not taken for a path that means something else. A name with a `%` of its own,
    /// or that is no text, has no such key: there each spelling is one.
    pub(in crate::files) fn key<'p>(&self, path: &'p str) -> Cow<'p, str> {
        match self.path.to_str() {
            Some(names) if is_spelled(path) && !names.contains('%') => {
                let end = if self.is_folder && !names.is_empty() { "/" } else { "" };
                Cow::Owned(format!("{names}{end}"))
            }
            _ => Cow::Borrowed(path),
        }
    }
}

/// Returns true if a path may be another spelling of one without escapes and empty segments.
fn is_spelled(path: &str) -> bool {
    path.contains('%') || path.contains("//") || path.starts_with('/')
}

/// Returns true if something in a folder can be asked for by this name.
pub(in crate::files) fn is_fit(name: &[u8], shows_hidden: bool) -> bool {
    let is_special = matches!(name, b"" | b"." | b"..");
    let is_hidden = !shows_hidden && name.starts_with(b".") && name != WELL_KNOWN;
    let is_refused = is_special || is_hidden || name.starts_with(INCOMING.as_bytes());
    !is_refused && !name.iter().any(|byte| is_separator(*byte)) && is_kept_by_system(name)
}

/// Returns the name that a segment stands for. A malformed escape is refused, not guessed at.
fn name(segment: &str, shows_hidden: bool) -> Option<PathBuf> {
    let name = decode(segment.as_bytes(), Segments::STRICT).ok()?;
    is_fit(&name, shows_hidden).then_some(())?;
    from_bytes(name.into_owned())
}

/// Returns true for bytes that no name may hold: separators of any system, NUL, and on Windows the colon of
/// drives and streams.
const fn is_separator(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\' | 0) || (cfg!(windows) && byte == b':')
}

/// Returns true unless Windows opens something else by this name: it drops dots and blanks at the end of
/// names, and `NUL`, `COM1` and others are devices in every folder, with any extension.
fn is_kept_by_system(name: &[u8]) -> bool {
    !cfg!(windows) || is_plain_on_windows(name)
}

fn is_plain_on_windows(name: &[u8]) -> bool {
    const DEVICES: [&[u8]; 6] = [b"con", b"prn", b"aux", b"nul", b"conin$", b"conout$"];
    let stem = name.split(|byte| *byte == b'.').next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
    let number = stem.strip_prefix(b"com").or_else(|| stem.strip_prefix(b"lpt"));
    // Superscript digits count as digits there.
    let is_port = matches!(number, Some([b'0'..=b'9'] | [0xc2, 0xb9 | 0xb2 | 0xb3]));
    !name.ends_with(b".") && !name.ends_with(b" ") && !DEVICES.contains(&&*stem) && !is_port
}

#[cfg(unix)]
pub(in crate::files) fn from_bytes(name: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    Some(std::ffi::OsString::from_vec(name).into())
}

#[cfg(not(unix))]
pub(in crate::files) fn from_bytes(name: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(name).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use super::*;

    /// Reads a path of a request for the whole folder.
    fn parse(path: &str, rules: Rules) -> Option<Target> {
        Target::parse(path.strip_prefix('/').unwrap(), rules)
    }

    const STRICT: Rules = Rules { shows_hidden: false, skips_empty: false };
    const HIDDEN: Rules = Rules { shows_hidden: true, skips_empty: false };

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
            let rules = if path == "/..." { HIDDEN } else { STRICT };
            assert_eq!(parse(path, rules), Some(Target { path: found.into(), is_folder }), "{path}");
        }
    }

    #[test]
    fn all_spellings_have_one_key() {
        for (spellings, key) in [
            (&["/ab", "/%61b", "/a%62", "/%61%62"][..], "ab"),
            (&["/a%20b/", "/%61%20b/"], "a b/"),
            (&["/a%2520b"], "a%2520b"),
            (&["/\u{20ac}", "/%e2%82%ac", "/%E2%82%AC"], "\u{20ac}"),
            (&["/"], ""),
        ] {
            for path in spellings {
                assert_eq!(parse(path, STRICT).unwrap().key(&path[1..]), key, "{path}");
            }
        }
    }

    #[test]
    fn what_could_lead_elsewhere_is_nothing() {
        for path in [
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
            for rules in [STRICT, HIDDEN] {
                assert_eq!(parse(path, rules), None, "{path}");
            }
        }
    }

    #[test]
    fn names_with_a_dot_are_hidden_unless_wanted() {
        for path in ["/.a", "/.git/config", "/a/.b/", "/%2ea", "/...", "/.alula-upload"] {
            assert_eq!(parse(path, STRICT), None, "{path}");
            assert!(parse(path, HIDDEN).is_some(), "{path}");
        }
        for path in ["/.alula-upload-0", "/a/%2ealula-upload-0", "/.alula-upload-/"] {
            assert_eq!(parse(path, HIDDEN), None, "{path}");
        }
        for path in ["/.well-known/security.txt", "/a/.well-known/"] {
            assert!(parse(path, STRICT).is_some(), "{path}");
        }
        assert_eq!(parse("/.well-known/.git", STRICT), None);
    }

    #[test]
    fn empty_segments_are_skipped_where_the_router_does() {
        let rules = Rules { skips_empty: true, ..STRICT };
        for (path, found, key) in
            [("//", "", ""), ("/a//b", "a/b", "a/b"), ("//a//", "a", "a/"), ("///a", "a", "a")]
        {
            let target = parse(path, rules).unwrap();
            assert_eq!((target.path.to_str(), &*target.key(&path[1..])), (Some(found), key), "{path}");
        }
        assert_eq!(parse("/a//../b", rules), None);
    }

    /// Windows opens the console for `con.txt`, and `a.txt` for `a.txt.`.
    #[test]
    fn names_that_windows_reads_otherwise_are_plain_nowhere_there() {
        for name in
            ["con", "NUL", "aux.txt", "COM1", "lpt9.log", "com\u{b9}", "a.txt.", "a ", "con .txt", "CONIN$"]
        {
            assert!(!is_plain_on_windows(name.as_bytes()), "{name}");
        }
        for name in ["console", "com", "command", "com10", "nul1", "a.con", ".nul", "lpt"] {
            assert!(is_plain_on_windows(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn every_short_path_stays_within() {
        const PIECES: [&str; 12] = ["/", "..", ".", "%2e", "%2F", "%5C", "\\", "%00", "a", "%", "%25", "2e"];
        let mut paths = vec![String::from("/")];
        for _ in 0..4 {
            let longer = paths.iter().flat_map(|path| PIECES.map(|piece| format!("{path}{piece}")));
            paths = longer.collect();
            for target in paths.iter().filter_map(|path| parse(path, HIDDEN)) {
                assert!(
                    target.path.components().all(|part| matches!(part, Component::Normal(_))),
                    "{target:?}"
                );
            }
        }
    }
}

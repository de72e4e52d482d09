//! The Netscape file format: seven columns between tabs, as curl reads and writes them.

use std::{
    fmt::{self, Write as _},
    time::{SystemTime, UNIX_EPOCH},
};

use cookie_store::{Cookie, CookieDomain, CookieExpiration, CookieStore};
use url::Url;

use super::rules;
use crate::url::reference;

/// The prefix before the domain of an `HttpOnly` cookie.
const HTTP_ONLY: &str = "#HttpOnly_";

/// The columns: domain, `TRUE` if hosts below it match, path, `TRUE` if secure, expiry, name, value.
type Columns<'l> = [&'l str; 7];

pub(super) fn format(store: &CookieStore) -> String {
    let mut lines: Vec<String> = store.iter_unexpired().filter_map(line).collect();
    lines.sort_unstable();
    ["# Netscape HTTP Cookie File\n".to_owned(), lines.concat()].concat()
}

fn line(cookie: &Cookie<'_>) -> Option<String> {
    let (dot, domain) = match &cookie.domain {
        CookieDomain::Suffix(domain) => (".", domain),
        CookieDomain::HostOnly(domain) => ("", domain),
        CookieDomain::NotPresent | CookieDomain::Empty => return None,
    };
    let only = if cookie.http_only() == Some(true) { HTTP_ONLY } else { "" };
    let expires = match &cookie.expires {
        CookieExpiration::AtUtc(date) => date.unix_timestamp(),
        CookieExpiration::SessionEnd => 0,
    };
    let (name, value) = cookie.name_value();
    let mut line = format!("{only}{dot}{domain}\t{}\t{}\t", truth(!dot.is_empty()), &*cookie.path);
    let is_secure = truth(cookie.secure() == Some(true));
    // A tab in a value would begin another column; a semicolon in a path, which may come from the URL, cannot
    // be read again.
    (!name.contains('\t') && !value.contains('\t') && !cookie.path.contains(';')).then(|| {
        let _ = writeln!(line, "{is_secure}\t{expires}\t{name}\t{value}");
        line
    })
}

const fn truth(is: bool) -> &'static str {
    if is { "TRUE" } else { "FALSE" }
}

/// The result of importing a file: the number of stored cookies, and the skipped lines.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NetscapeImport {
    kept: usize,
    skipped: Vec<SkippedLine>,
}

impl NetscapeImport {
    /// Returns the number of stored cookies.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Returns the lines without a stored cookie, except comments and expired cookies.
    pub fn skipped(&self) -> &[SkippedLine] {
        &self.skipped
    }
}

/// A line of a file of cookies that was skipped. It does not have the text of the line, which may be a
/// secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SkippedLine {
    number: usize,
    reason: &'static str,
}

impl SkippedLine {
    /// Returns the number of the line, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the reason in words.
    pub fn reason(&self) -> &'static str {
        self.reason
    }
}

impl fmt::Display for SkippedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.number, self.reason)
    }
}

pub(super) fn read(store: &mut CookieStore, file: &[u8]) -> NetscapeImport {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut import = NetscapeImport::default();
    for (place, line) in file.split(|byte| *byte == b'\n').enumerate() {
        match read_line(store, line.strip_suffix(b"\r").unwrap_or(line), now) {
            Ok(kept) => import.kept += usize::from(kept),
            Err(reason) => import.skipped.push(SkippedLine { number: place + 1, reason }),
        }
    }
    import
}

/// Parses a line; returns true if it had a cookie, which is stored now.
fn read_line(store: &mut CookieStore, line: &[u8], now: u64) -> Result<bool, &'static str> {
    let line = std::str::from_utf8(line).map_err(|_| "it is not in UTF-8")?;
    let (only, line) = match line.strip_prefix(HTTP_ONLY) {
        Some(line) => ("; HttpOnly", line),
        // This comes after `#HttpOnly_`, which looks like a comment to programs that do not know it.
        None if line.starts_with('#') || line.trim().is_empty() => return Ok(false),
        None => ("", line),
    };
    let columns = columns(line).ok_or("it does not have seven columns between tabs")?;
    let Some((url, cookie)) = cookie(columns, only, now)? else { return Ok(false) };
    rules::insert(store, &cookie, &url).map(|()| true)
}

fn columns(line: &str) -> Option<Columns<'_>> {
    let mut parts = line.split('\t');
    let columns = std::array::from_fn(|_| parts.next());
    let is_whole = parts.next().is_none() && columns[..6].iter().all(Option::is_some);
    // An empty value may have lost its tab.
    is_whole.then(|| columns.map(Option::unwrap_or_default))
}

/// Returns the cookie as a server would set it, and its URL; none if it has expired.
fn cookie(columns: Columns<'_>, only: &str, now: u64) -> Result<Option<(Url, String)>, &'static str> {
    let [domain, below, path, secure, expires, name, value] = columns;
    let host = domain.trim_start_matches('.');
    // The time of some browsers has a fraction.
    let expires: f64 = expires.parse().map_err(|_| "the date of the cookie is no number")?;
    let age = match expires as u64 {
        0 => String::new(),
        expires if expires <= now => return Ok(None),
        expires => format!("; Max-Age={}", expires - now),
    };
    if [path, name, value].iter().any(|part| part.contains(';')) {
        return Err("the cookie holds a semicolon");
    }
    // Read as if it came over TLS: the file is the user's own, and may hold secure cookies.
    let url = reference::parse(&format!("https://{host}{path}"));
    let url = url.map_err(|_| "the domain or path of the cookie is none")?;
    let below = if below == "TRUE" { format!("; Domain={host}") } else { String::new() };
    let secure = if secure == "TRUE" { "; Secure" } else { "" };
    Ok(Some((url, format!("{name}={value}; Path={path}{below}{age}{secure}{only}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fuzzing found it: a server could make the file of a jar unreadable, with all that others had set.
    #[test]
    fn a_tab_in_a_path_does_not_spoil_the_file() {
        let mut store = CookieStore::default();
        let url = Url::parse("https://www.example.com/").unwrap();
        rules::insert(&mut store, "good=1; Path=/", &url).unwrap();
        rules::insert(&mut store, "bad=1; Path=/com\tFALSE\t/x", &url).unwrap_err();
        assert_eq!(kept(&format(&store)), (1, vec![]));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut store = CookieStore::default();
        let url = Url::parse("https://www.example.com/a/b").unwrap();
        for text in [
            "session=1; Path=/",
            "wide=2; Domain=example.com; Path=/a",
            "kept=3; Max-Age=1000; Secure; HttpOnly",
            "empty=; Path=/",
            "quoted=\"a b\"; Path=/",
        ] {
            rules::insert(&mut store, text, &url).unwrap();
        }
        let text = format(&store);
        let mut again = CookieStore::default();
        assert_eq!(read(&mut again, text.as_bytes()), NetscapeImport { kept: 5, skipped: vec![] });
        let dates = |text: &str| text.split('\t').map(|column| column.len()).collect::<Vec<_>>();
        let second = format(&again);
        // A second may have passed.
        assert_eq!((second.lines().count(), dates(&second)), (6, dates(&text)));
        assert!(text.contains("\n.example.com\tTRUE\t/a\tFALSE\t0\twide\t2\n"), "{text}");
        assert!(text.contains("\nwww.example.com\tFALSE\t/\tFALSE\t0\tempty\t\n"), "{text}");
        assert!(text.contains("#HttpOnly_www.example.com\tFALSE\t/a\tTRUE\t"), "{text}");
    }

    #[test]
    fn files_of_others_are_read() {
        for (line, kept_or_not) in [
            ("# a comment", Some(0)),
            ("", Some(0)),
            ("example.com\tFALSE\t/\tFALSE\t0\ta\tb", Some(1)),
            ("example.com\tFALSE\t/\tFALSE\t0\ta", Some(1)),
            (".example.com\tTRUE\t/\tTRUE\t9999999999.5\ta\tb", Some(1)),
            ("example.com\tFALSE\t/\tFALSE\t1000000000\ta\tb", Some(0)),
            ("example.com\tFALSE\t/\tFALSE\tsoon\ta\tb", None),
            ("example.com\tFALSE\t/\tFALSE\t0\ta\tb; Domain=com", None),
            ("example.com FALSE / FALSE 0 a b", None),
            ("example.com\tFALSE\t/\tFALSE\t0\ta\tb\tc", None),
            ("\tFALSE\t/\tFALSE\t0\ta\tb", None),
            ("example.com\tFALSE\t/\tFALSE\t0\t__Host-a\tb", None),
        ] {
            let (kept, skipped) = kept(line);
            assert_eq!(skipped.is_empty().then_some(kept), kept_or_not, "{line:?}");
        }
    }

    /// Checks that a bad line costs only itself: it once made the whole file unreadable, on every later
    /// run.
    #[test]
    fn a_bad_line_is_skipped_and_leaves_the_others() {
        let good = |name: &[u8]| [&b"example.com\tFALSE\t/\tFALSE\t0\t"[..], name, b"\tb"].concat();
        let file =
            [&good(b"a")[..], b"bad", &good(b"\xff"), b"", &good(b"b"), b"#", b"c\td\r", &good(b"c"), b""];
        let mut store = CookieStore::default();
        let import = read(&mut store, &file.join(&b'\n'));
        let skipped: Vec<usize> = import.skipped().iter().map(SkippedLine::number).collect();
        assert_eq!((import.kept(), &skipped[..]), (3, &[2, 3, 7][..]));
        let said = import.skipped()[0].to_string();
        assert_eq!(said, "line 2: it does not have seven columns between tabs");
    }

    /// The number of cookies that are kept, and why lines are not.
    fn kept(text: &str) -> (usize, Vec<&'static str>) {
        let import = read(&mut CookieStore::default(), text.as_bytes());
        (import.kept(), import.skipped().iter().map(SkippedLine::reason).collect())
    }
}

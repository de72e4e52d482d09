//! The file format of Netscape: seven columns between tabs, as curl reads and writes them.

use std::{
    fmt::Write as _,
    time::{SystemTime, UNIX_EPOCH},
};

use alula_net::Error;
use cookie_store::{Cookie, CookieDomain, CookieExpiration, CookieStore};
use url::Url;

use super::rules;

/// Before the domain of a cookie that scripts do not see.
const HTTP_ONLY: &str = "#HttpOnly_";

/// Domain, whether hosts below it have it too, path, whether only over TLS, when it expires, name, value.
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
    // A tab in a value would begin another column.
    (!name.contains('\t') && !value.contains('\t')).then(|| {
        let _ = writeln!(line, "{is_secure}\t{expires}\t{name}\t{value}");
        line
    })
}

const fn truth(is: bool) -> &'static str {
    if is { "TRUE" } else { "FALSE" }
}

pub(super) fn read(store: &mut CookieStore, text: &str) -> Result<usize, Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut kept = 0;
    for line in text.lines() {
        let (only, line) = match line.strip_prefix(HTTP_ONLY) {
            Some(line) => ("; HttpOnly", line),
            None if line.starts_with('#') || line.trim().is_empty() => continue,
            None => ("", line),
        };
        let columns = columns(line).ok_or(Error::usage("a line is not of the format of Netscape"))?;
        if let Some((url, cookie)) = cookie(columns, only, now)? {
            kept += usize::from(rules::insert(store, &cookie, &url).is_ok());
        }
    }
    Ok(kept)
}

fn columns(line: &str) -> Option<Columns<'_>> {
    let mut parts = line.split('\t');
    let columns = std::array::from_fn(|_| parts.next());
    let is_whole = parts.next().is_none() && columns[..6].iter().all(Option::is_some);
    // An empty value may have lost its tab.
    is_whole.then(|| columns.map(Option::unwrap_or_default))
}

/// The cookie as a server would set it, and where it would; none when it has expired.
fn cookie(columns: Columns<'_>, only: &str, now: u64) -> Result<Option<(Url, String)>, Error> {
    let [domain, below, path, secure, expires, name, value] = columns;
    let host = domain.trim_start_matches('.');
    // The time of some browsers has a fraction.
    let expires: f64 = expires.parse().map_err(|_| Error::usage("the date of a cookie is no number"))?;
    let age = match expires as u64 {
        0 => String::new(),
        expires if expires <= now => return Ok(None),
        expires => format!("; Max-Age={}", expires - now),
    };
    if [path, name, value].iter().any(|part| part.contains(';')) {
        return Err(Error::usage("a cookie holds a semicolon"));
    }
    let url = Url::parse(&format!("https://{host}{path}"));
    let url = url.map_err(|_| Error::usage("the domain or path of a cookie is none"))?;
    let below = if below == "TRUE" { format!("; Domain={host}") } else { String::new() };
    let secure = if secure == "TRUE" { "; Secure" } else { "" };
    Ok(Some((url, format!("{name}={value}; Path={path}{below}{age}{secure}{only}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(read(&mut again, &text).unwrap(), 5);
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
        for (line, kept) in [
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
        ] {
            assert_eq!(read(&mut CookieStore::default(), line).ok(), kept, "{line:?}");
        }
    }
}

//! A jar that hostile sites and files fill: what it says is a field, reaches only who may have it, and
//! survives its file.

use alula_client::{Jar, NetscapeImport, SkippedLine};
use alula_fields::bytes;

/// Where cookies come from.
const SITES: [&str; 5] = [
    "https://www.example.com/a/b",
    "http://www.example.com/",
    "https://example.co.uk/",
    "https://[::1]:8443/",
    "http://127.0.0.1/",
];

/// The first byte chooses a site, or a file; each line of the others is a cookie, or a line of the file.
pub fn cookies(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let text = std::str::from_utf8(rest).unwrap_or_default();
    let jar = Jar::new();
    let site = SITES.get(usize::from(*first) % (SITES.len() + 1));
    match site {
        // A cookie that is refused leaves the others.
        Some(site) => text.lines().for_each(|line| drop(jar.add(site, line))),
        None => is_accounted_for(&jar.add_netscape(rest), rest),
    }
    let count = jar.len();
    assert!(count <= 3000 && jar.is_empty() == (count == 0));
    let said: Vec<Option<String>> = SITES.map(|site| jar.cookies_for(site).expect("a URL")).into();
    for value in said.iter().flatten() {
        assert!(bytes::is_field_value(value.as_bytes()) && !value.is_empty(), "{value:?}");
    }
    if let Some(site) = site {
        stays_with(site, &jar, text);
    }
    survives(&jar);
}

/// No line counts twice.
fn is_accounted_for(import: &NetscapeImport, file: &[u8]) {
    let lines = file.split(|byte| *byte == b'\n').count();
    let numbers: Vec<usize> = import.skipped().iter().map(SkippedLine::number).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next) && numbers.iter().all(|number| *number <= lines));
    assert!(import.kept() + numbers.len() <= lines, "{import:?}");
}

/// What a site sets, sites of others do not see.
fn stays_with(site: &str, jar: &Jar, text: &str) {
    let foreign = ["https://www.example.org/", "https://com/", "https://co.uk/", "https://xample.com/"];
    for other in foreign {
        assert_eq!(jar.cookies_for(other).expect("a URL"), None, "{site} {text:?}");
    }
    let is_secure =
        text.lines().all(|line| line.to_ascii_lowercase().split(';').any(|part| part.trim() == "secure"));
    if is_secure && site.starts_with("https://www") {
        assert_eq!(jar.cookies_for("http://www.example.com/a/b").expect("a URL"), None, "{text:?}");
    }
}

/// What is written to a file is read from it again; the seconds that cookies have left may have changed
/// meanwhile.
fn survives(jar: &Jar) {
    let file = jar.to_netscape();
    let cookies = file.lines().skip(1).count();
    assert!(cookies <= jar.len());
    let again = Jar::new();
    let import = again.add_netscape(&file);
    assert!(import.skipped().is_empty(), "{:?} of {file:?}", import.skipped());
    let kept = import.kept();
    let lasting = file.lines().skip(1).filter(|line| line.split('\t').nth(4) == Some("0")).count();
    assert!((lasting..=cookies).contains(&kept), "{kept} of {cookies}, {lasting} without a date: {file:?}");
}

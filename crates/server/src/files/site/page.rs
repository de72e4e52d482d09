//! The page of a folder that has none of its own.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::listing::{Listed, Listing, Place};

/// The characters that need no encoding in a segment of a reference (RFC 3986 §2.3). A colon is encoded: it
/// would make a scheme of the text before it.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Bytes of a page, beyond which the rest is on the next one: 10 000 names that are as long as names are take
/// a quarter of it.
pub(super) const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Returns the page of HTML that leads to what is in the folder, with more HTML at its end.
pub(super) fn render(path: &Path, listing: &Listing, footer: &str) -> Vec<u8> {
    let mut title = String::from("/");
    for part in path {
        push_text(&mut title, &part.to_string_lossy());
        title.push('/');
    }
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n{STYLE}\
         <h1><bdi>{title}</bdi></h1>\n<table>\n{HEAD}"
    );
    if path.components().next().is_some() {
        // The served folder itself has none above it that could be asked for.
        page.push_str("<tr class=\"up\"><td><a href=\"../\">../</a><td><td>\n");
    }
    page.push_str("<tbody>\n");
    let mut rest = listing.listed.iter();
    let mut last = None;
    while page.len() <= PAGE_BYTES_MAX
        && let Some(entry) = rest.next()
    {
        push_row(&mut page, entry);
        last = Some(&entry.place);
    }
    page.push_str("</table>\n");
    let left = rest.len() + listing.left;
    if let Some(last) = last.filter(|_| left > 0) {
        page.push_str("<p><a href=\"?after=");
        push_reference(&mut page, last);
        page.push_str(&format!("\">{left} more</a>\n"));
    }
    page.push_str(footer);
    page.push_str(SCRIPT);
    page.into_bytes()
}

const STYLE: &str = "\
<style>
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem; overflow-wrap: anywhere; }
th { text-align: left; }
td, th { padding-right: 2rem; vertical-align: top; }
td + td, th + th { text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
button { all: unset; cursor: pointer; }
button:focus-visible { outline: auto; }
@media (max-width: 40rem) { body { margin: 1rem; } td, th { padding-right: .75rem; } }
</style>
";

/// The headings, which sort the rows below.
const HEAD: &str = "\
<thead><tr class=\"head\"><th><button>Name</button><th><button>Size</button><th><button>Modified</button>
";

/// Sorts the rows by a column when its heading is chosen, and the other way round the next time; folders have
/// the least size.
const SCRIPT: &str = r#"<script>
let last = 0, sign = 1;
document.querySelectorAll("th button").forEach((button, at) => button.onclick = () => {
  const body = document.querySelector("tbody"), of = row => row.cells[at].dataset.of ?? row.cells[at].textContent;
  sign = at === last ? -sign : 1;
  last = at;
  body.append(...[...body.rows].sort((a, b) => sign * of(a).localeCompare(of(b), undefined, { numeric: true })));
});
</script>
"#;

fn push_row(page: &mut String, entry: &Listed) {
    page.push_str("<tr><td><a href=\"");
    push_reference(page, &entry.place);
    page.push_str("\"><bdi>");
    push_text(page, &entry.place.name.to_string_lossy());
    page.push_str("</bdi>");
    page.push_str(slash(&entry.place));
    page.push_str("</a>");
    let length = entry.length;
    match entry.place.is_file {
        true => page.push_str(&format!("<td data-of=\"{length}\" title=\"{length} bytes\">{}", size(length))),
        false => page.push_str("<td>"),
    }
    page.push_str("<td>");
    page.push_str(&entry.modified.and_then(date).unwrap_or_default());
    page.push('\n');
}

/// Adds the reference to an entry of the folder.
fn push_reference(page: &mut String, place: &Place) {
    page.extend(percent_encode(place.name.as_encoded_bytes(), SEGMENT));
    page.push_str(slash(place));
}

const fn slash(place: &Place) -> &'static str {
    if place.is_file { "" } else { "/" }
}

/// Formats a size as people read it, with three digits or so.
fn size(bytes: u64) -> String {
    let mut scaled = bytes as f64;
    for unit in ["B", "kB", "MB", "GB", "TB"] {
        match scaled {
            _ if unit == "B" && scaled < 1000.0 => return format!("{bytes} B"),
            ..9.95 if unit != "B" => return format!("{scaled:.1} {unit}"),
            ..999.5 if unit != "B" => return format!("{scaled:.0} {unit}"),
            _ => scaled /= 1000.0,
        }
    }
    format!("{scaled:.0} PB")
}

/// Formats a time like `2026-11-26 00:54`, in UTC; `None` if its year has no four digits.
fn date(time: SystemTime) -> Option<String> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let years = SystemTime::UNIX_EPOCH..SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_800);
    // `Sat, 21 Nov 2026 15:14:35 GMT`.
    let text = years.contains(&time).then(|| httpdate::fmt_http_date(time))?;
    let month = MONTHS.find(text.get(8..11)?)? / 3 + 1;
    Some(format!("{}-{month:02}-{} {}", text.get(12..16)?, text.get(5..7)?, text.get(17..22)?))
}

/// Adds text in which nothing is markup, in an element or between quotes.
fn push_text(page: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            // Neither a line of its own nor anything else that does not show.
            control if control.is_control() || is_direction(control) => {
                page.push(char::REPLACEMENT_CHARACTER)
            }
            other => page.push(other),
        }
    }
}

/// Returns true for the marks that turn the direction of what follows (UAX #9 §2.1 to §2.4), with which
/// `exe.png` can be shown for `gnp.exe`.
const fn is_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the page of files with a length, and of folders without, of which so many more are left.
    fn page(path: &str, names: &[(&str, Option<u64>)], left: usize) -> String {
        let modified = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777));
        let listed = names.iter().map(|(name, length)| Listed {
            place: Place { is_file: length.is_some(), name: name.into() },
            length: length.unwrap_or_default(),
            modified,
        });
        let listing = Listing { listed: listed.collect(), left };
        String::from_utf8(render(Path::new(path), &listing, "<p>footer\n")).unwrap()
    }

    #[test]
    fn names_are_neither_markup_nor_references() {
        for (name, href, text) in [
            ("a b", "a%20b", "a b"),
            ("<img src=x>", "%3Cimg%20src%3Dx%3E", "&lt;img src=x&gt;"),
            ("\"'&", "%22%27%26", "&quot;&#39;&amp;"),
            ("javascript:alert(1)", "javascript%3Aalert%281%29", "javascript:alert(1)"),
            ("100%?#", "100%25%3F%23", "100%?#"),
            ("\u{20ac}", "%E2%82%AC", "\u{20ac}"),
            ("a\nb", "a%0Ab", "a\u{fffd}b"),
            ("photo_\u{202e}gnp.exe", "photo_%E2%80%AEgnp.exe", "photo_\u{fffd}gnp.exe"),
            ("\u{5d0}\u{5d1}\u{200f}.txt", "%D7%90%D7%91%E2%80%8F.txt", "\u{5d0}\u{5d1}\u{200f}.txt"),
        ] {
            let page = page("", &[(name, Some(1))], 0);
            assert!(page.contains(&format!("<a href=\"{href}\"><bdi>{text}</bdi></a>")), "{name:?}: {page}");
        }
        assert!(page("a<b", &[], 0).contains("<h1><bdi>/a&lt;b/</bdi></h1>"));
    }

    #[test]
    fn folders_end_in_a_slash_and_files_have_a_length() {
        let page = page("sub", &[("f", Some(1234)), ("g", None)], 0);
        let rows = "\
            <tr><td><a href=\"f\"><bdi>f</bdi></a><td data-of=\"1234\" title=\"1234 bytes\">1.2 kB<td>1994-11-06 08:49\n\
            <tr><td><a href=\"g/\"><bdi>g</bdi>/</a><td><td>1994-11-06 08:49\n";
        assert!(page.contains(rows), "{page}");
        assert!(page.contains("<a href=\"../\">"), "{page}");
    }

    #[test]
    fn the_top_has_nothing_above_and_what_is_left_is_behind_a_link() {
        let page = page("", &[("a b", None)], 7);
        assert!(!page.contains("../"), "{page}");
        let end = "</table>\n<p><a href=\"?after=a%20b/\">7 more</a>\n<p>footer\n";
        assert!(page.contains(end), "{page}");
        assert_eq!(Place::of_query("after=a%20b/"), Some(Place { is_file: false, name: "a b".into() }));
    }

    #[test]
    fn a_page_is_bounded_and_the_next_one_goes_on() {
        let long = "\u{20ac}".repeat(85);
        let names = vec![(&*long, Some(1)); 10_000];
        let page = page("", &names, 5);
        let shown = page.matches("<tr>").count();
        assert!(page.len() < PAGE_BYTES_MAX + 4096 && shown < 10_000, "{} bytes", page.len());
        assert!(page.contains(&format!("\">{} more</a>", 10_005 - shown)));
    }

    /// A row of a long name is as narrow as its longest character: 375 pixels are enough.
    #[test]
    fn names_of_any_length_are_broken_into_lines() {
        let page = page("", &[], 0);
        assert!(page.contains("width=device-width") && page.contains("overflow-wrap: anywhere"), "{page}");
    }

    #[test]
    fn sizes_and_dates_are_short() {
        for (bytes, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (9_949, "9.9 kB"),
            (9_951, "10 kB"),
            (999_499, "999 kB"),
            (999_501, "1.0 MB"),
            (64 << 30, "69 GB"),
            (u64::MAX, "18447 PB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
        assert_eq!(date(SystemTime::UNIX_EPOCH).as_deref(), Some("1970-01-01 00:00"));
        let day = Duration::from_secs(86_400);
        assert_eq!(date(SystemTime::UNIX_EPOCH - day), None);
        assert_eq!(date(SystemTime::UNIX_EPOCH + day * 4_000_000), None);
    }
}

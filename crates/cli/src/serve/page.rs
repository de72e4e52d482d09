//! The page of a folder that has none of its own.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::folder::Listed;

/// What stands for itself in a segment of a reference (RFC 3986 §2.3); a colon would make a scheme of what is before it.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Octets of a page, beyond which no more is shown: 10 000 names that are as long as names are take a quarter of it.
pub(super) const PAGE_OCTETS_MAX: usize = 4 * 1024 * 1024;

/// A page of HTML that leads to what is in the folder.
pub(super) fn render(path: &Path, listed: &[Listed], is_cut: bool) -> Vec<u8> {
    let mut title = String::from("/");
    for part in path {
        push_text(&mut title, &part.to_string_lossy());
        title.push('/');
    }
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n{STYLE}\
         <h1>{title}</h1>\n<table>\n"
    );
    if path.components().next().is_some() {
        page.push_str("<tr><td><a href=\"../\">../</a><td>\n");
    }
    let mut shown = 0;
    for entry in listed {
        if page.len() > PAGE_OCTETS_MAX {
            break;
        }
        push_row(&mut page, entry);
        shown += 1;
    }
    page.push_str("</table>\n");
    if is_cut || shown < listed.len() {
        page.push_str(&format!("<p>There is more than these {shown}.\n"));
    }
    page.into_bytes()
}

const STYLE: &str = "\
<style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem; }
td { padding-right: 2rem; }
td + td { text-align: right; font-variant-numeric: tabular-nums; }
</style>
";

fn push_row(page: &mut String, entry: &Listed) {
    page.push_str("<tr><td><a href=\"");
    page.extend(percent_encode(entry.name.as_encoded_bytes(), SEGMENT));
    let slash = if entry.length.is_none() { "/" } else { "" };
    page.push_str(slash);
    page.push_str("\">");
    push_text(page, &entry.name.to_string_lossy());
    page.push_str(slash);
    page.push_str("</a><td>");
    if let Some(length) = entry.length {
        page.push_str(&length.to_string());
    }
    page.push('\n');
}

/// Text in which nothing is markup, in an element or between quotes.
fn push_text(page: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            // Neither a line of its own nor anything else that does not show.
            control if control.is_control() => page.push(char::REPLACEMENT_CHARACTER),
            other => page.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, names: &[(&str, Option<u64>)], is_cut: bool) -> String {
        let listed: Vec<_> =
            names.iter().map(|(name, length)| Listed { name: name.into(), length: *length }).collect();
        String::from_utf8(render(Path::new(path), &listed, is_cut)).unwrap()
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
        ] {
            let page = page("", &[(name, Some(1))], false);
            assert!(page.contains(&format!("<a href=\"{href}\">{text}</a>")), "{name:?}: {page}");
        }
        assert!(page("a<b", &[], false).contains("<h1>/a&lt;b/</h1>"));
    }

    #[test]
    fn folders_end_in_a_slash_and_files_have_a_length() {
        let page = page("sub", &[("f", Some(1234)), ("g", None)], false);
        assert!(
            page.contains("<tr><td><a href=\"f\">f</a><td>1234\n<tr><td><a href=\"g/\">g/</a><td>\n"),
            "{page}"
        );
        assert!(page.contains("<a href=\"../\">"), "{page}");
    }

    #[test]
    fn the_top_has_nothing_above_and_a_cut_is_said() {
        let page = page("", &[], true);
        assert!(!page.contains("../") && page.contains("more than these 0."), "{page}");
    }

    #[test]
    fn a_page_is_bounded() {
        let long = "\u{20ac}".repeat(85);
        let names = vec![(&*long, Some(1)); 10_000];
        let page = page("", &names, false);
        let shown = page.matches("<tr>").count();
        assert!(page.len() < PAGE_OCTETS_MAX + 4096 && shown < 10_000, "{} octets", page.len());
        assert!(page.ends_with(&format!("<p>There is more than these {shown}.\n")));
    }
}

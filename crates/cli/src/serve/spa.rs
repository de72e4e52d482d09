//! `--spa`: a program in one page, which shows something for each path by itself.
//!
//! Rule: the page stands for a path only if nothing is there, no segment of it is refused or hidden, its last
//! segment has no dot, and the request takes HTML. A script or picture that is missing stays missing: a page
//! in its place would be an error that is hard to find.

use alula::{FieldSection, KnownName, Request, fields::parameters};

use super::target::{self, Target};

/// The path of the page.
pub(super) const PAGE: &str = "/index.html";

/// Returns true if the path is one that the page may stand for.
pub(super) fn is_of_page(request: &Request, dot_files: bool) -> bool {
    let path = target::without_query(request.path());
    let name = |target: Target| target.path.file_name().map(|name| name.as_encoded_bytes().contains(&b'.'));
    Target::parse(path, dot_files).is_some_and(|target| !name(target).unwrap_or_default())
}

/// Returns true if a request with these fields takes HTML: by the most specific range of `accept` that
/// contains it (RFC 9110 §12.5.1), or for want of any `accept`.
pub(super) fn takes_html(fields: &FieldSection) -> bool {
    parameters::accepts(fields.get_all(KnownName::ACCEPT), "text/html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_taken_by_the_most_specific_range() {
        for (accept, is_taken) in [
            (&[][..], true),
            (&["text/html"], true),
            (&["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"], true),
            (&["*/*"], true),
            (&["TEXT/HTML;level=1"], true),
            (&["text/*;q=0.1"], true),
            (&["application/json"], false),
            (&["application/json", "text/html"], true),
            (&["image/avif,image/webp,*/*;q=0"], false),
            (&["text/html;q=0, */*"], false),
            (&["text/html; q=0.000", "*/*"], false),
            (&["text/html; q=0.001"], true),
            (&["text/*;q=0, text/html"], true),
            (&[""], false),
            (&["texthtml"], false),
        ] {
            let pairs = accept.iter().map(|value| ("accept", *value));
            assert_eq!(takes_html(&FieldSection::from_pairs(pairs).unwrap()), is_taken, "{accept:?}");
        }
    }
}

//! Media types and codings by the ends of names, from the table of `mime_guess` and one of its own.

use std::path::Path;

/// Extensions whose type `mime_guess` does not know, or takes for something that people who serve files have
/// less often.
const BY_EXTENSION: [(&str, &str); 8] = [
    // For modules too (RFC 9239 §3).
    ("cjs", "text/javascript"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("jsonl", "application/jsonl"),
    ("svgz", "image/svg+xml"),
    ("toml", "application/toml"),
    // Sources in TypeScript, not streams of MPEG: browsers show these, and players look at the content.
    ("mts", "text/plain"),
    ("ts", "text/plain"),
];

/// Names without an extension that are text by custom.
const TEXTS: [&str; 12] = [
    "AUTHORS",
    "CHANGELOG",
    "CONTRIBUTING",
    "COPYING",
    "Dockerfile",
    "INSTALL",
    "LICENSE",
    "Makefile",
    "NEWS",
    "NOTICE",
    "README",
    "TODO",
];

/// Returns the `content-type` of a file by the end of its name: `application/octet-stream` if that is
/// unknown. Text is said to be UTF-8, which it is unless it is old. Allocates; opens nothing.
///
/// ```
/// use std::path::Path;
///
/// assert_eq!(alula::files::media_type(Path::new("notes.txt")), "text/plain; charset=utf-8");
/// ```
pub fn media_type(path: &Path) -> String {
    let own = BY_EXTENSION.iter().find(|(extension, _)| has_extension(path, extension));
    let is_text = path.file_name().is_some_and(|name| TEXTS.iter().any(|text| *text == name));
    let guess = match own {
        Some((_, own)) => own,
        None if is_text => "text/plain",
        None => mime_guess::from_path(path).first_raw().unwrap_or("application/octet-stream"),
    };
    // XML and JSON say by themselves what they are.
    if guess.starts_with("text/") { format!("{guess}; charset=utf-8") } else { guess.to_owned() }
}

/// Returns the `content-encoding` that belongs to the media type of a file: an `.svgz` is an image only once
/// it is unpacked.
pub(crate) fn content_coding(path: &Path) -> Option<&'static str> {
    has_extension(path, "svgz").then_some("gzip")
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_follow_from_names() {
        for (name, expected) in [
            ("index.html", "text/html; charset=utf-8"),
            ("a/b/page.HTM", "text/html; charset=utf-8"),
            ("style.css", "text/css; charset=utf-8"),
            ("app.js", "text/javascript; charset=utf-8"),
            ("app.mjs", "text/javascript; charset=utf-8"),
            ("notes.txt", "text/plain; charset=utf-8"),
            ("data.json", "application/json"),
            ("image.svg", "image/svg+xml"),
            ("photo.jpg", "image/jpeg"),
            ("image.png", "image/png"),
            ("font.woff2", "font/woff2"),
            ("code.wasm", "application/wasm"),
            ("film.mp4", "video/mp4"),
            ("common.CJS", "text/javascript; charset=utf-8"),
            ("part.ts", "text/plain; charset=utf-8"),
            ("rows.jsonl", "application/jsonl"),
            ("Cargo.toml", "application/toml"),
            ("drawing.svgz", "image/svg+xml"),
            ("a/README", "text/plain; charset=utf-8"),
            ("LICENSE", "text/plain; charset=utf-8"),
            ("readme", "application/octet-stream"),
            ("a.unheard-of", "application/octet-stream"),
            ("\u{20ac}.pdf", "application/pdf"),
        ] {
            assert_eq!(media_type(Path::new(name)), expected, "{name}");
        }
    }
}

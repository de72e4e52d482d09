//! Media types by the ends of names, from the table of `mime_guess`.

use std::path::Path;

/// Returns the `content-type` of a file by the end of its name: `application/octet-stream` if that is
/// unknown. Text is said to be UTF-8, which it is unless it is old. Allocates; opens nothing.
///
/// ```
/// use std::path::Path;
///
/// assert_eq!(alula::files::media_type(Path::new("notes.txt")), "text/plain; charset=utf-8");
/// ```
pub fn media_type(path: &Path) -> String {
    let guess = match mime_guess::from_path(path).first_raw() {
        // For modules too (RFC 9239 §3).
        Some("application/javascript") => "text/javascript",
        Some(guess) => guess,
        None => "application/octet-stream",
    };
    // XML and JSON say by themselves what they are.
    if guess.starts_with("text/") { format!("{guess}; charset=utf-8") } else { guess.to_owned() }
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
            ("README", "application/octet-stream"),
            ("a.unheard-of", "application/octet-stream"),
            ("\u{20ac}.pdf", "application/pdf"),
        ] {
            assert_eq!(media_type(Path::new(name)), expected, "{name}");
        }
    }
}

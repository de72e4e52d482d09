//! The rules for file names that come from a URL or from a server.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The longest name on most file systems, in bytes.
const BYTES_MAX: usize = 255;

/// Names of devices on Windows, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
/// Names of devices that a digit follows.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// Returns the name for `-O`: the last segment of a path without its escapes, or with them where they hide
/// something.
pub(in crate::fetch) fn of_segment(segment: &str) -> Option<Cow<'_, str>> {
    let decoded = percent_decode_str(segment).decode_utf8().ok();
    let decoded = decoded.filter(|name| &**name == segment || is_harmless(name));
    decoded.filter(|name| is_one(name)).or_else(|| is_one(segment).then_some(Cow::Borrowed(segment)))
}

/// Returns true for a name that others may choose: a file in this folder, neither hidden nor like a flag,
/// unambiguous on every system.
pub(in crate::fetch) fn is_harmless(name: &str) -> bool {
    let is_trimmed = name.trim() == name && !name.ends_with('.');
    // A file named `-rf` would be a flag in a later `rm *`, and `.bashrc` a configuration.
    let is_flag_or_hidden = name.starts_with(['-', '.']);
    is_one(name)
        && name.len() <= BYTES_MAX
        && is_trimmed
        && !is_flag_or_hidden
        && !name.contains(is_misleading)
        && !is_device(name)
}

/// Returns true for a plain name in this folder.
fn is_one(name: &str) -> bool {
    // All systems are treated alike: a folder may be shared with Windows, where `:` opens a stream.
    let is_odd = |character: char| matches!(character, '/' | '\\' | ':') || character.is_control();
    let is_special = matches!(name, "" | "." | "..") || cfg!(windows) && is_device(name);
    !is_special && !name.contains(is_odd)
}

/// Returns true for characters that break lines or turn the direction of the text around them.
const fn is_misleading(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let is_numbered = |device: &str| {
        let number = stem.strip_prefix(device).unwrap_or_default();
        number.chars().count() == 1
            && number.contains(|digit: char| digit.is_ascii_digit() || "¹²³".contains(digit))
    };
    DEVICES.contains(&&*stem) || NUMBERED_DEVICES.iter().any(|device| is_numbered(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_in_this_folder() {
        for right in ["a", "a.tar.gz", "a%2Fb", "-a", ".a", " "] {
            assert!(is_one(right), "{right:?}");
        }
        for wrong in ["", ".", "..", "a/b", "../a", "a\\b", "c:a", "a\0", "a\n", "a\u{9b}b", "\u{85}"] {
            assert!(!is_one(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn a_name_of_somebody_else_is_harmless() {
        let long = "x".repeat(BYTES_MAX);
        for right in ["a", "a b.tar.gz", "ö€.txt", "console", "com", "com10", "lpt", "null.txt", "🦀", &long]
        {
            assert!(is_harmless(right), "{right:?}");
        }
        let longer = "ö".repeat(BYTES_MAX / 2 + 1);
        for wrong in [
            "",
            ".",
            "..",
            "../x",
            "/etc/passwd",
            "..\\x",
            "-rf",
            ".bashrc",
            "a.",
            "a ",
            " a",
            "\u{a0}a",
            "CON",
            "nul.txt",
            "Aux .x",
            "COM1",
            "lpt9.log",
            "com¹",
            "conin$",
            "a\u{202e}txt.exe",
            "a\u{2028}b",
            "\u{feff}a",
            "a\x1b[31m",
            "a\u{9b}31m",
            "a\0b",
            "C:x",
            "x:stream",
            &longer,
        ] {
            assert!(!is_harmless(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn escapes_of_a_segment_are_decoded_unless_they_hide_something() {
        for (segment, name) in [
            ("a.txt", Some("a.txt")),
            ("%C3%B6.txt", Some("ö.txt")),
            ("a%20b%2Ec", Some("a b.c")),
            ("100%25", Some("100%")),
            ("100%", Some("100%")),
            ("-a", Some("-a")),
            (".a", Some(".a")),
            ("%2Da", Some("%2Da")),
            ("%2Ea", Some("%2Ea")),
            ("a%2Fb", Some("a%2Fb")),
            ("..%2Fa", Some("..%2Fa")),
            ("%2E%2E", Some("%2E%2E")),
            ("a%00b", Some("a%00b")),
            ("a%1B%5B31m", Some("a%1B%5B31m")),
            ("a%C2%9B31m", Some("a%C2%9B31m")),
            ("%FF", Some("%FF")),
            ("%43ON", Some("%43ON")),
            ("a%20", Some("a%20")),
            ("", None),
            ("..", None),
            ("a:b", None),
        ] {
            assert_eq!(of_segment(segment).as_deref(), name, "{segment}");
        }
    }
}

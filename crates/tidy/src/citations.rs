//! Citations of RFCs have one form, so that a search for a rule finds every place that knows it:
//! `RFC 9113`, `RFC 9113 §6.9.1`, `RFC 9113 §5.2, §6.9`, `RFC 7541 Appendix B`.

use crate::Source;

/// Lines of code and documents that cite in another form.
#[must_use]
pub fn check_citations(sources: &[Source]) -> Vec<String> {
    let cites = |source: &&Source| source.is_rust() || source.path.ends_with(".md");
    // This file shows the wrong forms.
    let others = sources.iter().filter(cites).filter(|source| source.path != "crates/tidy/src/citations.rs");
    let mut found = Vec::new();
    for source in others {
        for (number, line) in source.lines() {
            found.extend(wrong_form(line).map(|why| format!("{}:{number}: {why}", source.path)));
        }
    }
    found
}

/// What is wrong with the first wrong citation in the line.
fn wrong_form(line: &str) -> Option<&'static str> {
    if line.contains("§ ") || line.contains("§§") {
        return Some("write `§6.9`, without a space and one sign for each section");
    }
    let starts = line.match_indices("RFC").chain(line.match_indices("rfc "));
    starts.filter(|(at, _)| !is_inside_word(&line[..*at])).find_map(|(at, _)| wrong_citation(&line[at..]))
}

fn wrong_citation(text: &str) -> Option<&'static str> {
    let after_word = &text[3..];
    let number = after_word.trim_start_matches([' ', '-']);
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == number.len() || rest.starts_with('_') {
        return None; // Not followed by a number, or part of a constant's name.
    }
    if !text.starts_with("RFC ") || after_word.len() != number.len() + 1 {
        return Some("write `RFC 9113`, upper case and one space");
    }
    let rest = rest.trim_start_matches(',').trim_start();
    let in_words = ["section", "Section", "sec.", "Sec."].iter().any(|word| rest.starts_with(word));
    in_words.then_some("write `RFC 9113 §6.9`, with the sign instead of the word")
}

fn is_inside_word(before: &str) -> bool {
    before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_form_passes() {
        for line in [
            "// RFC 9113 §6.9.1: why",
            "(RFC 9113 §5.2, §6.9)",
            "RFC 7541 Appendix B",
            "const RFC7541_ROWS: usize = 61;",
            "let name = \"rfc7541-c4\";",
            "the RFCs say nothing",
        ] {
            assert_eq!(wrong_form(line), None, "{line}");
        }
    }

    #[test]
    fn other_forms_are_found() {
        for line in [
            "// RFC9113 §6.9.1",
            "// RFC-9113",
            "// rfc 9113",
            "// RFC  9113",
            "// RFC 9113 § 5",
            "// RFC 9113 §§5, 6",
            "// RFC 9113 section 5",
            "// RFC 9113, Section 5",
        ] {
            assert!(wrong_form(line).is_some(), "{line}");
        }
    }
}

//! Patterns of routes, paths, and captures: what the trie finds is what a naive search finds.

use std::borrow::Cow;

use alula_server::fuzzing::{self, CompiledRoutes, Routed, Routes};
use alula_server::{DotSegments, EmptySegments, EncodedSlash, PlusSign, Segments, TrailingSlash};

use super::naive_routes::{self, Naive, Rules, Slash};
use crate::input::Input;

const PATTERNS_MAX: usize = 24;
const PATHS_MAX: usize = 24;

/// What patterns and paths are made of, so that they meet; any bytes stand between these.
const PIECES: [&str; 16] = [
    "",
    "a",
    "b",
    "..",
    ".",
    "%2f",
    "a%2Fb",
    "..%2F",
    "%2e",
    "longer-than-8",
    "longer-than-9",
    "{x}",
    "{y}",
    "{*r}",
    "a%20",
    "+",
];

/// The first bytes choose the options; then come patterns, nested or not, and paths.
pub fn routes(data: &[u8]) {
    let mut input = Input::new(data);
    let (options, rules) = options(&mut input);
    let mut routes = Routes::new(options);
    let mut patterns = Vec::new();
    for _ in 0..input.below(PATTERNS_MAX) {
        let pattern = path(&mut input);
        let is_taken = match input.flag() {
            true => nested(&mut routes, &pattern, patterns.len()),
            false => inserted(&mut routes, &pattern, patterns.len()),
        };
        if is_taken {
            patterns.push(pattern);
        }
    }
    let table = routes.build();
    for _ in 0..input.below(PATHS_MAX) {
        let path = path(&mut input);
        compare(&table, &patterns, rules, path.as_bytes());
        redirects_home(&table, options, path.as_bytes());
        decoded(path.as_bytes(), options);
    }
    compare(&table, &patterns, rules, input.take(usize::MAX));
}

fn options(input: &mut Input<'_>) -> (Segments, Rules) {
    let empty = *input.pick(&[EmptySegments::Keep, EmptySegments::Drop, EmptySegments::Refuse]);
    let slash = *input.pick(&[Slash::Strict, Slash::Ignore, Slash::Redirect]);
    let encoded = *input.pick(&[EncodedSlash::Keep, EncodedSlash::Separate, EncodedSlash::Refuse]);
    let dots = *input.pick(&[DotSegments::Literal, DotSegments::Refuse]);
    let plus = *input.pick(&[PlusSign::Literal, PlusSign::Space]);
    let trailing_slash = match slash {
        Slash::Strict => TrailingSlash::Strict,
        Slash::Ignore => TrailingSlash::Ignore,
        Slash::Redirect => TrailingSlash::Redirect,
    };
    let options = Segments::STRICT
        .empty_segments(empty)
        .trailing_slash(trailing_slash)
        .encoded_slash(encoded)
        .dot_segments(dots)
        .plus_sign(plus);
    let rules = Rules {
        drops_empty: empty == EmptySegments::Drop,
        refuses_empty: empty == EmptySegments::Refuse,
        slash,
        cuts_at_encoded: encoded == EncodedSlash::Separate,
        refuses_encoded: encoded == EncodedSlash::Refuse,
        refuses_dots: dots == DotSegments::Refuse,
    };
    (options, rules)
}

/// A pattern or a path: some pieces, mostly behind slashes, and now and then any bytes.
fn path(input: &mut Input<'_>) -> String {
    let mut path = String::new();
    for _ in 0..input.below(7) {
        match input.below(PIECES.len() + 2) {
            number if number < PIECES.len() => {
                path.push('/');
                path.push_str(PIECES[number]);
            }
            number if number == PIECES.len() => path.push('/'),
            _ => path.push_str(&input.text()),
        }
    }
    path
}

/// Adds a pattern; returns whether it was taken.
fn inserted(routes: &mut Routes, pattern: &str, number: usize) -> bool {
    match routes.insert(pattern, number) {
        Ok(()) => true,
        Err(error) => {
            assert!(!error.to_string().is_empty() && error.position() <= pattern.len());
            assert_eq!(error.pattern(), pattern);
            false
        }
    }
}

/// Adds a pattern in two parts, cut at its second slash: the same comes of it.
fn nested(routes: &mut Routes, pattern: &str, number: usize) -> bool {
    let second = pattern.match_indices('/').map(|(at, _)| at).nth(1);
    // A slash alone, before or behind, is the prefix itself.
    let Some(at) = second.filter(|&at| at > 1 && pattern.len() > at + 1) else {
        return inserted(routes, pattern, number);
    };
    routes.insert_below(&pattern[..at], &pattern[at..], number).is_ok()
}

fn compare(table: &CompiledRoutes, patterns: &[String], rules: Rules, path: &[u8]) {
    let found = match table.find(path) {
        Routed::Found(number, spans) => Naive::Found(number, spans.iter().collect()),
        Routed::Redirect(..) => Naive::Redirect,
        Routed::Refused => Naive::Refused,
        Routed::Unknown => Naive::Unknown,
    };
    let expected = naive_routes::find(patterns, rules, path);
    assert_eq!(found, expected, "{} in {patterns:?} under {rules:?}", path.escape_ascii());
}

/// A redirect ends after one step, and on this server.
fn redirects_home(table: &CompiledRoutes, options: Segments, path: &[u8]) {
    let Routed::Redirect(number, _, is_added) = table.find(path) else { return };
    let location = fuzzing::location(is_added, path, None, options);
    assert!(!location.starts_with(b"//") && !location.starts_with(b"/\\"), "{}", location.escape_ascii());
    let is_guarded = path.starts_with(b"//") || path.starts_with(b"/\\");
    let asked = if is_guarded { location.strip_prefix(b"/.").expect("a guard") } else { &location };
    assert!(
        matches!(table.find(asked), Routed::Found(found, _) if found == number),
        "{} leads to {}",
        path.escape_ascii(),
        location.escape_ascii()
    );
}

/// Decoding agrees with a crate that does little else, but for malformed escapes, which that leaves as they
/// are.
fn decoded(raw: &[u8], options: Segments) {
    let plain = options.plus_sign(PlusSign::Literal);
    let is_good =
        |at: usize| raw.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let is_well_formed = (0..raw.len()).filter(|&at| raw[at] == b'%').all(is_good);
    let own = fuzzing::decoded(raw, plain);
    assert_eq!(own.is_some(), is_well_formed, "{}", raw.escape_ascii());
    let Some(own) = own else { return };
    assert_eq!(own, Cow::from(percent_encoding::percent_decode(raw)));
    let with_spaces: Vec<u8> = raw.iter().map(|&byte| if byte == b'+' { b' ' } else { byte }).collect();
    let spaced = fuzzing::decoded(raw, options.plus_sign(PlusSign::Space)).expect("well formed");
    assert_eq!(spaced, Cow::from(percent_encoding::percent_decode(&with_spaces)));
}

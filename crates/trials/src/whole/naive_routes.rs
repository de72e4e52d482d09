//! A router that cuts every path into a list, compares it with every pattern, and takes the first by
//! precedence.

use std::ops::Range;

/// The rules of a router, as in `Segments`, one by one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) drops_empty: bool,
    pub(crate) refuses_empty: bool,
    pub(crate) slash: Slash,
    pub(crate) cuts_at_encoded: bool,
    pub(crate) refuses_encoded: bool,
    pub(crate) refuses_dots: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Slash {
    Strict,
    Ignore,
    Redirect,
}

/// What a path comes to: the number of its pattern, and where the captures stand.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Naive {
    Found(usize, Vec<Range<usize>>),
    Redirect,
    Refused,
    Unknown,
}

/// A path, cut.
struct Path<'a> {
    bytes: &'a [u8],
    segments: Vec<Range<usize>>,
    has_slash: bool,
}

/// Searches all patterns.
pub(crate) fn find(patterns: &[String], rules: Rules, bytes: &[u8]) -> Naive {
    if bytes.first() != Some(&b'/') {
        return Naive::Unknown;
    }
    let path = cut(bytes, rules);
    let all = || patterns.iter().enumerate();
    let matching = all().filter_map(|(number, pattern)| {
        let (rank, captures) = matches(pattern, &path, rules.slash == Slash::Ignore)?;
        Some((rank, number, captures))
    });
    let best = matching.min_by_key(|(rank, number, _)| (rank.clone(), *number));
    let leads_on = || {
        let other = Path { has_slash: !path.has_slash, segments: path.segments.clone(), bytes };
        rules.slash == Slash::Redirect && all().any(|(_, pattern)| matches(pattern, &other, false).is_some())
    };
    match best {
        _ if is_refused(bytes, rules) => Naive::Refused,
        Some((_, number, captures)) => Naive::Found(number, captures),
        None if leads_on() => Naive::Redirect,
        None => Naive::Unknown,
    }
}

fn is_encoded_slash(bytes: &[u8]) -> bool {
    bytes.len() >= 3 && bytes[..3].eq_ignore_ascii_case(b"%2f")
}

/// Cuts behind the first slash; the last piece, if it is empty, is the slash at the end.
fn pieces(bytes: &[u8], at_encoded: bool) -> Vec<Range<usize>> {
    let (mut pieces, mut start, mut at) = (Vec::new(), 1, 1);
    while at < bytes.len() {
        let len = match bytes[at] {
            b'/' => 1,
            _ if at_encoded && is_encoded_slash(&bytes[at..]) => 3,
            _ => 0,
        };
        if len > 0 {
            pieces.push(start..at);
            start = at + len;
        }
        at += len.max(1);
    }
    pieces.push(start..bytes.len());
    pieces
}

fn cut(bytes: &[u8], rules: Rules) -> Path<'_> {
    let mut segments = pieces(bytes, rules.cuts_at_encoded);
    let has_slash = segments.last().is_some_and(Range::is_empty);
    if has_slash {
        segments.pop();
    }
    if rules.drops_empty {
        segments.retain(|segment| !segment.is_empty());
    }
    Path { bytes, segments, has_slash }
}

fn is_refused(bytes: &[u8], rules: Rules) -> bool {
    let dots = |piece: &Range<usize>| {
        let text = String::from_utf8_lossy(&bytes[piece.clone()]).to_ascii_lowercase().replace("%2e", ".");
        text == "." || text == ".."
    };
    let all = pieces(bytes, rules.cuts_at_encoded);
    rules.refuses_encoded && bytes.windows(3).any(is_encoded_slash)
        || rules.refuses_dots && pieces(bytes, true).iter().any(dots)
        || rules.refuses_empty && all[..all.len() - 1].iter().any(Range::is_empty)
}

/// How early a pattern goes: for each of its segments 0 for a literal, 1 for a capture, 3 for the rest; 2 for
/// its end.
type Rank = Vec<u8>;

fn matches(pattern: &str, path: &Path<'_>, ignores_slash: bool) -> Option<(Rank, Vec<Range<usize>>)> {
    let body = &pattern[1..];
    let has_slash = body.is_empty() || body.ends_with('/');
    let body = body.strip_suffix('/').unwrap_or(body);
    let parts: Vec<&str> = if pattern == "/" { Vec::new() } else { body.split('/').collect() };
    let (mut rank, mut captures) = (Vec::new(), Vec::new());
    for (number, part) in parts.iter().enumerate() {
        let segment = path.segments.get(number);
        if part.starts_with("{*") {
            let start = segment.map_or(path.bytes.len(), |segment| segment.start);
            captures.push(start..path.bytes.len());
            rank.push(3);
            return (segment.is_some() || path.has_slash || ignores_slash).then_some((rank, captures));
        }
        let segment = segment?.clone();
        if part.starts_with('{') {
            if segment.is_empty() {
                return None;
            }
            rank.push(1);
            captures.push(segment);
        } else if part.as_bytes() == &path.bytes[segment] {
            rank.push(0);
        } else {
            return None;
        }
    }
    rank.push(2);
    let is_whole = parts.len() == path.segments.len() && (ignores_slash || has_slash == path.has_slash);
    is_whole.then_some((rank, captures))
}

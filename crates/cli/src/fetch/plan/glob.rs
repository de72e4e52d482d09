//! URLs with patterns, as in curl: `{a,b}`, `[1-9]`, `[01-20:2]`, `[a-z]`.

use std::net::Ipv6Addr;

/// The most URLs: a bound against typing errors.
const URLS_MAX: usize = 100_000;

/// A URL, and the values of its patterns.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(in crate::fetch) struct Globbed {
    pub(in crate::fetch) url: String,
    pub(in crate::fetch) values: Vec<String>,
}

enum Piece {
    Text(String),
    Choice(Vec<String>),
}

/// Returns the URLs that patterns expand to, the last pattern changing first. A URL without patterns is
/// returned as it is.
pub(in crate::fetch) fn expanded(typed: &str) -> Result<Vec<Globbed>, String> {
    let mut all = vec![Globbed::default()];
    for piece in pieces(typed)? {
        match piece {
            Piece::Text(text) => all.iter_mut().for_each(|globbed| globbed.url.push_str(&text)),
            Piece::Choice(values) => {
                // Checked before the product is made: a few ranges in a row would fill the memory.
                if all.len().saturating_mul(values.len()) > URLS_MAX {
                    return Err(format!("{typed} stands for more than {URLS_MAX} URLs"));
                }
                all = all.iter().flat_map(|globbed| values.iter().map(|value| globbed.with(value))).collect();
            }
        }
    }
    Ok(all)
}

impl Globbed {
    pub(in crate::fetch) fn plain(url: &str) -> Self {
        Self { url: url.to_owned(), values: Vec::new() }
    }

    fn with(&self, value: &str) -> Self {
        let values = self.values.iter().cloned().chain([value.to_owned()]);
        Self { url: format!("{}{value}", self.url), values: values.collect() }
    }
}

/// Returns the name of a file with each `#1` replaced by the value of the first pattern, and so on.
pub(in crate::fetch) fn named(name: &str, values: &[String]) -> String {
    let mut named = String::new();
    let mut rest = name;
    while let Some((plain, after)) = rest.split_once('#') {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = after.split_at(digits);
        let value = number.parse::<usize>().ok().and_then(|number| values.get(number.checked_sub(1)?));
        named.push_str(plain);
        match value {
            Some(value) => named.push_str(value),
            None => named.extend(["#", number]),
        }
        rest = after;
    }
    named + rest
}

fn pieces(typed: &str) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut text, mut rest) = (Vec::new(), String::new(), typed);
    while let Some(first) = rest.chars().next() {
        let escaped = rest.strip_prefix('\\').filter(|rest| rest.starts_with(['{', '}', '[', ']']));
        if let Some(after) = escaped {
            text.push_str(&after[..1]);
            rest = &after[1..];
            continue;
        }
        if let Some((values, after)) = choice(rest)? {
            pieces.extend([Piece::Text(std::mem::take(&mut text)), Piece::Choice(values)]);
            rest = after;
            continue;
        }
        text.push(first);
        rest = &rest[first.len_utf8()..];
    }
    pieces.push(Piece::Text(text));
    Ok(pieces)
}

/// Parses a pattern at the beginning, and returns the rest.
fn choice(text: &str) -> Result<Option<(Vec<String>, &str)>, String> {
    let between = |open, close| text.strip_prefix(open).and_then(|rest: &str| rest.split_once(close));
    if let Some((inner, after)) = between('{', '}') {
        // JSON in a query is no pattern.
        let is_set = inner.contains(',') && !inner.contains(['"', '{']);
        return Ok(is_set.then(|| (inner.split(',').map(str::to_owned).collect(), after)));
    }
    match between('[', ']') {
        // Brackets around an IPv6 address belong to the host (RFC 3986 §3.2.2).
        Some((inner, _)) if inner.parse::<Ipv6Addr>().is_ok() => Ok(None),
        Some((inner, after)) => Ok(range(inner)?.map(|values| (values, after))),
        None => Ok(None),
    }
}

/// Parses `1-9`, `01-20:2` or `a-z`; returns nothing if it is none of them.
fn range(inner: &str) -> Result<Option<Vec<String>>, String> {
    let (bounds, step) = inner.split_once(':').unwrap_or((inner, "1"));
    let (Some((first, last)), Ok(step)) = (bounds.split_once('-'), step.parse::<usize>()) else {
        return Ok(None);
    };
    let wrong = || format!("[{inner}] is no range: the first is to be before the last, and a step 1 or more");
    if let ([from], [to]) = (first.as_bytes(), last.as_bytes())
        && (from.is_ascii_lowercase() && to.is_ascii_lowercase()
            || from.is_ascii_uppercase() && to.is_ascii_uppercase())
    {
        let is_right = from <= to && step > 0;
        let letters = (*from..=*to).step_by(step.max(1)).map(|letter| char::from(letter).to_string());
        return if is_right { Ok(Some(letters.collect())) } else { Err(wrong()) };
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(first) || !is_number(last) {
        return Ok(None);
    }
    let (Ok(from), Ok(to)) = (first.parse::<u64>(), last.parse::<u64>()) else { return Err(wrong()) };
    if from > to || step == 0 {
        return Err(wrong());
    }
    // Zeros in front are kept.
    let width = if first.starts_with('0') { first.len() } else { 0 };
    let numbers = (from..=to).step_by(step).take(URLS_MAX + 1);
    Ok(Some(numbers.map(|number| format!("{number:0width$}")).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(typed: &str) -> Vec<String> {
        expanded(typed).unwrap().into_iter().map(|globbed| globbed.url).collect()
    }

    #[test]
    fn patterns_stand_for_several() {
        for (typed, expected) in [
            ("a/{b,c}/[1-2]", &["a/b/1", "a/b/2", "a/c/1", "a/c/2"][..]),
            ("a/[008-010]", &["a/008", "a/009", "a/010"]),
            ("a/[a-e:2]", &["a/a", "a/c", "a/e"]),
            ("a/[9-11]", &["a/9", "a/10", "a/11"]),
            ("{a,}b", &["ab", "b"]),
        ] {
            assert_eq!(urls(typed), expected, "{typed}");
        }
        assert_eq!(expanded("a/{b,c}[1-1]").unwrap()[1].values, ["c", "1"]);
        assert!(expanded("[3-1]").is_err() && expanded("[1-3:0]").is_err() && expanded("[b-a]").is_err());
        assert!(expanded("[1-1000]/[1-1000]").is_err() && expanded("[0-18446744073709551615]").is_err());
    }

    #[test]
    fn other_brackets_stay() {
        for typed in [
            "http://[::1]:80/",
            "[fe80::1%25eth0]/",
            "[::1%lo]/",
            "[::1-9%251-2]/",
            "a?b[]=1",
            "a/{b}",
            "a?q={\"b\":1,\"c\":2}",
            "a/[b",
            "a/{b,c",
            "a/[1-b]",
            "é}]",
        ] {
            assert_eq!(urls(typed), [typed]);
        }
        assert_eq!(urls(r"a/\{b,c\}/\[1-2\]"), ["a/{b,c}/[1-2]"]);
    }

    #[test]
    fn a_name_has_what_a_pattern_stands_for() {
        let values = ["x".to_owned(), "é".to_owned()];
        for (name, expected) in
            [("a#1b#2", "axbé"), ("#3#0#", "#3#0#"), ("plain", "plain"), ("#11", "#11"), ("##1", "#x")]
        {
            assert_eq!(named(name, &values), expected);
        }
    }
}

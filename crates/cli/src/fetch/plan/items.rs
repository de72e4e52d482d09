//! The items after the URL on the command line: short forms of parts of a request, as in HTTPie.

use std::{
    fs,
    net::{Ipv4Addr, Ipv6Addr},
    path::PathBuf,
};

use crate::{
    args::FieldArg,
    failure::exit::{Exit, Failure},
};

/// A part of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::fetch) enum Item {
    /// `name==value` and `name==@FILE`.
    Query { name: String, value: Value },
    /// `Name:value`, `Name:` and `Name;`.
    Field(FieldArg),
    /// `Name:@FILE`.
    FieldInFile { name: String, path: PathBuf },
    /// `name=value` and `name=@FILE`. The name leads into JSON as [`Document`](super::nested::Document) reads
    /// it.
    Text { name: String, value: Value },
    /// `name:=json` and `name:=@FILE`, with the same names.
    Json { name: String, value: Value },
    /// `name@FILE`, with `;type=` behind it where the media type does not follow from the name.
    File { name: String, path: PathBuf, media_type: Option<String> },
    /// `@FILE`.
    Content(PathBuf),
    /// A URL: it has a scheme, or can only be a host with a port or a path.
    Url(String),
}

/// A value, or the file with it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::fetch) enum Value {
    Given(String),
    InFile(PathBuf),
}

impl Value {
    pub(in crate::fetch) fn text(&self) -> Result<String, Failure> {
        match self {
            Self::Given(text) => Ok(text.clone()),
            Self::InFile(path) => {
                fs::read_to_string(path).map_err(|error| Failure::local(path.display(), &error))
            }
        }
    }

    pub(in crate::fetch) fn json(&self) -> Result<String, Failure> {
        let text = self.text()?;
        if let Self::InFile(path) = self {
            check_json(&text).map_err(|error| usage(format!("{}: {error}", path.display())))?;
        }
        Ok(text.trim().to_owned())
    }
}

/// The separator between a name and a value. Where several fit at one place, the first does.
#[derive(Clone, Copy)]
enum Separator {
    QueryInFile,
    JsonInFile,
    FieldInFile,
    TextInFile,
    Json,
    Query,
    Text,
    Field,
    File,
    EmptyField,
}

const SEPARATORS: [(&str, Separator); 10] = [
    ("==@", Separator::QueryInFile),
    (":=@", Separator::JsonInFile),
    (":@", Separator::FieldInFile),
    ("=@", Separator::TextInFile),
    (":=", Separator::Json),
    ("==", Separator::Query),
    ("=", Separator::Text),
    (":", Separator::Field),
    ("@", Separator::File),
    (";", Separator::EmptyField),
];

const FORMS: &str = "written as name=value, name:=json, name==value, Name:value, name@FILE or @FILE";

/// Parses the words behind the method: the URL and the items. An item that stands where the URL is expected
/// is taken for one if a URL follows.
///
/// # Errors
/// A word that is no item, or a field or query whose file cannot be read.
pub(in crate::fetch) fn read<'a>(
    first: Option<&'a str>,
    rest: &'a [String],
) -> Result<(Option<&'a str>, Vec<Item>), Failure> {
    let is_early = |word: &&str| {
        let parts = split(word).filter(|_| !is_url(word));
        parts.is_some_and(|(name, between, _)| between.is_in_no_host() && !name.contains(['/', '?', '#']))
    };
    let later = first.filter(is_early).and_then(|_| rest.iter().position(|word| is_url(word)));
    let url = later.map_or(first, |at| Some(rest[at].as_str()));
    let words = later
        .and(first)
        .into_iter()
        .chain(rest.iter().enumerate().filter(|(at, _)| Some(*at) != later).map(|(_, word)| word.as_str()));
    let item = |word| Item::of(word).map_err(usage).and_then(Item::loaded);
    Ok((url, words.map(item).collect::<Result<_, _>>()?))
}

impl Separator {
    /// Returns true for a character that no host contains.
    const fn is_in_no_host(self) -> bool {
        !matches!(self, Self::Field | Self::FieldInFile | Self::File | Self::EmptyField)
    }
}

impl Item {
    /// Parses an item. The first separator that no backslash precedes counts.
    pub(in crate::fetch) fn of(text: &str) -> Result<Self, String> {
        if is_url(text) {
            return Ok(Self::Url(text.to_owned()));
        }
        let (name, separator, value) = split(text).ok_or_else(|| format!("{text:?} is no item: {FORMS}"))?;
        if name.is_empty() && !matches!(separator, Separator::File) {
            return Err(format!("{text:?} has no name: {FORMS}"));
        }
        Ok(match separator {
            Separator::Query => Self::Query { name: plain(&name), value: Value::Given(value) },
            Separator::QueryInFile => Self::Query { name: plain(&name), value: Value::in_file(&value) },
            Separator::Text => Self::Text { name, value: Value::Given(value) },
            Separator::TextInFile => Self::Text { name, value: Value::in_file(&value) },
            Separator::Json => {
                // The value follows `:=` and has to be JSON: a plain word there is the usual slip.
                let text =
                    |why: String| of_value(&name, format!("{why} (`=` in the place of `:=` sends text)"));
                check_json(&value).map_err(text)?;
                Self::Json { name, value: Value::Given(value) }
            }
            Separator::JsonInFile => Self::Json { name, value: Value::in_file(&value) },
            Separator::FieldInFile => Self::FieldInFile { name: plain(&name), path: at_home(&value) },
            Separator::EmptyField => {
                Self::Field(FieldArg::new(&name, Some("")).map_err(|why| of_value(&name, why))?)
            }
            Separator::Field => {
                let value = Some(value.trim()).filter(|value| !value.is_empty());
                Self::Field(FieldArg::new(&name, value).map_err(|why| of_value(&name, why))?)
            }
            Separator::File if name.is_empty() => Self::Content(at_home(&value)),
            Separator::File => {
                let (path, media_type) = match value.split_once(";type=") {
                    Some((path, media_type)) => (path, Some(media_type.to_owned())),
                    None => (&*value, None),
                };
                Self::File { name: plain(&name), path: at_home(path), media_type }
            }
        })
    }

    /// Loads the files of fields and queries, without trailing line ends.
    fn loaded(self) -> Result<Self, Failure> {
        let text = |value: Value| value.text().map(|text| text.trim_end_matches(['\r', '\n']).to_owned());
        Ok(match self {
            Self::Query { name, value: value @ Value::InFile(_) } => {
                Self::Query { name, value: Value::Given(text(value)?) }
            }
            Self::FieldInFile { name, path } => {
                let value = text(Value::InFile(path))?;
                Self::Field(FieldArg::new(&name, Some(&value)).map_err(|why| usage(of_value(&name, why)))?)
            }
            item => item,
        })
    }
}

fn usage(sentence: String) -> Failure {
    Failure::new(Exit::Usage, sentence)
}

impl Value {
    fn in_file(path: &str) -> Self {
        Self::InFile(at_home(path))
    }
}

/// Returns a name in which a backslash before another one is literal.
pub(in crate::fetch) fn plain(name: &str) -> String {
    name.replace("\\\\", "\\")
}

/// Returns a value without the backslashes before separators, as in HTTPie; other backslashes stay.
fn literal(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match (character, characters.clone().next()) {
            ('\\', Some(escaped)) => {
                characters.next();
                plain.extend((!":=@;".contains(escaped)).then_some('\\'));
                plain.push(escaped);
            }
            _ => plain.push(character),
        }
    }
    plain
}

/// Replaces a tilde at the beginning of a path by the user's folder, which no shell does within a word.
fn at_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => path.into(),
    }
}

/// Returns an error about a value, which may be a secret and is not shown.
fn of_value(name: &str, why: String) -> String {
    format!("{name:?}: {why}")
}

/// Checks that JSON is complete and valid.
fn check_json(text: &str) -> Result<(), String> {
    let checked = serde_json::from_str::<serde::de::IgnoredAny>(text);
    checked.map(drop).map_err(|error| format!("no JSON: {error}"))
}

/// Returns true for a word that is a URL wherever it stands.
pub(in crate::fetch) fn is_url(text: &str) -> bool {
    let begins =
        |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    begins("http://") || begins("https://") || has_port(text) || (split(text).is_none() && has_path(text))
}

/// Returns true for `:8080`, which is on localhost, or for a host with a port that cannot be a field name:
/// `localhost:8080`, `127.0.0.1:8080`, `[::1]:8080`, and `a.example:8080/path` because of the path.
fn has_port(text: &str) -> bool {
    let (host, rest) = match text.strip_prefix('[').and_then(|rest| rest.split_once("]:")) {
        Some((host, rest)) if host.parse::<Ipv6Addr>().is_ok() => ("", rest),
        _ => text.split_once(':').unwrap_or((text, "")),
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_sure = host.is_empty() || host == "localhost" || host.parse::<Ipv4Addr>().is_ok();
    match rest.as_bytes().get(digits) {
        _ if digits == 0 => false,
        None => is_sure,
        // `Name:8080/x` could be a field; a dot in the name makes it a host.
        Some(b'/') => is_sure || is_domain(host),
        Some(_) => is_sure && rest[digits..].starts_with(['?', '#']),
    }
}

/// Returns true for `a.example/path`.
fn has_path(text: &str) -> bool {
    text.split_once('/').is_some_and(|(host, _)| is_domain(host))
}

fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.contains('.') && text.split('.').all(is_label)
}

/// Splits an item into the name without backslashes, the separator, and the value as it is.
fn split(text: &str) -> Option<(String, Separator, String)> {
    let mut name = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let escaped = rest.strip_prefix('\\').and_then(|rest| rest.chars().next());
        if let Some(escaped) = escaped.filter(|character| ":=@;\\".contains(*character)) {
            // A pair of backslashes stays: in front of a bracket it says what that means.
            name.extend((escaped == '\\').then_some('\\'));
            name.push(escaped);
            rest = &rest[2..];
            continue;
        }
        if let Some((separator, value)) = separator_at(rest) {
            return Some((name, separator, literal(value)));
        }
        name.push(first);
        rest = &rest[first.len_utf8()..];
    }
    None
}

fn separator_at(rest: &str) -> Option<(Separator, &str)> {
    let mut found =
        SEPARATORS.iter().filter_map(|(text, separator)| Some((*separator, rest.strip_prefix(text)?)));
    // A semicolon in the middle is a part of something.
    found.find(|(separator, value)| !matches!(separator, Separator::EmptyField) || value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, value: &str) -> Item {
        Item::Text { name: name.into(), value: Value::Given(value.into()) }
    }

    fn json(name: &str, value: &str) -> Item {
        Item::Json { name: name.into(), value: Value::Given(value.into()) }
    }

    fn field(name: &str, value: Option<&str>) -> Item {
        Item::Field(FieldArg { name: name.into(), value: value.map(str::to_owned) })
    }

    fn query(name: &str, value: &str) -> Item {
        Item::Query { name: name.into(), value: Value::Given(value.into()) }
    }

    fn file(name: &str, path: &str, media_type: Option<&str>) -> Item {
        Item::File { name: name.into(), path: path.into(), media_type: media_type.map(str::to_owned) }
    }

    #[test]
    fn the_first_separator_counts_and_the_longest_at_its_place() {
        for (given, expected) in [
            ("a=b", text("a", "b")),
            ("a=", text("a", "")),
            ("a=b=c", text("a", "b=c")),
            ("a=b:c", text("a", "b:c")),
            ("a=b@c", text("a", "b@c")),
            ("a:=1", json("a", "1")),
            ("a:=[1, 2]", json("a", "[1, 2]")),
            ("a:=\"=\"", json("a", "\"=\"")),
            ("a==b", query("a", "b")),
            ("a==", query("a", "")),
            ("a===b", query("a", "=b")),
            ("A:b", field("A", Some("b"))),
            ("A: b ", field("A", Some("b"))),
            ("A:b=c", field("A", Some("b=c"))),
            ("A:", field("A", None)),
            ("A;", field("A", Some(""))),
            ("A:b;", field("A", Some("b;"))),
            ("a@b", file("a", "b", None)),
            ("a@b;type=text/x", file("a", "b", Some("text/x"))),
            ("a@b=c", file("a", "b=c", None)),
            ("@b", Item::Content("b".into())),
            ("a=@b", Item::Text { name: "a".into(), value: Value::InFile("b".into()) }),
            ("a:=@b", Item::Json { name: "a".into(), value: Value::InFile("b".into()) }),
            ("a;b=c", text("a;b", "c")),
            ("é=ü", text("é", "ü")),
            ("http://a/?b=c", Item::Url("http://a/?b=c".into())),
            ("HTTPS://a", Item::Url("HTTPS://a".into())),
            (":8080", Item::Url(":8080".into())),
            (":8080/a?b=c", Item::Url(":8080/a?b=c".into())),
            ("localhost:8080/a", Item::Url("localhost:8080/a".into())),
            ("127.0.0.1:8080", Item::Url("127.0.0.1:8080".into())),
            ("[::1]:8080?a", Item::Url("[::1]:8080?a".into())),
            ("a.example:80/b", Item::Url("a.example:80/b".into())),
            ("a.example/b", Item::Url("a.example/b".into())),
            ("a.example:80", field("a.example", Some("80"))),
            ("localhost:8080 x", field("localhost", Some("8080 x"))),
            ("a.example/b=c", text("a.example/b", "c")),
        ] {
            assert_eq!(Item::of(given), Ok(expected), "{given}");
        }
    }

    #[test]
    fn items_may_stand_before_the_url() {
        for (words, url, items) in [
            (&["a.example", "b=c"][..], "a.example", vec![text("b", "c")]),
            (&["b=c", ":80/x", "d==e"], ":80/x", vec![text("b", "c"), query("d", "e")]),
            (&["b=c", "d=e"], "b=c", vec![text("d", "e")]),
            (&["X:1", ":80"], "X:1", vec![Item::Url(":80".into())]),
            (&["a/x?b=c", ":80"], "a/x?b=c", vec![Item::Url(":80".into())]),
        ] {
            let rest: Vec<String> = words[1..].iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(read(Some(words[0]), &rest).unwrap(), (Some(url), items), "{words:?}");
        }
    }

    #[test]
    fn a_backslash_makes_a_separator_a_part_of_the_name() {
        for (given, expected) in [
            (r"a\=b=c", text("a=b", "c")),
            (r"a\:b=c", text("a:b", "c")),
            (r"a\==b", text("a=", "b")),
            (r"a\\=b", text(r"a\\", "b")),
            (r"a\\==b", query(r"a\", "b")),
            (r"a=\@b", text("a", "@b")),
            (r"A:\@b", field("A", Some("@b"))),
            (r"a\b=c", text(r"a\b", "c")),
            (r"a=b\=c", text("a", "b=c")),
            (r"a=b\:c\;\@\=", text("a", "b:c;@=")),
            (r"a=b\\=c", text("a", r"b\\=c")),
            (r"a=b\c\", text("a", r"b\c\")),
            (r"a==b\=c", query("a", "b=c")),
            (r"A:b\:c", field("A", Some("b:c"))),
            (r"\@a=b", text("@a", "b")),
        ] {
            assert_eq!(Item::of(given), Ok(expected), "{given}");
        }
    }

    #[test]
    fn what_is_no_item_is_said() {
        for wrong in
            ["", "a", "=b", ":b", "==b", ":=1", "a:=", "a:=b", "a:=1 2", "a b:c", "A:b\nc", r"a\=b", ";"]
        {
            let error = Item::of(wrong).unwrap_err();
            assert!(error.starts_with('"') && !error.contains('\n'), "{error}");
        }
    }
}

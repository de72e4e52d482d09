//! Names of items that are paths into JSON, as in HTTPie: `a[b]` is a member, `a[0]` an element and `a[]` a
//! new one.
//!
//! Values are kept as they were written: what is given as JSON is read only where a later name leads into it.

use std::{fmt::Write as _, mem, ops::Range};

use serde_json::value::RawValue;

use super::members::Members;

/// The greatest index: a bound against typing errors.
const INDEX_MAX: usize = 65_535;

/// The most parts of one name. JSON that is deeper is read by few.
const DEPTH_MAX: usize = 100;

/// JSON that is built item by item.
#[derive(Debug, Default)]
pub(in crate::fetch) struct Document {
    root: Node,
}

#[derive(Debug, Default)]
enum Node {
    /// A node without a value; `null` in the end.
    #[default]
    Unset,
    Object(Vec<(String, Self)>),
    Array(Vec<Self>),
    /// JSON text that is written unchanged.
    Written(String),
}

/// A step of a path, and its place in the name.
#[derive(Debug)]
struct Step {
    access: Access,
    place: Range<usize>,
}

#[derive(Debug)]
enum Access {
    Key(String),
    Index(usize),
    Append,
}

/// An error about a part of a name.
#[derive(Debug)]
struct Wrong {
    why: String,
    place: Range<usize>,
}

impl Document {
    /// Puts valid JSON at the place that the name describes.
    ///
    /// # Errors
    /// The sentence about a name that is none, or that leads into something else than it needs, with the name
    /// below it and carets below the place.
    pub(in crate::fetch) fn put(&mut self, name: &str, json: String) -> Result<(), String> {
        let put =
            steps(name).and_then(|steps| self.root.at(name, &steps).map(|node| *node = Node::Written(json)));
        put.map_err(|wrong| wrong.shown(name))
    }

    /// Returns the JSON text; an empty object if nothing was added.
    pub(in crate::fetch) fn into_json(self) -> String {
        let mut json = String::new();
        match self.root {
            Node::Unset => json.push_str("{}"),
            root => root.write(&mut json),
        }
        json
    }
}

impl Node {
    /// Returns the node at the end of the steps, and creates it if necessary.
    fn at(&mut self, name: &str, steps: &[Step]) -> Result<&mut Self, Wrong> {
        let mut node = self;
        for step in steps {
            node.unfold();
            node = node.follow(step).map_err(|kind| step.refused(name, kind))?;
        }
        Ok(node)
    }

    /// Follows one step; the error is the kind of the node in the way.
    fn follow(&mut self, step: &Step) -> Result<&mut Self, &'static str> {
        if let Self::Unset = self {
            *self = match step.access {
                Access::Key(_) => Self::Object(Vec::new()),
                Access::Index(_) | Access::Append => Self::Array(Vec::new()),
            };
        }
        match (self, &step.access) {
            (Self::Object(members), Access::Key(key)) => Ok(member(members, key)),
            (Self::Array(elements), Access::Index(index)) => {
                let length = elements.len().max(index + 1);
                elements.resize_with(length, Self::default);
                Ok(&mut elements[*index])
            }
            (Self::Array(elements), Access::Append) => {
                elements.push(Self::Unset);
                let last = elements.len() - 1;
                Ok(&mut elements[last])
            }
            (other, _) => Err(other.kind()),
        }
    }

    /// Parses JSON text one level deep.
    fn unfold(&mut self) {
        let Self::Written(json) = self else { return };
        let written = |value: Box<RawValue>| Self::Written(value.get().to_owned());
        match json.trim_start().as_bytes().first() {
            Some(b'n') => *self = Self::Unset,
            Some(b'[') => {
                let elements: Vec<Box<RawValue>> = serde_json::from_str(json).unwrap_or_default();
                *self = Self::Array(elements.into_iter().map(written).collect());
            }
            Some(b'{') => {
                let Members(members) = serde_json::from_str(json).unwrap_or_default();
                *self = Self::Object(members.into_iter().map(|(key, value)| (key, written(value))).collect());
            }
            _ => {}
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Unset => "null",
            Self::Object(_) => "an object",
            Self::Array(_) => "an array",
            Self::Written(json) => match json.trim_start().as_bytes().first() {
                Some(b'"') => "a string",
                Some(b't' | b'f') => "a boolean",
                _ => "a number",
            },
        }
    }

    fn write(self, json: &mut String) {
        match self {
            Self::Unset => json.push_str("null"),
            Self::Written(written) => json.push_str(&written),
            Self::Object(members) => {
                let mut before = "{";
                for (key, value) in members {
                    // A string takes all there is.
                    let _ =
                        write!(json, "{}{}:", mem::replace(&mut before, ","), serde_json::Value::String(key));
                    value.write(json);
                }
                json.push_str(if before == "{" { "{}" } else { "}" });
            }
            Self::Array(elements) => {
                let mut before = "[";
                for value in elements {
                    json.push_str(mem::replace(&mut before, ","));
                    value.write(json);
                }
                json.push_str(if before == "[" { "[]" } else { "]" });
            }
        }
    }
}

/// Returns the last member of this name, and creates it if necessary.
fn member<'a>(members: &'a mut Vec<(String, Node)>, key: &str) -> &'a mut Node {
    let place = members.iter().rposition(|(known, _)| known == key).unwrap_or_else(|| {
        members.push((key.to_owned(), Node::Unset));
        members.len() - 1
    });
    &mut members[place].1
}

impl Step {
    fn refused(&self, name: &str, kind: &str) -> Wrong {
        let before: String = name.chars().take(self.place.start).collect();
        let this: String = name.chars().skip(self.place.start).take(self.place.len()).collect();
        let needed = match self.access {
            Access::Key(_) => "an object",
            Access::Index(_) | Access::Append => "an array",
        };
        let owner = if before.is_empty() { "the whole".to_owned() } else { format!("{before:?}") };
        Wrong {
            why: format!("{owner} is {kind} already, and {this} needs {needed}"),
            place: self.place.clone(),
        }
    }
}

impl Wrong {
    fn shown(&self, name: &str) -> String {
        let Range { start, end } = self.place;
        format!(
            "{}\n  {name}\n  {}{}",
            self.why,
            " ".repeat(start),
            "^".repeat(end.saturating_sub(start).max(1))
        )
    }
}

/// A bracket, or the text between brackets, with its place in the name.
#[derive(Clone, Debug)]
struct Token {
    kind: TokenKind,
    place: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
enum TokenKind {
    Open,
    Close,
    Text(String),
    /// Digits, with a minus sign or without.
    Number(String),
}

/// Returns the steps of a name.
fn steps(name: &str) -> Result<Vec<Step>, Wrong> {
    let mut tokens = Tokens { all: tokens(name), next: 0 };
    let mut steps = vec![tokens.root()?];
    while tokens.next < tokens.all.len() {
        steps.push(tokens.step()?);
    }
    match steps.get(DEPTH_MAX) {
        Some(step) => {
            Err(Wrong { why: format!("a name has {DEPTH_MAX} parts at most"), place: step.place.clone() })
        }
        None => Ok(steps),
    }
}

struct Tokens {
    all: Vec<Token>,
    next: usize,
}

impl Tokens {
    /// Parses a word, `[0]` or `[]`.
    fn root(&mut self) -> Result<Step, Wrong> {
        let Some(first) = self.all.first().cloned() else {
            return Ok(Step { access: Access::Key(String::new()), place: 0..0 });
        };
        match first.kind {
            TokenKind::Text(key) | TokenKind::Number(key) => {
                self.next = 1;
                Ok(Step { access: Access::Key(key), place: first.place })
            }
            TokenKind::Open | TokenKind::Close => {
                let step = self.step()?;
                match step.access {
                    Access::Key(_) => Err(Wrong {
                        why: "a number or `]` is expected here: the whole is an array".to_owned(),
                        place: step.place.start + 1..step.place.end - 1,
                    }),
                    _ => Ok(step),
                }
            }
        }
    }

    /// Parses `[key]`, `[0]` or `[]`.
    fn step(&mut self) -> Result<Step, Wrong> {
        let start = self.expect("`[`", |kind| *kind == TokenKind::Open)?.place.start;
        let inner = self.expect("a key, a number or `]`", |kind| *kind != TokenKind::Open)?;
        let access = match inner.kind {
            TokenKind::Open | TokenKind::Close => {
                return Ok(Step { access: Access::Append, place: start..inner.place.end });
            }
            TokenKind::Text(key) => Access::Key(key),
            TokenKind::Number(digits) => Access::Index(index(&digits, &inner.place)?),
        };
        let end = self.expect("`]`", |kind| *kind == TokenKind::Close)?.place.end;
        Ok(Step { access, place: start..end })
    }

    fn expect(&mut self, expected: &str, is_it: impl FnOnce(&TokenKind) -> bool) -> Result<Token, Wrong> {
        let after_last = self.all.last().map_or(0, |last| last.place.end);
        let token = self.all.get(self.next).cloned();
        self.next += 1;
        let place = token.as_ref().map_or(after_last..after_last + 1, |token| token.place.clone());
        token
            .filter(|token| is_it(&token.kind))
            .ok_or_else(|| Wrong { why: format!("{expected} is expected here"), place })
    }
}

fn index(digits: &str, place: &Range<usize>) -> Result<usize, Wrong> {
    let wrong = |why: String| Wrong { why, place: place.clone() };
    if digits.starts_with('-') {
        return Err(wrong("an index cannot be negative".to_owned()));
    }
    let index = digits.parse().ok().filter(|index| *index <= INDEX_MAX);
    index.ok_or_else(|| wrong(format!("an index is {INDEX_MAX} at most")))
}

/// Splits a name into tokens; a backslash makes a bracket or a backslash literal, and a number a key.
fn tokens(name: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word = Word::default();
    let mut characters = name.chars().enumerate().peekable();
    while let Some((at, character)) = characters.next() {
        let bracket = match character {
            '[' => TokenKind::Open,
            ']' => TokenKind::Close,
            '\\' => {
                let escaped = characters.next_if(|(_, next)| "[]\\".contains(*next));
                word.push(at, escaped.map_or('\\', |(_, escaped)| escaped), escaped.is_some());
                continue;
            }
            other => {
                word.push(at, other, false);
                continue;
            }
        };
        tokens.extend(mem::take(&mut word).token(at));
        tokens.push(Token { kind: bracket, place: at..at + 1 });
    }
    tokens.extend(word.token(name.chars().count()));
    tokens
}

/// Text between brackets, while it is read.
#[derive(Default)]
struct Word {
    start: usize,
    text: String,
    has_escapes: bool,
}

impl Word {
    fn push(&mut self, at: usize, character: char, is_escaped: bool) {
        if self.text.is_empty() {
            self.start = at;
        }
        self.text.push(character);
        self.has_escapes |= is_escaped;
    }

    fn token(self, end: usize) -> Option<Token> {
        let Self { start, text, has_escapes } = self;
        let is_number = |text: &str| {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        let kind = match text.strip_prefix('\\').filter(|rest| !has_escapes && is_number(rest)) {
            Some(key) => TokenKind::Text(key.to_owned()),
            None if !has_escapes && is_number(&text) => TokenKind::Number(text),
            None if text.is_empty() => return None,
            None => TokenKind::Text(text),
        };
        Some(Token { kind, place: start..end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(items: &[(&str, &str)]) -> Result<String, String> {
        let mut document = Document::default();
        items.iter().try_for_each(|(name, json)| document.put(name, (*json).to_owned()))?;
        Ok(document.into_json())
    }

    #[test]
    fn names_lead_into_objects_and_arrays() {
        for (items, expected) in [
            (&[("a", "1")][..], r#"{"a":1}"#),
            (&[("a[b]", "1"), ("a[c]", "2")], r#"{"a":{"b":1,"c":2}}"#),
            (&[("a[]", "1"), ("a[]", "2")], r#"{"a":[1,2]}"#),
            (&[("a[2]", "1"), ("a[0]", "2")], r#"{"a":[2,null,1]}"#),
            (&[("a[b][][c]", "1"), ("a[b][][c]", "2")], r#"{"a":{"b":[{"c":1},{"c":2}]}}"#),
            (&[("[]", "1"), ("[]", "2")], "[1,2]"),
            (&[("[1][a]", "1")], r#"[null,{"a":1}]"#),
            (&[("a[1][b]", "1"), ("a[0]", "2")], r#"{"a":[2,{"b":1}]}"#),
            (&[("a", r#"{"b": 1.0}"#), ("a[c]", "2")], r#"{"a":{"b":1.0,"c":2}}"#),
            (&[("a", "[1e400, {}]"), ("a[1][b]", "2"), ("a[]", "3")], r#"{"a":[1e400,{"b":2},3]}"#),
            (&[("a", "null"), ("a[b]", "2")], r#"{"a":{"b":2}}"#),
            (&[("a", "1"), ("b", "2"), ("a", "3")], r#"{"a":3,"b":2}"#),
            (&[("a", "[ ]"), ("b", "{ }")], r#"{"a":[ ],"b":{ }}"#),
            (&[(r"a\[b\]", "1")], r#"{"a[b]":1}"#),
            (&[(r"a\\[b]", "1")], r#"{"a\\":{"b":1}}"#),
            (&[(r"a[\1]", "1"), (r"a[x\y]", "2")], r#"{"a":{"1":1,"x\\y":2}}"#),
            (&[(r"a[b\]c]", "1")], r#"{"a":{"b]c":1}}"#),
            (&[("007", "1"), ("a[b c]", "2"), ("é[ü]", "3")], r#"{"007":1,"a":{"b c":2},"é":{"ü":3}}"#),
            (&[("a\\", "1")], r#"{"a\\":1}"#),
            (&[], "{}"),
        ] {
            assert_eq!(json(items).as_deref(), Ok(expected), "{items:?}");
        }
    }

    #[test]
    fn what_is_wrong_has_carets_below_it() {
        for (items, sentence, carets) in [
            (
                &[("a", "\"1\""), ("a[b]", "2")][..],
                "\"a\" is a string already, and [b] needs an object",
                " ^^^",
            ),
            (&[("é[b]", "1"), ("é[0]", "2")], "\"é\" is an object already, and [0] needs an array", " ^^^"),
            (&[("a[]", "1"), ("a[b]", "2")], "\"a\" is an array already, and [b] needs an object", " ^^^"),
            (
                &[("a[b]", "1"), ("a[b][]", "2")],
                "\"a[b]\" is a number already, and [] needs an array",
                "    ^^",
            ),
            (&[("a", "true"), ("a[]", "2")], "\"a\" is a boolean already, and [] needs an array", " ^^"),
            (&[("[]", "1"), ("a", "2")], "the whole is an array already, and a needs an object", "^"),
            (&[("a[b", "1")], "`]` is expected here", "   ^"),
            (&[("a[", "1")], "a key, a number or `]` is expected here", "  ^"),
            (&[("a[[", "1")], "a key, a number or `]` is expected here", "  ^"),
            (&[("a]", "1")], "`[` is expected here", " ^"),
            (&[("a[]b", "1")], "`[` is expected here", "   ^"),
            (&[("]", "1")], "`[` is expected here", "^"),
            (&[("[a]", "1")], "a number or `]` is expected here: the whole is an array", " ^"),
            (&[("a[-1]", "1")], "an index cannot be negative", "  ^^"),
            (&[("a[65536]", "1")], "an index is 65535 at most", "  ^^^^^"),
        ] {
            let (name, _) = items[items.len() - 1];
            assert_eq!(json(items), Err(format!("{sentence}\n  {name}\n  {carets}")), "{items:?}");
        }
        let deep = format!("a{}", "[b]".repeat(DEPTH_MAX));
        assert!(json(&[(&deep, "1")]).unwrap_err().starts_with("a name has 100 parts at most\n"));
        assert!(json(&[(&deep[..deep.len() - 3], "1")]).is_ok());
    }
}

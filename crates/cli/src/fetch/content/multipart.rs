//! The parts of a multipart form (RFC 7578), from `-F` and from items.

use std::{fs, path::Path};

use super::{Input, part_encoder::PartEncoder};
use crate::{
    args::FormPart,
    failure::exit::{Exit, Failure},
};

/// A part of a form: a text, or a file with a name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::fetch) struct Part {
    pub(in crate::fetch) name: String,
    pub(in crate::fetch) input: Input,
    pub(in crate::fetch) file_name: Option<String>,
    pub(in crate::fetch) media_type: Option<String>,
    /// The further fields of its head.
    pub(in crate::fetch) fields: Vec<(String, String)>,
    pub(in crate::fetch) encoder: Option<PartEncoder>,
    /// The files of a part that consists of several.
    pub(in crate::fetch) files: Vec<Part>,
}

impl Part {
    pub(in crate::fetch) fn text(name: &str, text: &[u8]) -> Self {
        let input = Input::Text(text.to_vec().into());
        Self::new(name, input)
    }

    fn new(name: &str, input: Input) -> Self {
        Self {
            name: name.to_owned(),
            input,
            file_name: None,
            media_type: None,
            fields: Vec::new(),
            encoder: None,
            files: Vec::new(),
        }
    }

    /// Creates the part of a file, whose media type follows from its name unless it is given.
    pub(in crate::fetch) fn file(name: &str, path: &str, media_type: Option<String>) -> Self {
        let input = Input::named(path);
        let file_name = match input {
            Input::Stdin => "-".to_owned(),
            _ => Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        };
        let guessed = || mime_guess::from_path(path).first_or_octet_stream().to_string();
        // Stdin may be anything.
        let guessed = || (input != Input::Stdin).then(guessed);
        let media_type = media_type.or_else(guessed);
        Self { file_name: Some(file_name), media_type, ..Self::new(name, input) }
    }

    /// Returns the sources of the part, or of each of its files.
    pub(in crate::fetch) fn inputs_mut(&mut self) -> Vec<&mut Input> {
        let Self { input, files, .. } = self;
        std::iter::once(input).chain(files.iter_mut().map(|file| &mut file.input)).collect()
    }

    /// Returns true if some of the part comes from stdin.
    pub(in crate::fetch) fn has_stdin(&self) -> bool {
        self.input == Input::Stdin || self.files.iter().any(Self::has_stdin)
    }

    /// Parses the value of `-F` or `--form-string`.
    pub(in crate::fetch) fn of(argument: &FormPart) -> Result<Self, Failure> {
        match argument {
            FormPart::Read(text) => Self::read(text),
            FormPart::Literal(text) => {
                let (name, value) = named(text)?;
                Ok(Self::text(name, value.as_bytes()))
            }
        }
    }

    /// Parses `NAME=TEXT`, `NAME=@FILE` or `NAME=<FILE`, then `;type=TYPE`, `;filename=NAME`, `;encoder=NAME`
    /// and `;headers=FIELD`. Further files follow commas, each with what is said of it.
    fn read(argument: &str) -> Result<Self, Failure> {
        let (name, rest) = named(argument)?;
        let (kind, rest) = match rest.strip_prefix(['@', '<']) {
            Some(path) => (&rest[..1], path),
            None => ("", rest),
        };
        let is_list = kind == "@";
        let (mut part, mut rest) = Self::read_one(name, kind, rest, is_list)?;
        if is_list && rest.starts_with(',') {
            let mut files = vec![part];
            while let Some(more) = rest.strip_prefix(',') {
                let (file, left) = Self::read_one(name, kind, more, is_list)?;
                files.push(file);
                rest = left;
            }
            part = Self { files, ..Self::text(name, b"") };
        }
        match rest.trim() {
            "" => Ok(part),
            rest => Err(usage(format_args!("{argument:?} is no part: {rest:?} is behind its end"))),
        }
    }

    /// Parses one file or text with its parameters, and returns the rest. In a list it ends at a comma.
    fn read_one<'a>(
        name: &str,
        kind: &str,
        text: &'a str,
        is_list: bool,
    ) -> Result<(Self, &'a str), Failure> {
        let (value, mut rest) = word(text, is_list);
        let mut part = match kind {
            "@" => Self::file(name, &value, None),
            // `<` sends the content of the file as a text without a file name, as with curl.
            "<" => Self::text(name, &read_file(&value)?),
            _ => Self::text(name, value.as_bytes()),
        };
        while let Some((parameter, after)) = parameter(rest) {
            let (value, left) = word(after, is_list);
            match parameter {
                Parameter::Type => part.media_type = Some(value),
                Parameter::FileName => part.file_name = Some(value),
                Parameter::Headers => part.add_fields(&value)?,
                Parameter::Encoder => {
                    let encoder = PartEncoder::find(value.trim());
                    let complain = || usage(format_args!("{value:?} is no encoder of parts")).curl(43);
                    part.encoder = Some(encoder.ok_or_else(complain)?);
                }
            }
            rest = left;
        }
        Ok((part, rest))
    }

    /// Adds a field, or the fields of a file, one on each line.
    fn add_fields(&mut self, given: &str) -> Result<(), Failure> {
        let text = match given.strip_prefix(['@', '<']) {
            Some(path) => String::from_utf8_lossy(&read_file(path)?).into_owned(),
            None => given.to_owned(),
        };
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let field = line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
            let complain = || usage(format_args!("{line:?} is no field of a part: written as NAME: VALUE"));
            self.fields.push(field.ok_or_else(complain)?);
        }
        Ok(())
    }
}

fn usage(sentence: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Usage, sentence)
}

fn read_file(path: &str) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::unread(path, &error))
}

fn named(argument: &str) -> Result<(&str, &str), Failure> {
    let complain = || usage(format_args!("{argument:?} is no part: written as NAME=TEXT or NAME=@FILE"));
    argument.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(complain)
}

#[derive(Clone, Copy)]
enum Parameter {
    Type,
    FileName,
    Headers,
    Encoder,
}

const PARAMETERS: [(&str, Parameter); 4] = [
    ("type=", Parameter::Type),
    ("filename=", Parameter::FileName),
    ("headers=", Parameter::Headers),
    ("encoder=", Parameter::Encoder),
];

/// Splits off the parameter whose semicolon begins the text.
fn parameter(text: &str) -> Option<(Parameter, &str)> {
    let text = text.strip_prefix(';')?.trim_start();
    PARAMETERS.iter().find_map(|(name, parameter)| Some((*parameter, text.strip_prefix(name)?)))
}

/// Splits off a value: without surrounding white space, in quotes with escapes, or up to the next parameter.
/// A semicolon that begins no parameter is a part of it, and so is a comma outside of lists.
fn word(text: &str, is_list: bool) -> (String, &str) {
    let text = text.trim_start();
    if let Some((value, rest)) = text.strip_prefix('"').and_then(|text| quoted(text, is_list)) {
        return (value, rest);
    }
    let is_end = |rest: &str| is_list && rest.starts_with(',') || parameter(rest).is_some();
    let mut ends = text.match_indices([';', ',']).map(|(at, _)| at);
    let end = ends.find(|at| is_end(&text[*at..])).unwrap_or(text.len());
    (text[..end].trim_end().to_owned(), &text[end..])
}

/// Splits off quoted text, if a parameter, the next of a list or nothing follows it.
fn quoted(text: &str, is_list: bool) -> Option<(String, &str)> {
    let (mut value, mut characters) = (String::new(), text.char_indices());
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => {
                let rest = text[at + 1..].trim_start();
                let is_next = is_list && rest.starts_with(',');
                return (rest.is_empty() || is_next || parameter(rest).is_some()).then_some((value, rest));
            }
            '\\' => match characters.next()? {
                (_, escaped @ ('"' | '\\')) => value.push(escaped),
                (_, other) => value.extend(['\\', other]),
            },
            plain => value.push(plain),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_a_text_or_a_file_with_parameters() {
        let text = |name: &str, value: &str| Part::text(name, value.as_bytes());
        for (argument, expected) in [
            ("a=b", text("a", "b")),
            ("a=", text("a", "")),
            ("a=b;c", text("a", "b;c")),
            ("a=b;type=text/x", Part { media_type: Some("text/x".into()), ..text("a", "b") }),
            ("a=@x/b.png", Part::file("a", "x/b.png", Some("image/png".into()))),
            ("a=@b;type=c/d", Part::file("a", "b", Some("c/d".into()))),
            ("a=@-", Part::file("a", "-", None)),
            ("a=b,c", text("a", "b,c")),
            ("a=b;encoder=base64", Part { encoder: Some(PartEncoder::Base64), ..text("a", "b") }),
            (
                "a=@b.txt;type=c/d, \"e,f\" ;filename=g,h.png;encoder=7bit",
                Part {
                    files: vec![
                        Part::file("a", "b.txt", Some("c/d".into())),
                        Part { file_name: Some("g".into()), ..Part::file("a", "e,f", None) },
                        Part { encoder: Some(PartEncoder::SevenBit), ..Part::file("a", "h.png", None) },
                    ],
                    ..text("a", "")
                },
            ),
            ("a=@b;type=c/d;charset=x", Part::file("a", "b", Some("c/d;charset=x".into()))),
            ("a=@\"b;type=c\"", Part::file("a", "b;type=c", None)),
            ("a=\"b\\\"\\\\c\"", text("a", "b\"\\c")),
            ("a=\"b\"c", text("a", "\"b\"c")),
            ("a=\"b", text("a", "\"b")),
            (
                "a=b;headers=\"X-A: 1;type=2\";headers=x-b:3; type=c/d",
                Part {
                    media_type: Some("c/d".into()),
                    fields: [("X-A", "1;type=2"), ("x-b", "3")].map(|(a, b)| (a.into(), b.into())).into(),
                    ..text("a", "b")
                },
            ),
            (
                "a=@b;filename=\"c d\";type=e/f",
                Part { file_name: Some("c d".into()), ..Part::file("a", "b", Some("e/f".into())) },
            ),
        ] {
            assert_eq!(Part::read(argument).unwrap(), expected, "{argument}");
        }
        assert_eq!(Part::file("a", "x/b.png", None).file_name.as_deref(), Some("b.png"));
        let literal = FormPart::Literal("a=@b;type=c".into());
        assert_eq!(Part::of(&literal).unwrap(), text("a", "@b;type=c"));
        for wrong in
            ["", "a", "=b", "a=<no such file", "a=b;headers=c", "a=b;headers=@no such file", "a=b;encoder=c"]
        {
            assert!(Part::read(wrong).is_err(), "{wrong}");
        }
        let manifest = Part::read(concat!("a=<", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
        assert!(matches!(manifest.input, Input::Text(text) if text.starts_with(b"[package]")));
    }
}

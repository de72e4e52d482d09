//! What the parts of a form are (RFC 7578), by `-F` and by items.

use std::{fs, path::Path};

use super::content::Octets;
use crate::exit::{Exit, Failure};

/// One part: a text, or a file that is sent under a name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) octets: Octets,
    pub(super) file_name: Option<String>,
    pub(super) media_type: Option<String>,
}

impl Part {
    pub(super) fn text(name: &str, text: &[u8]) -> Self {
        Self { name: name.to_owned(), octets: Octets::Text(text.to_vec()), file_name: None, media_type: None }
    }

    /// The media type follows from the file's name unless it is given.
    pub(super) fn file(name: &str, path: &str, media_type: Option<String>) -> Self {
        let octets = Octets::named(path);
        let file_name = match octets {
            Octets::Stdin => "-".to_owned(),
            _ => Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        };
        let guessed = || mime_guess::from_path(path).first_or_octet_stream().to_string();
        let media_type = Some(media_type.unwrap_or_else(guessed));
        Self { name: name.to_owned(), octets, file_name: Some(file_name), media_type }
    }

    /// What `-F` is given: `NAME=TEXT`, `NAME=@FILE` or `NAME=<FILE`, then `;type=TYPE` and `;filename=NAME`.
    pub(super) fn of(argument: &str) -> Result<Self, Failure> {
        let complain = || {
            Failure::new(
                Exit::Usage,
                format_args!("{argument:?} is no part: written as NAME=TEXT or NAME=@FILE"),
            )
        };
        let (name, rest) =
            argument.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(complain)?;
        let (value, parameters) = split_parameters(rest);
        let mut part = match (value.strip_prefix('@'), value.strip_prefix('<')) {
            (Some(path), _) => Self::file(name, path, None),
            (_, Some(path)) => {
                Self::text(name, &fs::read(path).map_err(|error| Failure::local(path, &error))?)
            }
            _ => Self::text(name, value.as_bytes()),
        };
        for (parameter, value) in parameters {
            match parameter {
                Parameter::Type => part.media_type = Some(value.to_owned()),
                Parameter::FileName => part.file_name = Some(value.to_owned()),
            }
        }
        Ok(part)
    }
}

#[derive(Clone, Copy)]
enum Parameter {
    Type,
    FileName,
}

/// The value, and the parameters at its end; a semicolon that begins none is a part of the value.
fn split_parameters(text: &str) -> (&str, Vec<(Parameter, &str)>) {
    let mut value = text;
    let mut found = Vec::new();
    while let Some((before, last)) = value.rsplit_once(';') {
        let parameter = match last.trim_start().split_once('=') {
            Some(("type", value)) => (Parameter::Type, value),
            Some(("filename", value)) => (Parameter::FileName, value.trim_matches('"')),
            _ => break,
        };
        found.push(parameter);
        value = before;
    }
    (value, found)
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
            (
                "a=@b;filename=\"c d\";type=e/f",
                Part { file_name: Some("c d".into()), ..Part::file("a", "b", Some("e/f".into())) },
            ),
        ] {
            assert_eq!(Part::of(argument).unwrap(), expected, "{argument}");
        }
        assert_eq!(Part::file("a", "x/b.png", None).file_name.as_deref(), Some("b.png"));
        for wrong in ["", "a", "=b", "a=<no such file"] {
            assert!(Part::of(wrong).is_err(), "{wrong}");
        }
        let manifest = Part::of(concat!("a=<", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
        assert!(matches!(manifest.octets, Octets::Text(text) if text.starts_with(b"[package]")));
    }
}

//! The error of a capture that does not match what a handler expects.

use std::{
    error,
    fmt::{self, Write as _},
};

use alula_fields::OneLine;

/// A capture of a path that does not match what a handler expects.
///
/// As an answer it is 400, and 500 where the pattern has no capture of that name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ParamError {
    name: Box<str>,
    why: Why,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Why {
    NotCaptured,
    BadEscape,
    NotText,
    NotParsed,
}

impl ParamError {
    #[cold]
    pub(super) fn new(name: &str, why: Why) -> Self {
        Self { name: name.into(), why }
    }

    /// Returns true if the pattern has no capture of that name, which is a mistake of the program.
    pub(crate) fn is_of_program(&self) -> bool {
        self.why == Why::NotCaptured
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, mut line) = (&self.name, OneLine(f));
        match self.why {
            Why::NotCaptured => write!(line, "the route captures nothing by the name {name}"),
            Why::BadEscape => {
                write!(line, "{name} in the path has a % that is not followed by two hexadecimal digits")
            }
            Why::NotText => write!(line, "{name} in the path is not UTF-8"),
            Why::NotParsed => write!(line, "{name} in the path is not what is expected here"),
        }
    }
}

impl error::Error for ParamError {}

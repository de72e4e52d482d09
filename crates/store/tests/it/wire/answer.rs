//! An answer, as it came.

use std::fmt;

/// An answer, read to its end.
#[derive(Clone, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) content: Vec<u8>,
}

impl Answer {
    /// The value of a field; several are joined by commas (RFC 9110 §5.2).
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        let name = name.to_ascii_lowercase();
        let values: Vec<_> =
            self.fields.iter().filter(|(own, _)| *own == name).map(|(_, it)| &**it).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status)?;
        for (name, value) in &self.fields {
            write!(f, " [{name}: {}]", beginning(value))?;
        }
        write!(f, " {:?}", beginning(&String::from_utf8_lossy(&self.content)))
    }
}

/// Enough for a person to see what came.
fn beginning(text: &str) -> &str {
    const SHOWN_MAX: usize = 600;
    text.char_indices().nth(SHOWN_MAX).map_or(text, |(end, _)| &text[..end])
}

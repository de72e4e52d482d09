//! Arguments that are refused, said without the secrets that may be in them.

use alula::masked_url;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The same complaint. A value that was refused is shown as far as it holds no secret: of a field its name, of a URL what is no
/// credential, and nothing of what is a name and a password.
pub(super) fn masked(mut error: Error) -> Error {
    if error.kind() != ErrorKind::ValueValidation {
        return error;
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let shown = shown(&text(ContextKind::InvalidArg), &text(ContextKind::InvalidValue));
    error.insert(ContextKind::InvalidValue, ContextValue::String(shown));
    error
}

fn shown(argument: &str, value: &str) -> String {
    if argument.contains("<FIELD>") && !value.starts_with('@') {
        let name = value.split_once([':', ';']).map_or("", |(name, _)| name);
        return format!("{}: …", name.escape_debug());
    }
    if argument.contains("PASSWORD") {
        return "…".to_owned();
    }
    if value.contains("//") || value.contains('@') { masked_url(value) } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::Parser as _;

    fn said(arguments: &[&str]) -> String {
        let all = ["alula", "get"].iter().chain(arguments).copied();
        masked(Args::try_parse_from(all).unwrap_err()).to_string()
    }

    #[test]
    fn secrets_in_arguments_are_not_shown() {
        let field = said(&["http://a", "-H", "Authorization: Bearer s3cret\r\n"]);
        assert!(field.contains("'Authorization: …'") && !field.contains("s3cret"), "{field}");
        let user = said(&["http://a", "-u", "s3cret"]);
        assert!(!user.contains("s3cret") && user.contains("NAME:PASSWORD"), "{user}");
    }

    #[test]
    fn other_values_are_shown() {
        let time = said(&["http://a", "--max-time", "soon"]);
        assert!(time.contains("'soon'"), "{time}");
    }
}

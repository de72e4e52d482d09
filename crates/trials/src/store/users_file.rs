//! The users file of the store, and the credentials of requests (RFC 7617).
//!
//! No file makes its reader panic, and no error tells a password.

use alula_fields::FieldSection;
use alula_store::access::Users;
use alula_store::fuzzing;

/// A password that no file may show.
const SECRET: &str = "hunter2";

/// The first byte says whether the others are a file or a value of `authorization`.
pub fn users_file(data: &[u8]) {
    match data.split_first() {
        Some((0, value)) => credentials(value),
        Some((_, text)) => file(&String::from_utf8_lossy(text)),
        None => {}
    }
}

fn file(text: &str) {
    let lines = 1 + text.matches('\n').count();
    if let Err(error) = Users::parse(text) {
        let shown = error.to_string();
        let line = shown.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
        if let Some((line, _)) = line {
            let line: usize = line.parse().expect("a number");
            assert!((1..=lines).contains(&line), "{shown}");
        }
        assert!(!shown.contains(SECRET) || is_a_name(text), "{shown}");
    }
}

/// Returns true if the secret may stand somewhere else than in a password.
fn is_a_name(text: &str) -> bool {
    text.matches(SECRET).count() != text.matches(&format!("password = \"{SECRET}\"\n")).count()
}

fn credentials(value: &[u8]) {
    let mut headers = FieldSection::new();
    if headers.append("authorization", value).is_err() {
        return;
    }
    let Some((name, password)) = fuzzing::credentials(&headers) else { return };
    assert!(!name.contains(':'));
    let bytes = name.len() + 1 + password.len();
    assert!(bytes <= value.len() && value.len() >= bytes.div_ceil(3) * 4);
    headers.append("authorization", value).expect("as before");
    assert_eq!(fuzzing::credentials(&headers), None, "two fields");
}

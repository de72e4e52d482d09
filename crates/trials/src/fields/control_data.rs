//! Methods, schemes, statuses and numbers: short texts, each against the rule that defines it.

use alula_fields::{Decimal, Method, Scheme, Status};

use crate::input::Input;

/// The bytes as each of them.
pub fn control_data(data: &[u8]) {
    status(data);
    decimal(Input::new(data).u64());
    if let Ok(text) = std::str::from_utf8(data) {
        method(text);
        scheme(text);
    }
}

fn method(text: &str) {
    let is_token = !text.is_empty()
        && text.bytes().all(|o| o.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&o));
    let (exact, folded) = (Method::parse(text), Method::parse_folded(text));
    assert_eq!((exact.is_ok(), folded.is_ok()), (is_token, is_token), "{text:?}");
    let (Ok(exact), Ok(folded)) = (exact, folded) else { return };
    assert_eq!(exact.as_str(), text);
    assert!(Method::eq_ignore_case(text, folded.as_str()));
    assert_eq!(Method::parse(&text.to_ascii_uppercase()).map(Method::is_safe), Ok(folded.is_safe()));
    assert!(folded.is_idempotent() || !folded.is_safe());
}

fn scheme(text: &str) {
    let has_form = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let scheme = Scheme::parse(text);
    assert_eq!(scheme.is_ok(), has_form, "{text:?}");
    if let Ok(scheme) = scheme {
        assert!(scheme.as_str().eq_ignore_ascii_case(text));
        assert_eq!(scheme.default_port().is_some(), matches!(scheme.as_str(), "http" | "https"));
        assert_eq!(Scheme::parse(scheme.as_str()), Ok(scheme));
    }
}

fn status(digits: &[u8]) {
    let number = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|o| o.is_ascii_digit()));
    let number = number.filter(|text| text.len() == 3).and_then(|text| text.parse().ok());
    let expected = number.filter(|number: &u16| *number >= 100);
    assert_eq!(Status::parse(digits).map(Status::as_u16).ok(), expected);
    let Some(status) = expected.and_then(Status::new) else { return };
    assert_eq!((&status.digits()[..], status.to_string().as_bytes()), (digits, digits));
    let classes = [status.is_informational(), status.is_success(), status.is_redirection()];
    let errors = [status.is_client_error(), status.is_server_error()];
    let places = classes.into_iter().chain(errors).enumerate();
    places.for_each(|(at, is_in)| assert_eq!(is_in, usize::from(status.as_u16()) / 100 == at + 1));
}

fn decimal(number: u64) {
    assert_eq!(Decimal::of(number).as_bytes(), number.to_string().as_bytes());
    let short = number >> (number % 64);
    assert_eq!(Decimal::of(short).as_bytes(), short.to_string().as_bytes());
}

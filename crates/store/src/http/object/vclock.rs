//! Contexts in fields: `x-riak-vclock` and those like it.

use alula::{FieldSection, Scratch};

use crate::http::answer::fail::Fail;
use crate::model::Context;

/// The field with the context that the client received.
pub(in crate::http) const VCLOCK: &str = "x-riak-vclock";

/// Reads the bytes of the context in a field; `None` if there is no such field. Allocates nothing once warm.
///
/// # Errors
/// 400 for what is no context, or two of them.
pub(in crate::http) fn read(headers: &FieldSection, name: &str) -> Result<Option<Scratch>, Fail> {
    let mut values = headers.get_all(name);
    let Some(text) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Fail::bad_request(format!("{name} was given more than once\n")));
    }
    let mut bytes = Scratch::lend_within(text.len());
    match Context::from_text(text.trim_ascii(), &mut bytes) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) => Err(Fail::bad_request(format!("{name}: {error}\n"))),
    }
}

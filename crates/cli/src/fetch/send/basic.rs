//! Name and password as they are sent by the scheme Basic.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The value of `authorization` (RFC 7617 §2).
pub(in crate::fetch) fn basic(name: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{name}:{password}")))
}

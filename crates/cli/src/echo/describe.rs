//! A request in JSON, written into a buffer that is there already.

use std::net::SocketAddr;

use alula::Request;

use crate::text::json;

/// Appends the description of a request, ending in a newline. Any bytes may be in it. Allocates nothing when
/// the buffer is large enough.
pub(super) fn describe(request: &Request, peer: SocketAddr, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"version\":\"");
    super::write(out, format_args!("{}", request.version()));
    out.extend_from_slice(b"\",\"method\":");
    json::push_string(out, request.method().as_bytes());
    out.extend_from_slice(b",\"target\":");
    json::push_string(out, request.path().as_bytes());
    push_text(out, ",\"scheme\":", request.scheme());
    push_text(out, ",\"authority\":", request.authority());
    out.extend_from_slice(b",\"fields\":");
    json::push_pairs(out, request.headers().iter().map(|field| (field.name_bytes(), field.value())));
    out.extend_from_slice(b",\"peer\":\"");
    super::write(out, format_args!("{peer}"));
    out.extend_from_slice(b"\"}\n");
}

fn push_text(out: &mut Vec<u8>, key: &str, text: Option<&str>) {
    out.extend_from_slice(key.as_bytes());
    match text {
        Some(text) => json::push_string(out, text.as_bytes()),
        None => out.extend_from_slice(b"null"),
    }
}

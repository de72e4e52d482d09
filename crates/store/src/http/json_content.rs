//! Content in JSON of requests.

use alula::{Bytes, Exchange, KnownName, Request};

use super::fail::Fail;

/// Returns true if a request says that its content is JSON, with any parameters.
pub(super) fn is_json(request: &Request) -> bool {
    let media_type =
        request.headers().text(KnownName::CONTENT_TYPE).and_then(|value| value.split(';').next());
    media_type.is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case("application/json"))
}

/// Reads the content, up to so many octets.
///
/// # Errors
/// 413 if there are more, or the content does not come.
pub(super) async fn read<S>(exchange: &mut Exchange<S>, octets_max: usize) -> Result<Bytes, Fail> {
    Ok(exchange.body().bytes_max(octets_max).await?)
}

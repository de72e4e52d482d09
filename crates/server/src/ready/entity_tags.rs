//! Entity-tags computed from content (RFC 9110 §8.8.3), for handlers without their own.

use alula_fields::{FieldFlags, KnownName, Status};
use alula_net::Encoder;

use crate::{
    conditional::{Validators, Verdict, evaluate},
    files::strong_tag,
    router::{Filter, Outgoing},
};

/// Adds a computed `etag` to 200 answers to GET and HEAD with complete content, unless they have one, and
/// answers 304 to a client that has the content already (RFC 9110 §13.1.2), or 412 if `if-match` names
/// another.
///
/// The tag is strong and made of 128 bits of the content's SHA-256: every server makes the same. Content that
/// is written piece by piece has no tag before it is over, and passes unchanged. Add it before filters that
/// change content, so that it sees what they made. Saves bytes, not the handler's work; costs the digest,
/// and no allocation.
///
/// ```
/// use alula::{EntityTags, Router};
///
/// let router = Router::new().filter(EntityTags::new());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EntityTags(());

impl EntityTags {
    /// Makes the filter.
    pub const fn new() -> Self {
        Self(())
    }
}

impl Filter for EntityTags {
    fn begin(&self, answer: &mut Outgoing<'_>) -> Option<Box<dyn Encoder>> {
        let is_read = matches!(answer.request().method(), "GET" | "HEAD");
        if !is_read || answer.status() != Status::OK {
            return None;
        }
        let tag = strong_tag(answer.content()?);
        if !answer.headers().contains_known(KnownName::ETAG) {
            answer.headers_mut().push_known(KnownName::ETAG, &tag, FieldFlags::NONE);
        }
        match verdict(answer) {
            Verdict::Proceed => {}
            Verdict::NotModified => answer.withhold(Status::NOT_MODIFIED),
            Verdict::Failed => answer.withhold(Status::PRECONDITION_FAILED),
        }
        None
    }
}

fn verdict(answer: &Outgoing<'_>) -> Verdict {
    let request = answer.request();
    evaluate(request.method(), request.headers(), &Validators::stated(answer.headers()))
}

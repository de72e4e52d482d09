//! The check of pages in browsers: requests that pages of other sites make are refused before their handlers
//! see them (Riak §1.11).

use alula::{Answer, Begun, Hook, IntoAnswer, KnownName, OriginGuard, Status};

use crate::config::Referers;
use crate::http::answer::fail::Fail;

/// Answers 403 to a request with `origin: null`, to one whose `referer` is a page of another site, and to a
/// write that the browser marks as one of another site.
#[derive(Clone, Debug)]
pub(in crate::http) struct PageCheck {
    /// The check of origins; `None` takes pages of any origin.
    guard: Option<OriginGuard>,
}

impl PageCheck {
    pub(in crate::http) fn new(referers: &Referers) -> Self {
        let others: &[String] = match referers {
            Referers::Own => &[],
            Referers::OwnAnd(others) => others,
            Referers::Any => return Self { guard: None },
        };
        let guard = others.iter().fold(OriginGuard::new().referers(), OriginGuard::trust);
        Self { guard: Some(guard) }
    }
}

impl Hook for PageCheck {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        let request = begun.request();
        let mut origins = request.headers().get_all(KnownName::ORIGIN);
        let is_refused = origins.any(|origin| origin == b"null")
            || self.guard.as_ref().is_some_and(|guard| guard.check(request).is_err());
        is_refused.then(|| Fail::Page(Status::FORBIDDEN).into_answer())
    }
}

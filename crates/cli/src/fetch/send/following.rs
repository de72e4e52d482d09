//! Redirects as the flags have them: what goes along, and which are errors.

use alula::{Follow, Redirect};

use crate::{
    args::{Options, Protocols},
    fetch::plan::Plan,
};

/// The method and content that go along with redirects beyond what RFC 9110 §15.4 says, as with curl.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::fetch) struct Following {
    /// The method was named by -X, and is that of all requests.
    has_method: bool,
    content: SentContent,
    /// Content that was posted is posted again after these statuses.
    reposts: [Option<u16>; 3],
    /// Redirects are errors.
    are_refused: bool,
    /// Redirects to other protocols than these are errors.
    protocols: [Option<Protocols>; 2],
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum SentContent {
    #[default]
    None,
    Posted,
    /// The content was given by -T.
    Uploaded,
}

impl Following {
    pub(in crate::fetch) fn of(options: &Options, plan: &Plan) -> Self {
        let args = &options.connection;
        let content = match () {
            () if !options.content.upload_file.is_empty() => SentContent::Uploaded,
            () if plan.posts() => SentContent::Posted,
            () => SentContent::None,
        };
        let reposts = [(args.post301, 301), (args.post302, 302), (args.post303, 303)];
        let reposts = reposts.map(|(is_given, status)| is_given.then_some(status));
        Self {
            has_method: options.request.method.is_some(),
            content,
            reposts,
            are_refused: args.max_redirs == 0,
            protocols: [args.proto, args.proto_redir],
        }
    }

    /// Decides on a redirect.
    pub(in crate::fetch) fn follow(self, redirect: &Redirect<'_>) -> Follow {
        match self.are_refused || self.forbids(redirect.to()) {
            true => Follow::Error,
            false => self.after(redirect.status().as_u16()),
        }
    }

    /// Returns true if redirects are followed, but not to this URL, which is of a protocol that is not
    /// allowed.
    pub(super) fn forbids(self, to: &str) -> bool {
        let scheme = to.split(':').next().unwrap_or_default();
        !self.are_refused && self.protocols.into_iter().flatten().any(|protocols| !protocols.have(scheme))
    }

    fn after(self, status: u16) -> Follow {
        match self.content {
            _ if matches!(status, 307 | 308) => Follow::Yes,
            SentContent::Posted if self.reposts.contains(&Some(status)) => Follow::WithContent,
            SentContent::Uploaded if self.has_method && status != 303 => Follow::WithContent,
            _ if self.has_method => Follow::WithMethod,
            _ => Follow::Yes,
        }
    }
}

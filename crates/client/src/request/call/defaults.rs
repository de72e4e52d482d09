//! The fields that the client adds to each request: default fields, `user-agent` and cookies.
//!
//! Rule: the caller's own come first; nothing is added that the call says already.

use alula_fields::KnownName;
use alula_net::Error;

use super::Call;
use crate::request::Request;

impl Call<'_> {
    /// Adds what is to be added, once.
    #[inline]
    pub(crate) fn complete(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.parts.is_incomplete) { self.add_all() } else { Ok(()) }
    }

    /// Gives a request with fields of its own the client's `user-agent` unless it has one, and notes a host
    /// among them. One that has no fields is sent with
    /// [`UserAgent::alone`](crate::request::user_agent::UserAgent::alone).
    #[inline]
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        let Request::Plain(plain) = &mut self.request else { return Ok(()) };
        let Some(head) = &mut plain.head else { return Ok(()) };
        // One look for both, since most requests have neither.
        let has_either =
            head.fields.contains_any(|name| matches!(name, KnownName::HOST | KnownName::USER_AGENT));
        if !has_either || !head.fields.contains_known(KnownName::USER_AGENT) {
            self.client.settings().policy.user_agent.add_to(&mut head.fields);
        }
        let has_host = has_either && head.fields.contains_known(KnownName::HOST);
        if has_host { plain.take_host() } else { Ok(()) }
    }

    #[cold]
    fn add_all(&mut self) -> Result<(), Error> {
        let policy = &self.client.settings().policy;
        if self.rules_of_retries().is_some() {
            policy.budget.bring();
        }
        // A prepared request has had its fields since it was prepared.
        if let Request::Plain(plain) = &mut self.request {
            let user = plain.path.take_user();
            let origin = plain.origin.clone();
            let fields = &mut plain.head_mut(&self.client).fields;
            if let Some(user) = user {
                user.add(fields)?;
            }
            policy.add_fields(fields)?;
            policy.add_credentials(&origin.prefix, fields)?;
        }
        #[cfg(feature = "cookies")]
        self.add_cookies()?;
        Ok(())
    }
}

//! The fields that the client adds to each request: default fields, `user-agent` and cookies.
//!
//! Rule: the caller's own come first; nothing is added that the call says already.

use alula_fields::{FieldSection, KnownName};
use alula_net::Error;

use crate::{
    builder::Policy,
    pool::origin::Origin,
    request::{Request, call::Call},
};

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
            policy.add_credentials(&origin, fields)?;
        }
        #[cfg(feature = "cookies")]
        self.add_cookies()?;
        Ok(())
    }
}

impl Policy {
    /// Adds the fields of all calls whose names are not there.
    pub(crate) fn add_fields(&self, fields: &mut FieldSection) -> Result<(), Error> {
        let given = fields.len();
        for field in &self.fields {
            let mut own = fields.iter().take(given);
            if own.any(|own| own.name() == field.name()) {
                continue;
            }
            match field.is_sensitive() {
                true => fields.append_sensitive(field.name(), field.value())?,
                false => fields.append(field.name(), field.value())?,
            }
        }
        Ok(())
    }

    /// Adds the credentials that are bound to this origin.
    pub(crate) fn add_credentials(&self, origin: &Origin, fields: &mut FieldSection) -> Result<(), Error> {
        let bound = self.credentials.iter().rev().find_map(|bound| bound.credentials_for(&origin.prefix));
        bound.map_or(Ok(()), |credentials| credentials.add(fields))
    }
}

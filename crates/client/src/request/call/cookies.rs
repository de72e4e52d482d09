//! The use of a cookie jar by calls: cookies are added to requests and stored from responses.

use alula_fields::{FieldSection, KnownName};
use alula_net::Error;

use super::Call;
use crate::cookies::Awaited;

impl Call<'_> {
    /// Adds the cookies for the present URL.
    pub(crate) fn add_cookies(&mut self) -> Result<(), Error> {
        let Some(jar) = &self.client.settings().policy.jar else { return Ok(()) };
        let Some(url) = self.request.url().filter(|url| jar.has_some_for(url)) else { return Ok(()) };
        let plain = self.request.make_plain(&self.client)?;
        let fields = &mut plain.head_mut(&self.client).fields;
        plain.own_cookies = jar.add_to(fields, &url)?.map(Vec::into_boxed_slice);
        Ok(())
    }

    /// Keeps the cookies of a response from the present URL.
    pub(crate) fn keep_cookies(&self, fields: &FieldSection) {
        if let Some(jar) = &self.client.settings().policy.jar
            && fields.contains(KnownName::SET_COOKIE)
            && let Some(url) = self.request.url()
        {
            jar.keep(fields, &url);
        }
    }

    /// Returns the jar for the cookies of a response that is still to come.
    pub(crate) fn awaited_cookies(&self) -> Option<Box<Awaited>> {
        let jar = self.client.settings().policy.jar.clone()?;
        Some(Box::new(Awaited::new(jar, self.request.url()?)))
    }
}

//! The use of a cookie jar by calls: cookies are added to requests and stored from responses.

use alula_fields::{FieldSection, KnownName};
use alula_net::Error;

use super::{Awaited, Jar};
use crate::{
    builder::ClientBuilder,
    request::{Plain, call::Call},
};

impl ClientBuilder {
    /// Keeps the cookies of responses in this jar, those of redirects too, and sends them where they belong;
    /// off unless set.
    ///
    /// A field `cookie` that the call has itself comes first, and what it names is not sent from the jar. A
    /// call makes five allocations for this, as long as its cookies are at most 32, and looks at each cookie
    /// of the jar; a prepared one that has cookies is sent as if it were not prepared.
    #[must_use]
    pub fn cookies(mut self, jar: Jar) -> Self {
        self.settings.policy.jar = Some(jar);
        self.settings.policy.has_additions = true;
        self
    }
}

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

impl Plain<'_> {
    /// Takes what the jar added out again: the caller's own stay.
    pub(crate) fn take_cookies_out(&mut self) -> Result<(), Error> {
        if let (Some(own), Some(head)) = (self.own_cookies.take(), &mut self.head) {
            head.fields.remove(KnownName::COOKIE);
            if !own.is_empty() {
                head.fields.append(KnownName::COOKIE, own)?;
            }
        }
        Ok(())
    }
}

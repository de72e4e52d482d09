//! The settings for what the client does without being asked: default fields, retries, redirects and
//! cookies.

use std::sync::Arc;

use alula_fields::{FieldSection, IntoName, KnownName};
use alula_net::Error;

use super::{ClientBuilder, credentials::Bound};
use crate::{
    follow::{
        redirects::{Follow, Redirect, Redirects},
        retries::{Budget, Retries},
    },
    observe::observer::{self, Observer, Watcher},
    request::user_agent::UserAgent,
};

/// The settings for the steps that a call takes by itself.
#[derive(Clone, Default)]
pub(crate) struct Policy {
    pub(crate) redirects: Redirects,
    pub(crate) retries: Option<Retries>,
    pub(crate) budget: Budget,
    #[cfg(feature = "cookies")]
    pub(crate) jar: Option<crate::cookies::Jar>,
    /// The fields that are sent with every call.
    pub(crate) fields: FieldSection,
    /// The `user-agent` of every call that has none of its own.
    pub(crate) user_agent: UserAgent,
    /// The credentials, each for one origin; of several for the same, the last counts.
    pub(crate) credentials: Vec<Bound>,
    /// The observer of each step of an exchange.
    pub(crate) watcher: Option<Watcher>,
    /// True if anything is added to requests, so that a single check decides.
    pub(crate) has_additions: bool,
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
    pub(crate) fn add_credentials(&self, origin: &str, fields: &mut FieldSection) -> Result<(), Error> {
        let bound = self.credentials.iter().rev().find_map(|bound| bound.credentials_for(origin));
        bound.map_or(Ok(()), |credentials| credentials.add(fields))
    }

    /// Records that there are fields for all calls; a `user-agent` among them replaces the default.
    fn adds_fields(&mut self) {
        self.has_additions = true;
        if self.fields.contains(KnownName::USER_AGENT) {
            self.user_agent.clear();
        }
    }
}

/// The fields that are sent by themselves.
impl ClientBuilder {
    /// Sends this field, of bytes or text, with every call that has none of this name, and with every
    /// request that is
    /// [prepared](crate::Client::prepare) so. Fields of the same name are sent all, in their order.
    ///
    /// It goes to every origin that is called: for credentials there are [`Self::basic_auth`] and
    /// [`Self::bearer_auth`]. A call costs a look at its own fields and the copy. The first mistake is kept
    /// for [`build`](Self::build).
    ///
    /// ```
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().header("accept-language", "en").build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("default_headers", "field"))]
    #[must_use]
    pub fn header<'n>(mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) -> Self {
        match self.settings.policy.fields.append(name, value) {
            Ok(()) => self.settings.policy.adds_fields(),
            Err(mistake) => self.note(mistake),
        }
        self
    }

    /// Sends these fields with every call, in place of those of the same names that were given before; else
    /// as [`Self::header`].
    #[doc(alias = "default_headers")]
    #[must_use]
    pub fn headers(mut self, headers: &FieldSection) -> Self {
        self.settings.policy.fields.merge(headers);
        self.settings.policy.adds_fields();
        self
    }
}

/// The settings for responses.
impl ClientBuilder {
    /// Sets the number of redirects that a call follows before it fails; 10 unless set, and with 0 none is
    /// followed: the response that redirects is handed over as it is. A call may have [its own
    /// limit](crate::Call::redirects). One that leads back to a request that the call has sent before, with
    /// the same method, URL and fields, cookies included, is a loop and fails at once.
    ///
    /// 301, 302, 303, 307 and 308 are followed (RFC 9110 §15.4) when they say where to. After 303, and
    /// after 301 or 302 to a POST, the next request is a GET without content; else method and content stay.
    /// Credentials of one origin are not sent to another: when scheme, host or port change,
    /// `authorization`, `cookie`, `proxy-authorization`, `host` and every field marked sensitive are left
    /// out.
    ///
    /// A call whose content is streamed ([`Call::open`](crate::Call::open)) follows none.
    ///
    /// ```
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().redirects(3).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "redirect")]
    #[must_use]
    pub fn redirects(mut self, max: u16) -> Self {
        self.settings.policy.redirects.max = max;
        self
    }

    /// Sets whether a redirect from `https` to `http` is followed; it is refused unless allowed here, since
    /// whoever is on the way could then read and change what was asked for in secret.
    #[must_use]
    pub fn redirects_to_clear_text(mut self, allowed: bool) -> Self {
        self.settings.policy.redirects.to_clear_text = allowed;
        self
    }

    /// Sets whether credentials and cookies that a call was given go along to other origins that it is
    /// redirected to; they stay where they were sent unless allowed here, since any server could ask for them
    /// by a redirect.
    #[must_use]
    pub fn redirects_with_credentials(mut self, allowed: bool) -> Self {
        self.settings.policy.redirects.trusts_all = allowed;
        self
    }

    /// Sets whether a request that follows a redirect says in `referer` which URL led to it, without that
    /// URL's fragment (RFC 9110 §10.1.3), in the place of a `referer` that the call was given. After a
    /// redirect from `https` to `http` none is sent. Unless set, what the call was given goes along.
    ///
    /// ```
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().redirects_with_referer(true).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn redirects_with_referer(mut self, on: bool) -> Self {
        self.settings.policy.redirects.has_referer = on;
        self
    }

    /// Tries failures again that may pass, by these rules; unless set, only requests that the peer cannot
    /// have acted on are sent again, up to three times. A call may have [rules of its
    /// own](crate::Call::retries).
    #[must_use]
    pub fn retries(mut self, retries: Retries) -> Self {
        self.settings.policy.retries = Some(retries);
        self.settings.policy.has_additions = true;
        self
    }

    /// Asks this before a redirect is followed that would be followed otherwise.
    ///
    /// ```
    /// use alula::{Client, Follow};
    ///
    /// # fn main() -> Result<(), alula::Error> {
    /// let stays = |to: &str| to.starts_with("https://example.com/");
    /// let client = Client::builder()
    ///     .on_redirect(move |redirect| if stays(redirect.to()) { Follow::Yes } else { Follow::Stop })
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn on_redirect(mut self, decide: impl Fn(&Redirect<'_>) -> Follow + Send + Sync + 'static) -> Self {
        self.settings.policy.redirects.decide = Some(Arc::new(decide));
        self
    }

    /// Tells `observer` of each step of each call: where the client connects to, the head of the request as
    /// it is sent (over HTTP/2 read back from the bytes on the wire), and each head that comes. Calls
    /// allocate then, and wait for the observer. One that was given before is told first; see
    /// [`Observer`](crate::Observer).
    ///
    /// ```
    /// use alula::{Client, ExchangeEvent};
    ///
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = Client::builder()
    ///     .observe(|event: &ExchangeEvent<'_>| match event {
    ///         ExchangeEvent::Connected(to) => println!("* {:?}", to.remote_address()),
    ///         ExchangeEvent::Request(head) => println!("> {} lines", head.lines().count()),
    ///         ExchangeEvent::Response(head) => println!("< {} {}", head.version(), head.status()),
    ///         _ => {}
    ///     })
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn observe(mut self, observer: impl Observer + 'static) -> Self {
        let watcher = &mut self.settings.policy.watcher;
        *watcher = Some(observer::after(watcher.as_ref(), observer));
        self
    }
}

/// The program that asks.
impl ClientBuilder {
    /// Sends this as `user-agent` (RFC 9110 §10.1.5) with every request that has none of its own, in place of
    /// `alula/` and the version of Alula. Allocates; a request then costs a look at its fields and the copy,
    /// and no allocation. A value that cannot stand in a field is told by [`build`](Self::build).
    ///
    /// ```
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().user_agent("example/1.0").build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn user_agent(mut self, value: impl AsRef<[u8]>) -> Self {
        let mut fields = FieldSection::new();
        if let Err(mistake) = fields.append(KnownName::USER_AGENT, value) {
            self.note(mistake);
            return self;
        }
        self.settings.policy.fields.remove(KnownName::USER_AGENT);
        self.settings.policy.user_agent = UserAgent::of(fields);
        self
    }

    /// Sends no `user-agent` with requests that have none of their own.
    #[must_use]
    pub fn no_user_agent(mut self) -> Self {
        self.settings.policy.fields.remove(KnownName::USER_AGENT);
        self.settings.policy.user_agent.clear();
        self
    }
}

#[cfg(feature = "cookies")]
impl ClientBuilder {
    /// Keeps the cookies of responses in this jar, those of redirects too, and sends them where they belong;
    /// off unless set.
    ///
    /// A field `cookie` that the call has itself comes first, and what it names is not sent from the jar. A
    /// call makes five allocations for this, as long as its cookies are at most 32, and looks at each cookie
    /// of the jar; a prepared one that has cookies is sent as if it were not prepared.
    #[must_use]
    pub fn cookies(mut self, jar: crate::cookies::Jar) -> Self {
        self.settings.policy.jar = Some(jar);
        self.settings.policy.has_additions = true;
        self
    }
}

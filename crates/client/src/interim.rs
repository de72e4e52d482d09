//! Responses that come before the one that counts (RFC 9110 §15.2).

use std::sync::{Mutex, PoisonError};

use alula_fields::{FieldSection, Status};
use alula_net::{Error, Stream};

use crate::{
    Call,
    watching::{self, Watcher},
};

/// Is told of interim responses. Nobody locks it: it makes a call that may be shared of a function that may not.
pub(crate) type Hook = Box<Mutex<dyn FnMut(Status, &FieldSection) + Send>>;

impl Call<'_> {
    /// Tells `hook` of each interim response (1xx, RFC 9110 §15.2) and its fields, such as 103 (Early Hints, RFC 8297), while the
    /// head of the response is waited for. Without it they are dropped. Allocates.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let call = client.get("https://example.com/").on_interim(|status, fields| {
    ///     println!("{status}: {}", fields.text("link").unwrap_or_default());
    /// });
    /// let response = call.send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_interim(mut self, hook: impl FnMut(Status, &FieldSection) + Send + 'static) -> Self {
        self.parts.rare_mut().on_interim = Some(Box::new(Mutex::new(hook)));
        self
    }
}

impl Call<'_> {
    /// Tells whoever wants to hear of the responses that come before the head of the one that counts, until that is there.
    pub(crate) async fn hear_interim(&mut self, stream: &Stream) -> Result<(), Error> {
        let watcher = self.client.settings().policy.watcher.as_ref();
        hear(stream, self.parts.on_interim(), watcher).await
    }
}

/// The same for a call that is not there any more.
pub(crate) async fn hear(
    stream: &Stream,
    hook: Option<&mut Hook>,
    watcher: Option<&Watcher>,
) -> Result<(), Error> {
    if hook.is_none() && watcher.is_none() {
        return Ok(());
    }
    let mut hook = hook.map(|hook| hook.get_mut().unwrap_or_else(PoisonError::into_inner));
    while let Some(head) = stream.interim().await? {
        let status = head.status().unwrap_or(Status::CONTINUE);
        if let Some(watcher) = watcher {
            watching::hinted(watcher, stream.version(), status, &head);
        }
        if let Some(hook) = &mut hook {
            hook(status, &head.fields);
        }
        stream.give_head(head);
    }
    Ok(())
}

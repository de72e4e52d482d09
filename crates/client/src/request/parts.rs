//! The settings of a call that are not part of its request.

use alula_net::Error;

use crate::{
    builder::Settings, follow::retries::Retries, observe::observer::Watcher, request::content::Given,
    send::interim::Hook,
};

/// The settings of a call. Small, since calls are moved about while they are built.
pub(crate) struct Parts {
    /// True if the content of the response is decoded.
    #[cfg(feature = "decoding")]
    pub(crate) decompress: bool,
    /// The client's fields are still to be added.
    pub(crate) is_incomplete: bool,
    /// An observer is told of each step.
    pub(crate) is_watched: bool,
    /// The phases of the call are timed.
    pub(crate) is_timed: bool,
    /// The number of redirects that are followed.
    pub(crate) redirects_max: u16,
    rare: Option<Box<Rare>>,
}

/// The rare parts of a call, and those that allocate anyway.
#[derive(Default)]
pub(crate) struct Rare {
    /// The first mistake while building.
    pub(crate) mistake: Option<Error>,
    /// The content of the request, unless `send_body` gives it.
    pub(crate) content: Given,
    /// The function for interim responses.
    pub(crate) on_interim: Option<Hook>,
    /// The call's own rules for retries.
    pub(crate) retries: Option<Retries>,
    /// The observer of the call, which tells that of the client first.
    watcher: Option<Watcher>,
}

impl Parts {
    #[inline]
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            #[cfg(feature = "decoding")]
            decompress: settings.decoding.on,
            is_incomplete: settings.policy.has_additions,
            is_watched: settings.policy.watcher.is_some(),
            is_timed: settings.deadlines.timing,
            redirects_max: settings.policy.redirects.max,
            rare: None,
        }
    }

    /// Returns the rare parts, creating them if necessary. Allocates.
    #[cold]
    pub(crate) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Returns the rare parts of this call.
    #[inline]
    pub(crate) fn rare(&self) -> Option<&Rare> {
        self.rare.as_deref()
    }

    /// Returns the first mistake while building, once.
    #[inline]
    pub(crate) fn take_mistake(&mut self) -> Option<Error> {
        self.rare.as_mut()?.mistake.take()
    }

    /// Returns the function for interim responses.
    #[inline]
    pub(crate) fn on_interim(&mut self) -> Option<&mut Hook> {
        self.rare.as_mut()?.on_interim.as_mut()
    }

    /// Has this observer told of each step, in place of the client's.
    pub(crate) fn watch(&mut self, watcher: Watcher) {
        self.rare_mut().watcher = Some(watcher);
        self.is_watched = true;
    }

    /// Returns the call's own observer.
    pub(crate) fn watcher(&self) -> Option<&Watcher> {
        self.rare()?.watcher.as_ref()
    }

    pub(crate) fn take_hook(&mut self) -> Option<Hook> {
        self.rare.as_mut()?.on_interim.take()
    }

    #[inline]
    pub(crate) fn hears_interim(&self) -> bool {
        self.is_watched || self.rare().is_some_and(|rare| rare.on_interim.is_some())
    }

    /// Returns true if the call was given content, even if it was sent already.
    #[inline]
    pub(crate) fn has_content(&self) -> bool {
        self.rare().is_some_and(|rare| rare.content.is_given())
    }

    /// Returns true if there was content that cannot be sent again.
    pub(crate) fn content_is_spent(&self) -> bool {
        self.rare().is_some_and(|rare| rare.content.is_spent())
    }

    pub(crate) fn drop_content(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.content = Given::None;
        }
    }
}

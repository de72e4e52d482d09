//! Interim responses (RFC 9110 §15.2).

use std::sync::{Mutex, PoisonError};

use alula_fields::{FieldSection, Status};
use alula_net::{Error, Stream};

use crate::observe::{
    event::{ExchangeEvent, ReceivedHead},
    observer::Watcher,
};

/// A function for interim responses. Nobody locks it: it makes a call that may be shared of a function that
/// may not.
pub(crate) type Hook = Box<Mutex<dyn FnMut(Status, &FieldSection) + Send>>;

/// Creates a hook from a function. Allocates.
pub(crate) fn hook(function: impl FnMut(Status, &FieldSection) + Send + 'static) -> Hook {
    Box::new(Mutex::new(function))
}

/// Reports interim responses to the hook and the watcher until the final head comes.
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
            watcher.event(&ExchangeEvent::Interim(&ReceivedHead::new(stream.version(), &head)));
        }
        if let Some(hook) = &mut hook {
            hook(status, &head.fields);
        }
        stream.give_head(head);
    }
    Ok(())
}

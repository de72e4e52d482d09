//! The facts of a call that is sent.

use alula_fields::FieldSection;
use alula_net::{Cause, Error};
use tokio::time::Instant;

use super::{Call, CallTimes};
use crate::follow::retries::Retries;

impl Call<'_> {
    pub(crate) fn rules_of_retries(&self) -> Option<&Retries> {
        self.parts.rare().and_then(|rare| rare.retries.as_ref()).or(self
            .client
            .settings()
            .policy
            .retries
            .as_ref())
    }

    /// The same failure, with what was asked of whom, and with the time that all of it was given if no part
    /// had less.
    #[cold]
    pub(crate) fn named(&self, error: Error) -> Error {
        let error = match error.cause() {
            Cause::Timeout => error.in_spite_of(self.deadline.get()),
            _ => error,
        };
        self.request.named(error)
    }

    /// Returns the times of the call, which is sent now; the clock is read only where it must be.
    #[inline]
    pub(crate) fn times(&self) -> CallTimes {
        CallTimes {
            began: self.parts.is_timed.then(Instant::now),
            ends_at: self.deadline.get().and_then(|after| Instant::now().checked_add(after)),
        }
    }

    /// The fields of a request that has none of its own.
    #[inline]
    pub(crate) fn bare_fields(&self) -> &FieldSection {
        self.client.settings().policy.user_agent.alone()
    }
}

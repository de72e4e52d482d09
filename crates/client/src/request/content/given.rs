//! The content of a call, and its remains after it was sent.

use super::Content;

/// The content that a call was given.
#[derive(Default)]
pub(crate) enum Given {
    #[default]
    None,
    Content(Box<Content>),
    /// The content was sent, and cannot be sent again.
    Spent,
}

impl Given {
    /// Returns the content to send next; repeatable content stays.
    pub(super) fn take(&mut self) -> Option<Content> {
        match std::mem::replace(self, Self::Spent) {
            Self::Content(content) => match content.replay() {
                Some(again) => {
                    // The one that was opened goes out.
                    *self = Self::Content(Box::new(again));
                    Some(*content)
                }
                None => Some(*content),
            },
            other => {
                *self = other;
                None
            }
        }
    }

    #[inline]
    pub(crate) const fn is_given(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// Returns true if there was content that cannot be sent again.
    pub(crate) const fn is_spent(&self) -> bool {
        matches!(self, Self::Spent)
    }
}

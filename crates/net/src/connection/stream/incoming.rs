//! The received part of the peer's message on one stream, until its handles take it.

use std::collections::VecDeque;

use alula_fields::{Head, Status};

use crate::message::content::Content;

#[derive(Default)]
pub(crate) struct Incoming {
    /// The final head, until it is taken.
    head: Option<Box<Head>>,
    /// Somebody has taken the final head.
    is_head_taken: bool,
    /// A caller has waited for the head.
    is_awaited: bool,
    /// True if interim responses are kept for a caller, in order of arrival. They are kept until a caller
    /// waits, since the first may come before it is known whether any caller wants them.
    keeps_interim: bool,
    interim: VecDeque<Box<Head>>,
    /// The bytes that were charged for the heads.
    head_bytes: u32,
    content: Content,
    trailers: Option<Box<Head>>,
    /// The peer has ended its side; the rest of its message is in `content` and `trailers`.
    has_ended: bool,
}

/// Heads.
impl Incoming {
    /// Records a request of so many bytes, whose head is handed on at once.
    #[inline]
    pub(crate) fn request_came(&mut self, bytes: u32, is_end: bool) {
        self.head_bytes = bytes;
        self.has_ended = is_end;
    }

    /// Keeps the final head of a response, which has so many bytes.
    #[inline]
    pub(crate) fn response_came(&mut self, head: Box<Head>, bytes: u32, is_end: bool) {
        self.head_bytes += bytes;
        self.head = Some(head);
        self.has_ended = is_end;
    }

    /// Returns true if the final head is here, and was not taken yet.
    pub(crate) fn is_head_here(&self) -> bool {
        self.head.is_some()
    }

    /// Returns true if somebody has taken the final head.
    pub(crate) fn is_head_taken(&self) -> bool {
        self.is_head_taken
    }

    /// Returns the status of the final head, if that is here and was not taken yet.
    pub(crate) fn status(&self) -> Option<Status> {
        self.head.as_ref().and_then(|head| head.status())
    }

    /// Records that a caller waits for the final head: interim responses that nobody asked for are dropped.
    #[inline]
    pub(crate) fn await_head(&mut self) {
        self.is_awaited = true;
        if !self.interim.is_empty() {
            self.interim.clear();
        }
    }

    /// Takes the final head, if it has come; the flag is true if nothing follows.
    #[inline]
    pub(crate) fn take_head(&mut self) -> Option<(Box<Head>, bool)> {
        let head = self.head.take()?;
        self.is_head_taken = true;
        Some((head, self.is_all_told()))
    }

    /// Keeps interim responses from now on, whoever waits.
    pub(crate) fn keep_interim(&mut self) {
        self.keeps_interim = true;
    }

    /// Keeps an interim response if somebody may want it; otherwise gives it back.
    pub(crate) fn interim_came(&mut self, head: Box<Head>) -> Option<Box<Head>> {
        if !self.keeps_interim && self.is_awaited {
            return Some(head);
        }
        self.interim.push_back(head);
        None
    }

    /// Takes the oldest interim response.
    pub(crate) fn take_interim(&mut self) -> Option<Box<Head>> {
        self.interim.pop_front()
    }
}

/// Content and the end.
impl Incoming {
    #[inline]
    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    #[inline]
    pub(crate) fn content_mut(&mut self) -> &mut Content {
        &mut self.content
    }

    /// Records that content has come, and whether it is the last.
    #[inline]
    pub(crate) fn content_came(&mut self, is_end: bool) {
        self.has_ended |= is_end;
    }

    /// Keeps the trailers, with which the message ends.
    pub(crate) fn trailers_came(&mut self, trailers: Box<Head>) {
        self.trailers = Some(trailers);
        self.has_ended = true;
    }

    /// Takes the trailers, if they are here.
    pub(crate) fn take_trailers(&mut self) -> Option<Box<Head>> {
        self.trailers.take()
    }

    /// Returns true if the peer has ended its side; parts of its message may not have been taken yet.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns true if the peer has ended its side, and all content and trailers were taken.
    #[inline]
    pub(crate) fn is_all_told(&self) -> bool {
        self.has_ended && self.trailers.is_none() && self.content.is_empty()
    }
}

/// Its end.
impl Incoming {
    /// Takes the heads that nobody has taken, and the bytes that were charged for all.
    pub(crate) fn take_heads(&mut self) -> ([Option<Box<Head>>; 2], u32) {
        ([self.head.take(), self.trailers.take()], std::mem::take(&mut self.head_bytes))
    }

    /// Resets it for another message, and returns the memory of the content.
    pub(crate) fn recycle(&mut self) -> Content {
        self.is_head_taken = false;
        self.is_awaited = false;
        self.keeps_interim = false;
        self.interim.clear();
        self.has_ended = false;
        self.content.clear();
        std::mem::take(&mut self.content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(status: u16) -> Box<Head> {
        let mut head = Box::<Head>::default();
        head.set_status(Status::new(status).unwrap());
        head
    }

    #[test]
    fn nothing_is_left_to_tell_once_content_and_trailers_were_taken() {
        let mut incoming = Incoming::default();
        incoming.response_came(head(200), 10, false);
        assert!(incoming.is_head_here() && !incoming.is_head_taken());
        assert_eq!(incoming.take_head().map(|(_, is_all)| is_all), Some(false));
        assert!(incoming.take_head().is_none() && incoming.is_head_taken());
        incoming.content_mut().append(b"abc", false);
        incoming.content_came(false);
        incoming.trailers_came(Box::default());
        assert!(incoming.has_ended() && !incoming.is_all_told());
        let _ = std::mem::take(incoming.content_mut());
        assert!(!incoming.is_all_told());
        assert!(incoming.take_trailers().is_some() && incoming.is_all_told());
    }

    #[test]
    fn interim_responses_are_kept_until_somebody_waits_for_the_final_one() {
        let mut incoming = Incoming::default();
        assert!(incoming.interim_came(head(103)).is_none());
        incoming.await_head();
        assert!(incoming.take_interim().is_none());
        assert!(incoming.interim_came(head(103)).is_some(), "nobody wants to hear of it");
        incoming.keep_interim();
        assert!(incoming.interim_came(head(100)).is_none() && incoming.interim_came(head(103)).is_none());
        let status = incoming.take_interim().and_then(|head| head.status());
        assert_eq!(status, Some(Status::CONTINUE));
    }

    #[test]
    fn another_message_finds_nothing_of_the_last() {
        let mut incoming = Incoming::default();
        incoming.response_came(head(200), 10, false);
        incoming.content_mut().append(b"abc", false);
        incoming.trailers_came(Box::default());
        let (heads, bytes) = incoming.take_heads();
        assert!(heads.iter().all(Option::is_some) && bytes == 10);
        assert!(incoming.recycle().capacity() > 0, "the memory is of use to others");
        assert!(!incoming.has_ended() && incoming.content().is_empty() && incoming.status().is_none());
    }
}

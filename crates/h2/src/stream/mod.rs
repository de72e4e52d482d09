//! The state of a stream in the machine.

pub(crate) mod absent;
pub(crate) mod closed_ids;
pub(crate) mod content;
pub(crate) mod half;
pub(crate) mod id_table;
pub(crate) mod state;
pub(crate) mod streams;

use alloc::boxed::Box;

use alula_fields::{FieldSection, Head, SECTION_KEPT_BYTES_MAX};

use crate::event::{Origin, Reset};
use crate::flow::window::{ReceiveWindow, SendWindow};
use crate::frame::error_code::ErrorCode;
use crate::frame::priority::Priority;
use crate::frame::settings::WINDOW_INITIAL;
use crate::stream::content::Content;
use crate::stream::state::State;

pub(crate) struct Stream {
    pub(crate) id: u32,
    pub(crate) state: State,
    /// A head waits to be taken.
    pub(crate) has_head: bool,
    /// Trailers wait to be taken.
    pub(crate) has_trailers: bool,
    /// The application could not send everything and waits for a notice that it can.
    pub(crate) is_blocked: bool,
    /// The request has the method HEAD, so that the response has no content.
    pub(crate) is_head_request: bool,
    /// The request has the method CONNECT.
    pub(crate) is_connect: bool,
    /// CONNECT was answered with success: DATA is the tunnel's (RFC 9113 §8.5).
    pub(crate) is_tunnel: bool,
    /// The priority that the client has stated.
    pub(crate) priority: Option<Priority>,
    /// The number of interim responses that have come.
    pub(crate) interim: u32,
    /// The sizes of their field sections, added up.
    pub(crate) interim_bytes: u32,
    pub(crate) window_in: ReceiveWindow,
    pub(crate) window_out: SendWindow,
    /// The content that is still to come and to be sent, by `content-length`.
    pub(crate) content_in: Content,
    pub(crate) content_out: Content,
    /// The reset of the stream, if it was reset.
    pub(crate) reset: Reset,
    /// The head, in a box, so that it can be exchanged with that of a block in a few instructions; `None`
    /// before there was one.
    pub(crate) head: Option<Box<Head>>,
    pub(crate) trailers: FieldSection,
}

impl Stream {
    pub(crate) fn new() -> Self {
        Self {
            id: 0,
            state: State::IDLE,
            has_head: false,
            has_trailers: false,
            is_blocked: false,
            is_head_request: false,
            is_connect: false,
            is_tunnel: false,
            priority: None,
            interim: 0,
            interim_bytes: 0,
            window_in: ReceiveWindow::new(WINDOW_INITIAL),
            window_out: SendWindow::new(WINDOW_INITIAL),
            content_in: Content::UNSTATED,
            content_out: Content::UNSTATED,
            reset: Reset { code: ErrorCode::NO_ERROR, origin: Origin::Peer, unprocessed: false },
            head: None,
            trailers: FieldSection::new(),
        }
    }

    /// Resets the stream, with windows of these sizes; identifier and buffers stay.
    #[inline]
    pub(crate) fn begin(&mut self, window_in: u32, window_out: u32) {
        self.state = State::IDLE;
        self.has_head = false;
        self.has_trailers = false;
        self.is_blocked = false;
        self.is_head_request = false;
        self.is_connect = false;
        self.is_tunnel = false;
        self.priority = None;
        self.interim = 0;
        self.interim_bytes = 0;
        self.window_in = ReceiveWindow::new(window_in);
        self.window_out = SendWindow::new(window_out);
        self.content_in = Content::UNSTATED;
        self.content_out = Content::UNSTATED;
    }

    /// Frees what an unusually large message has left in the buffers.
    #[inline]
    pub(crate) fn recycle(&mut self) {
        if self.memory_bytes() > SECTION_KEPT_BYTES_MAX {
            self.shrink();
        }
    }

    /// Returns the memory of head and trailers in bytes.
    #[inline]
    pub(crate) fn memory_bytes(&self) -> usize {
        let head = self.head.as_ref().map_or(0, |head| size_of::<Head>() + head.capacity_bytes());
        head + self.trailers.capacity_bytes()
    }

    #[cold]
    fn shrink(&mut self) {
        if let Some(head) = &mut self.head {
            head.trim(SECTION_KEPT_BYTES_MAX);
        }
        self.trailers.trim(SECTION_KEPT_BYTES_MAX);
    }

    /// Returns true if the stream is over and the application has nothing left to take or to give back.
    #[inline]
    pub(crate) fn is_done_with(&self) -> bool {
        let is_over = !self.state.is_open() && !self.state.is_reset();
        is_over && !self.has_head && !self.has_trailers && self.window_in.held() == 0
    }
}

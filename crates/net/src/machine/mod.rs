//! The machine of a connection, of either version.
//!
//! Rule: here is chosen, and nothing decided. The contract that both versions keep is [`ProtocolMachine`].

pub(crate) mod notices;
pub(crate) mod prepared;

use std::time::Duration;

use alula_fields::{FieldSection, Head, RequestHead, ResponseHead};
use alula_h1 as h1;
use alula_h2::{self as h2, FrameSummary, Priority, StreamMemory};
use alula_machine::{Event, Exceeded, Limits, OutBuf, ProtocolMachine, Reason, StreamKey, Time};

use crate::{
    error::{Error, cause::Refusal},
    establish::version::Version,
    machine::{
        notices::{Failures, Notice},
        prepared::Prepared,
    },
};

/// A connection's machine: HTTP/1.1 or HTTP/2.
pub enum Machine {
    /// HTTP/1.1: one exchange at a time.
    Http1(Box<h1::Connection>),
    /// HTTP/2: streams.
    Http2(Box<h2::Connection>),
}

impl From<h1::Connection> for Machine {
    fn from(machine: h1::Connection) -> Self {
        Self::Http1(Box::new(machine))
    }
}

impl From<h2::Connection> for Machine {
    fn from(machine: h2::Connection) -> Self {
        Self::Http2(Box::new(machine))
    }
}

/// Runs code with the machine of either version, as a reference of this kind.
macro_rules! either {
    ($self:ident, |$machine:ident: &$($mut:ident)?| $work:expr) => {
        match $self {
            Machine::Http1(machine) => {
                let $machine = &$($mut)? **machine;
                $work
            }
            Machine::Http2(machine) => {
                let $machine = &$($mut)? **machine;
                $work
            }
        }
    };
}

/// Implements methods of the contract as calls of the machine of either version.
macro_rules! chosen {
    ($(fn $name:ident(&$($mut:ident)? $(, $value:ident: $type:ty)*) $(-> $result:ty)?;)*) => {
        impl Machine {
            $(
                #[inline]
                pub(crate) fn $name(& $($mut)? self $(, $value: $type)*) $(-> $result)? {
                    either!(self, |machine: & $($mut)?| ProtocolMachine::$name(machine $(, $value)*))
                }
            )*
        }
    };
}

chosen! {
    // Input.
    fn decline_content(&mut, stream: StreamKey);
    fn goaway_debug(&) -> &[u8];
    fn is_unanswered(&) -> bool;
    fn has_notice(&) -> bool;
    fn take_only_room(&mut) -> bool;
    fn release_capacity(&mut, stream: StreamKey, bytes: u32) -> bool;
    fn wants_read(&) -> bool;
    fn is_holding(&) -> bool;
    fn can_go_on(&) -> bool;
    fn rests(&, input: &[u8]) -> bool;

    // Streams.
    fn reset(&mut, stream: StreamKey, reason: Reason);
    fn forget(&mut, stream: StreamKey);
    fn has_sent_all(&, stream: StreamKey) -> Option<bool>;
    fn is_content_awaited(&, stream: StreamKey) -> bool;
    fn content_left(&, stream: StreamKey) -> Option<u64>;
    fn discarding(&) -> Option<(u32, u64)>;
    fn is_without_window(&, stream: StreamKey) -> bool;
    fn await_capacity(&mut, stream: StreamKey) -> usize;
    fn is_out_of_window(&) -> bool;
    fn await_room(&mut, stream: StreamKey) -> bool;
    fn awaits_room(&) -> bool;
    fn give_room(&mut, bytes: u32);
    fn end_turn(&mut);

    // The connection.
    fn is_client(&) -> bool;
    fn limits(&) -> &Limits;
    fn bound_heads(&mut, bytes: u32);
    fn is_introduced(&) -> bool;
    fn is_cut_unseen(&) -> bool;
    fn wants_shutdown(&) -> bool;
    fn is_closed(&) -> bool;
    fn is_free(&) -> bool;
    fn await_slot(&mut) -> usize;
    fn streams_allowed(&) -> Option<u32>;
    fn field_section_allowed(&) -> Option<u32>;
    fn goaway(&mut, with_grace: bool);
    fn close(&mut, reason: Reason);
    fn wants_write(&) -> bool;
    fn poll_transmit(&mut, now: Time, out: &mut OutBuf) -> usize;
    fn poll_timeout(&) -> Option<Time>;
    fn handle_timeout(&mut, now: Time);
    fn await_request_anew(&mut, now: Time) -> bool;

    // Memory.
    fn queued_bytes(&) -> usize;
    fn needs_head(&) -> bool;
    fn read_into(&mut, head: Box<Head>);
    fn take_empty_head(&mut) -> Option<Box<Head>>;
    fn trim(&mut);
}

#[cfg(feature = "simulation")]
chosen! {
    fn check_invariants(&);
    fn windows(&) -> [i64; 2];
    fn in_flight(&) -> usize;
}

/// Commands that may be refused, and then change nothing.
impl Machine {
    /// Sends a request; with `end` it has no content.
    ///
    /// # Errors
    /// When it cannot be sent.
    #[inline]
    pub fn send_request(
        &mut self,
        head: &RequestHead<'_>,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, Refusal> {
        either!(self, |machine: &mut| Ok(machine.send_request(head, end, out)?))
    }

    /// Sends a prepared request.
    ///
    /// # Errors
    /// As [`send_request`](Self::send_request), and when the values do not fit the holes.
    #[inline]
    pub fn send_prepared(
        &mut self,
        prepared: &Prepared,
        values: &[&[u8]],
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, Refusal> {
        match self {
            Self::Http1(machine) => Ok(machine.send_prepared(&prepared.h1, values, end, out)?),
            Self::Http2(machine) => Ok(machine.send_prepared(&prepared.h2, values, end, out)?),
        }
    }

    /// Sends the final response; with `end` it has no content.
    ///
    /// # Errors
    /// When it cannot be sent.
    #[inline]
    pub fn send_response(
        &mut self,
        stream: StreamKey,
        head: &ResponseHead<'_>,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<(), Refusal> {
        either!(self, |machine: &mut| Ok(machine.send_response(stream, head, end, out)?))
    }

    /// Sends an interim response.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub fn send_interim(
        &mut self,
        stream: StreamKey,
        head: &ResponseHead<'_>,
        out: &mut OutBuf,
    ) -> Result<(), Refusal> {
        either!(self, |machine: &mut| Ok(machine.send_interim(stream, head, out)?))
    }

    /// Ends a message with trailers.
    ///
    /// # Errors
    /// When they cannot be sent.
    pub fn send_trailers(
        &mut self,
        stream: StreamKey,
        trailers: &FieldSection,
        out: &mut OutBuf,
    ) -> Result<(), Refusal> {
        either!(self, |machine: &mut| Ok(machine.send_trailers(stream, trailers, out)?))
    }

    /// Sends as much content as can be sent now, and returns how much.
    #[inline]
    pub(crate) fn send_data(
        &mut self,
        stream: StreamKey,
        data: &[u8],
        end: bool,
        out: &mut OutBuf,
    ) -> Result<usize, Refusal> {
        either!(self, |machine: &mut| Ok(machine.send_data(stream, data, end, out)?))
    }

    /// Tells the server another priority; does nothing over HTTP/1.1, which has none.
    pub(crate) fn reprioritise(&mut self, stream: StreamKey, priority: Priority) -> Result<(), Refusal> {
        match self {
            Self::Http1(_) => Ok(()),
            Self::Http2(machine) => Ok(machine.reprioritise(stream, priority)?),
        }
    }
}

/// Input, with failures as errors of this crate.
impl Machine {
    /// Takes bytes that were read; returns how many were used, and the event.
    #[inline]
    pub(crate) fn receive<'i>(
        &mut self,
        input: &'i [u8],
        now: Time,
    ) -> Result<(usize, Option<Event<'i>>), Error> {
        either!(self, |machine: &mut| match machine.receive(input, now) {
            Ok(received) => Ok((received.consumed, received.event.and_then(Event::of_message))),
            Err(error) => Err(Failures::ended(error).exceeding(machine.exceeded())),
        })
    }

    /// Tells the machine that the peer has closed its side; `is_truncated` says that TLS did not end before.
    pub(crate) fn receive_end(
        &mut self,
        is_truncated: bool,
        now: Time,
    ) -> Result<Option<Event<'static>>, Error> {
        either!(self, |machine: &mut| {
            let event = ProtocolMachine::receive_end(machine, is_truncated, now).map_err(Failures::ended)?;
            Ok(event.and_then(Event::of_message))
        })
    }

    /// Returns the oldest pending notice.
    #[inline]
    pub(crate) fn poll_notice(&mut self) -> Option<Notice> {
        either!(self, |machine: &mut| machine.poll_notice().map(|notice| Notice::of(notice, &*machine)))
    }

    /// Takes the control data of the request that was refused last on a connection that goes on, if it is
    /// known.
    #[cold]
    pub(crate) fn take_refused_head(&mut self) -> Option<Box<Head>> {
        match self {
            Self::Http1(_) => None,
            Self::Http2(machine) => machine.take_refused_head(),
        }
    }

    /// Returns the limit that was exceeded last.
    #[cold]
    pub(crate) fn exceeded(&self) -> Option<Exceeded> {
        either!(self, |machine: &| machine.exceeded())
    }

    /// Returns the head that was being received when the connection ended.
    #[cold]
    pub(crate) fn refused_head(&self) -> Option<&Head> {
        match self {
            Self::Http1(machine) => machine.refused_head(),
            Self::Http2(machine) => machine.refused_head(),
        }
    }

    /// Takes an announced head; `None` when its stream is gone.
    #[inline(always)]
    pub(crate) fn take_head(&mut self, stream: StreamKey) -> Option<Box<Head>> {
        let mut head = None;
        either!(self, |machine: &mut| machine.exchange_head(stream, &mut head)).ok()?;
        Some(head.unwrap_or_default())
    }

    /// Swaps announced trailers into `into`; returns false if their stream has ended.
    pub(crate) fn take_trailers(&mut self, stream: StreamKey, into: &mut FieldSection) -> bool {
        either!(self, |machine: &mut| machine.take_trailers(stream, into).is_ok())
    }

    /// Returns the bytes that it takes.
    pub(crate) fn memory_bytes(&mut self) -> usize {
        either!(self, |machine: &mut| size_of_val(machine) + ProtocolMachine::memory_bytes(machine))
    }
}

/// Methods of one version only.
impl Machine {
    pub(crate) const fn version(&self) -> Version {
        match self {
            Self::Http1(_) => Version::Http1,
            Self::Http2(_) => Version::Http2,
        }
    }

    #[inline]
    pub(crate) const fn is_http1(&self) -> bool {
        matches!(self.version(), Version::Http1)
    }

    /// Returns true while a request is answered whose exchange is over when its client closes its side. A
    /// connection of HTTP/2 ends then anyway.
    pub(crate) fn ends_with_peer(&self) -> bool {
        match self {
            Self::Http1(machine) => machine.ends_with_peer(),
            Self::Http2(_) => false,
        }
    }

    /// Returns the bytes of content that may follow the output without framing: the rest of a stated length.
    pub(crate) fn length_left(&self, stream: StreamKey) -> Option<u64> {
        match self {
            Self::Http1(machine) => machine.length_left(stream),
            Self::Http2(_) => None,
        }
    }

    /// Counts bytes of content that were sent after the output.
    pub(crate) fn count_data(&mut self, stream: StreamKey, bytes: usize) -> Result<(), Refusal> {
        match self {
            Self::Http1(machine) => Ok(machine.count_data(stream, bytes as u64)?),
            Self::Http2(_) => Ok(()),
        }
    }

    /// Gives the memory for streams away while there are none; HTTP/1.1 has none.
    pub(crate) fn leave_stream_memory(&mut self, to: &mut StreamMemory) {
        if let Self::Http2(machine) = self {
            machine.leave_stream_memory(to);
        }
    }

    /// Takes this memory for its streams.
    pub(crate) fn use_stream_memory(&mut self, from: &mut StreamMemory) {
        if let Self::Http2(machine) = self {
            machine.use_stream_memory(from);
        }
    }

    /// Returns true if the server is known to have taken a request on this connection; over HTTP/1.1 nobody
    /// needs to know.
    pub(crate) fn has_taken_requests(&self) -> bool {
        matches!(self, Self::Http2(machine) if machine.has_taken_requests())
    }

    /// Asks the peer whether it is still there; it has this much time to answer. HTTP/1.1 has no way to.
    pub(crate) fn ask(&mut self, now: Time, within: Duration) {
        if let Self::Http2(machine) = self {
            machine.ask(now, within);
        }
    }

    /// Returns the next frame that was traced.
    pub(crate) fn poll_trace(&mut self) -> Option<FrameSummary> {
        match self {
            Self::Http1(_) => None,
            Self::Http2(machine) => machine.poll_trace(),
        }
    }

    /// Has the head of the next request kept until [`take_sent_head`](Self::take_sent_head). Allocates.
    pub fn keep_sent_head(&mut self) {
        if let Self::Http2(machine) = self {
            machine.keep_sent_head();
        }
    }

    /// Returns the head of the request just sent, which was to be [kept](Self::keep_sent_head), `written`
    /// being all that was put out for it: its lines, each ended by CRLF. Allocates.
    pub fn take_sent_head(&mut self, written: &[u8]) -> Vec<u8> {
        match self {
            Self::Http1(_) => written.to_vec(),
            Self::Http2(machine) => machine.take_sent_head(),
        }
    }
}

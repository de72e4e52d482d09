//! The contract of a protocol machine with whoever drives it.

use alloc::boxed::Box;

use alula_fields::{FieldSection, Head, RequestHead, ResponseHead};

use crate::{
    error::ConnectionError,
    event::{Event, Received},
    exceeded::Exceeded,
    limits::Limits,
    notice::{Notice, Reason},
    out_buf::OutBuf,
    rule::Rule,
    send_error::SendError,
    stream_key::{StreamKey, UnknownStream},
    time::Time,
};

/// A machine for one end of a connection: bytes in, events out; commands in, bytes out. It has no socket and
/// no clock.
///
/// The methods that have a body are those of which not every version has a notion; the answer is then as if
/// it never came to that. A command that is refused has changed nothing. A version may have more methods of
/// its own, for those who know it.
pub trait ProtocolMachine {
    /// The rules that a peer can break.
    type Rule: Rule;
    /// The facts about a connection that this version has beside messages.
    type Fact;
    /// A request that was prepared for this version.
    type Prepared;

    // Commands on messages.

    /// Sends a request; with `end` it has no content.
    ///
    /// # Errors
    /// When it cannot be sent.
    fn send_request(
        &mut self,
        head: &RequestHead<'_>,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, SendError<Self::Rule>>;

    /// Sends a prepared request.
    ///
    /// # Errors
    /// As [`send_request`](Self::send_request), and when the values do not fit the holes.
    fn send_prepared(
        &mut self,
        prepared: &Self::Prepared,
        values: &[&[u8]],
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, SendError<Self::Rule>>;

    /// Sends the final response; with `end` it has no content.
    ///
    /// # Errors
    /// When it cannot be sent.
    fn send_response(
        &mut self,
        stream: StreamKey,
        head: &ResponseHead<'_>,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<(), SendError<Self::Rule>>;

    /// Sends an interim response.
    ///
    /// # Errors
    /// When it cannot be sent.
    fn send_interim(
        &mut self,
        stream: StreamKey,
        head: &ResponseHead<'_>,
        out: &mut OutBuf,
    ) -> Result<(), SendError<Self::Rule>>;

    /// Sends as much content as can be sent now, and says how much that was. If not all, [`Notice::Writable`]
    /// says when to go on.
    ///
    /// # Errors
    /// When there may be none, or no more.
    fn send_data(
        &mut self,
        stream: StreamKey,
        data: &[u8],
        end: bool,
        out: &mut OutBuf,
    ) -> Result<usize, SendError<Self::Rule>>;

    /// Ends a message with trailers.
    ///
    /// # Errors
    /// When they cannot be sent.
    fn send_trailers(
        &mut self,
        stream: StreamKey,
        trailers: &FieldSection,
        out: &mut OutBuf,
    ) -> Result<(), SendError<Self::Rule>>;

    /// Notes, before the answer, that nobody is going to read what is left of the request's content.
    fn decline_content(&mut self, stream: StreamKey) {
        let _ = stream;
    }

    // Input.

    /// Takes bytes that were read.
    ///
    /// # Errors
    /// The connection has ended.
    fn receive<'i>(
        &mut self,
        input: &'i [u8],
        now: Time,
    ) -> Result<Received<'i, Self::Fact>, ConnectionError<Self::Rule>>;

    /// Takes the end of what comes; `is_truncated` says that TLS did not end before. It may end a message,
    /// and gives that event.
    ///
    /// # Errors
    /// The connection has ended with it.
    fn receive_end(
        &mut self,
        is_truncated: bool,
        now: Time,
    ) -> Result<Option<Event<'static, Self::Fact>>, ConnectionError<Self::Rule>>;

    /// Returns the limit that the peer went over last.
    fn exceeded(&self) -> Option<Exceeded>;

    /// Returns the debug data of the peer's farewell; empty if there is none.
    fn goaway_debug(&self) -> &[u8] {
        &[]
    }

    /// Returns true if a client's connection that had answered before has brought nothing after the request.
    fn is_unanswered(&self) -> bool {
        false
    }

    /// Returns true if [`poll_notice`](Self::poll_notice) may have something.
    fn has_notice(&self) -> bool;

    /// Returns the oldest pending notice.
    fn poll_notice(&mut self) -> Option<Notice<Self::Rule>>;

    /// Takes [`Notice::Room`] if that is all there is to tell; returns false, and takes nothing, otherwise.
    /// It spares those who hear of little else from asking until there is nothing more.
    fn take_only_room(&mut self) -> bool {
        false
    }

    /// Exchanges a head that was announced for a spare one, if there is one.
    ///
    /// # Errors
    /// When the stream is gone.
    fn exchange_head(&mut self, stream: StreamKey, into: &mut Option<Box<Head>>)
    -> Result<(), UnknownStream>;

    /// Swaps trailers that were announced into `into`.
    ///
    /// # Errors
    /// When the stream is gone.
    fn take_trailers(&mut self, stream: StreamKey, into: &mut FieldSection) -> Result<(), UnknownStream>;

    /// Gives bytes of content back that were consumed. True when the peer's bytes are wanted from now on that
    /// were not before; windows say that to the peer by themselves.
    fn release_capacity(&mut self, stream: StreamKey, bytes: u32) -> bool;

    /// Returns true if the transport is to be read; a version with windows says it by these.
    fn wants_read(&self) -> bool {
        true
    }

    /// Returns true if the machine leaves what comes until the exchange under way is over.
    fn is_holding(&self) -> bool {
        false
    }

    /// Returns true if bytes that were left may be given again: the exchange before them is over.
    fn can_go_on(&self) -> bool {
        false
    }

    /// Returns true if nothing would come of these bytes if they were given now.
    fn rests(&self, input: &[u8]) -> bool;

    // Streams.

    /// Ends a stream, with what is unfinished of it, and gives its key up: nothing more is sent on it.
    fn reset(&mut self, stream: StreamKey, reason: Reason);

    /// Gives up the key of a stream that has failed, or that nobody cares about any more.
    fn forget(&mut self, stream: StreamKey);

    /// Returns true if our message is whole; `None` when the stream is gone.
    fn has_sent_all(&self, stream: StreamKey) -> Option<bool>;

    /// Returns true while the peer owes content, or its end, and may send it.
    fn is_content_awaited(&self, stream: StreamKey) -> bool;

    /// Returns the bytes of content that the peer is still to send, where it has stated a length.
    fn content_left(&self, stream: StreamKey) -> Option<u64>;

    /// Returns a number for the exchange whose content is read and dropped, and the bytes that were dropped
    /// so far over all exchanges; `None` while nobody waits for the end of such content.
    fn discarding(&self) -> Option<(u32, u64)> {
        None
    }

    /// Returns true if the peer's windows have no room for content.
    fn is_without_window(&self, stream: StreamKey) -> bool {
        let _ = stream;
        false
    }

    /// Returns the bytes of content that may be sent now; if none, [`Notice::Writable`] tells when there is
    /// room.
    fn await_capacity(&mut self, stream: StreamKey) -> usize;

    /// Returns true if the peer may send no content at all until some is given back.
    fn is_out_of_window(&self) -> bool {
        false
    }

    /// Returns true if the machine tells when this stream may send again after the output was full.
    fn await_room(&mut self, stream: StreamKey) -> bool {
        let _ = stream;
        false
    }

    /// Returns true if streams wait for room in the output that the machine tells.
    fn awaits_room(&self) -> bool {
        false
    }

    /// Tells streams that wait for room in the output that there are so many bytes of it.
    fn give_room(&mut self, bytes: u32) {
        let _ = bytes;
    }

    /// Ends a turn: all that were told to go on have done so.
    fn end_turn(&mut self) {}

    // The connection.

    /// Returns true on the side that asks.
    fn is_client(&self) -> bool;

    /// Returns the limits of the connection.
    fn limits(&self) -> &Limits;

    /// Takes heads of so many bytes at most from now on, also of the one that is being read, where the limits
    /// allow more; `u32::MAX` leaves it to the limits alone.
    fn bound_heads(&mut self, bytes: u32);

    /// Returns true if the peer has shown what it wants: its preface, or its first head.
    fn is_introduced(&self) -> bool;

    /// Returns true if a message was cut where the peer cannot see it.
    fn is_cut_unseen(&self) -> bool {
        false
    }

    /// Returns true if nothing more is to be written, although more may come.
    fn wants_shutdown(&self) -> bool {
        false
    }

    /// Returns true if the connection has ended.
    fn is_closed(&self) -> bool;

    /// Returns true if a request can be sent at once, and its answer read.
    fn is_free(&self) -> bool;

    /// Returns the number of requests that can be sent at once; when none can, [`Notice::Room`] tells of the
    /// next.
    fn await_slot(&mut self) -> usize {
        self.is_free().into()
    }

    /// Returns the number of streams that the peer allows at once, if it has said so.
    fn streams_allowed(&self) -> Option<u32> {
        None
    }

    /// Returns the bytes of a field section that the peer takes, if it has said so; the largest number is no
    /// bound.
    fn field_section_allowed(&self) -> Option<u32> {
        None
    }

    /// Goes away: no new requests; those that are on the way as well are still taken with `with_grace`.
    fn goaway(&mut self, with_grace: bool);

    /// Ends the connection at once.
    fn close(&mut self, reason: Reason);

    /// Returns true if [`poll_transmit`](Self::poll_transmit) has bytes.
    fn wants_write(&self) -> bool;

    /// Writes what the machine itself has to say, and returns the number of bytes.
    fn poll_transmit(&mut self, now: Time, out: &mut OutBuf) -> usize;

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is to be called.
    fn poll_timeout(&self) -> Option<Time>;

    /// Returns the memory of what [`poll_transmit`](Self::poll_transmit) has not been asked for yet: it grows
    /// while the peer reads nothing. It is part of [`memory_bytes`](Self::memory_bytes), and found at no
    /// cost.
    fn queued_bytes(&self) -> usize {
        0
    }

    /// Does what the time is ripe for.
    fn handle_timeout(&mut self, now: Time);

    /// Waits for the next request anew when it did not come by `now`, and returns true then; for a version
    /// without pings.
    fn await_request_anew(&mut self, now: Time) -> bool {
        let _ = now;
        false
    }

    // Memory.

    /// Returns true if the next head would be read into a new one.
    fn needs_head(&self) -> bool;

    /// Has the next head read into this one, if there is none to read into.
    fn read_into(&mut self, head: Box<Head>);

    /// Takes away a head that a next one would be read into, if there is one left.
    fn take_empty_head(&mut self) -> Option<Box<Head>>;

    /// Gives back what an idle connection does not need.
    fn trim(&mut self);

    /// Returns the bytes of memory that the machine holds, itself not counted.
    fn memory_bytes(&mut self) -> usize;

    // Tests.

    /// Panics if the state contradicts itself.
    fn check_invariants(&self);

    /// Returns the number of streams that are open.
    fn in_flight(&self) -> usize;

    /// Returns the bytes that may be sent, and that the peer may send; zeros without windows.
    fn windows(&self) -> [i64; 2] {
        [0, 0]
    }
}

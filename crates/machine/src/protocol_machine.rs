//! The contract of a protocol machine with its driver.

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
    /// The facts about a connection that only this version has.
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

    /// Sends as much content as can be sent now, and returns how much. If not all, [`Notice::Writable`] says
    /// when to go on.
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

    /// Declares, before the answer, that nobody will read the rest of the request's content.
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

    /// Processes the end of the input; `is_truncated` says that TLS did not end before. It may end a message,
    /// and gives that event.
    ///
    /// # Errors
    /// The connection has ended with it.
    fn receive_end(
        &mut self,
        is_truncated: bool,
        now: Time,
    ) -> Result<Option<Event<'static, Self::Fact>>, ConnectionError<Self::Rule>>;

    /// Returns the limit that the peer exceeded last.
    fn exceeded(&self) -> Option<Exceeded>;

    /// Returns the debug data of the peer's GOAWAY; empty if there is none.
    fn goaway_debug(&self) -> &[u8] {
        &[]
    }

    /// Returns true if nothing has come after the request on a client's connection that had been answered on
    /// before.
    fn is_unanswered(&self) -> bool {
        false
    }

    /// Returns true if [`poll_notice`](Self::poll_notice) may return something.
    fn has_notice(&self) -> bool;

    /// Returns the oldest pending notice.
    fn poll_notice(&mut self) -> Option<Notice<Self::Rule>>;

    /// Takes [`Notice::Room`] if it is the only notice; otherwise returns false and takes nothing. It spares
    /// those who hear of little else from asking until there is nothing more.
    fn take_only_room(&mut self) -> bool {
        false
    }

    /// Exchanges an announced head for a spare one, if there is one.
    ///
    /// # Errors
    /// When the stream is gone.
    fn exchange_head(&mut self, stream: StreamKey, into: &mut Option<Box<Head>>)
    -> Result<(), UnknownStream>;

    /// Swaps announced trailers into `into`.
    ///
    /// # Errors
    /// When the stream is gone.
    fn take_trailers(&mut self, stream: StreamKey, into: &mut FieldSection) -> Result<(), UnknownStream>;

    /// Gives bytes of consumed content back to the peer's windows. True when the peer's bytes are wanted from
    /// now on that were not before; windows say that to the peer by themselves.
    fn release_capacity(&mut self, stream: StreamKey, bytes: u32) -> bool;

    /// Returns true if the transport should be read; a version with windows controls the peer by these
    /// instead.
    fn wants_read(&self) -> bool {
        true
    }

    /// Returns true if the machine leaves input until the present exchange is over.
    fn is_holding(&self) -> bool {
        false
    }

    /// Returns true if left input may be given again, because the exchange before it is over.
    fn can_go_on(&self) -> bool {
        false
    }

    /// Returns true if the machine would make no progress on these bytes now.
    fn rests(&self, input: &[u8]) -> bool;

    // Streams.

    /// Ends a stream with its unfinished messages, and gives up its key: nothing more is sent on it.
    fn reset(&mut self, stream: StreamKey, reason: Reason);

    /// Gives up the key of a stream that has failed, or that nobody needs any more.
    fn forget(&mut self, stream: StreamKey);

    /// Returns true if our message is complete; `None` when the stream is gone.
    fn has_sent_all(&self, stream: StreamKey) -> Option<bool>;

    /// Returns true while the peer owes content, or its end, and may send it.
    fn is_content_awaited(&self, stream: StreamKey) -> bool;

    /// Returns the bytes of content that the peer still has to send, if it has stated a length.
    fn content_left(&self, stream: StreamKey) -> Option<u64>;

    /// Returns a number for the exchange whose content is being dropped, and the count of all dropped bytes;
    /// `None` while nobody waits for the end of such content.
    fn discarding(&self) -> Option<(u32, u64)> {
        None
    }

    /// Returns true if the peer's windows have no room for content.
    fn is_without_window(&self, stream: StreamKey) -> bool {
        let _ = stream;
        false
    }

    /// Returns the bytes of content that may be sent now; if none, [`Notice::Writable`] follows when there is
    /// room.
    fn await_capacity(&mut self, stream: StreamKey) -> usize;

    /// Returns true if the peer may send no content before some is given back.
    fn is_out_of_window(&self) -> bool {
        false
    }

    /// Returns true if the machine will announce when this stream may send again after the output was full.
    fn await_room(&mut self, stream: StreamKey) -> bool {
        let _ = stream;
        false
    }

    /// Returns true if streams wait for room in the output that the machine will announce.
    fn awaits_room(&self) -> bool {
        false
    }

    /// Tells the machine that the output has room for so many bytes, for the streams that wait for it.
    fn give_room(&mut self, bytes: u32) {
        let _ = bytes;
    }

    /// Ends a turn: all streams that were told to go on have had their chance.
    fn end_turn(&mut self) {}

    // The connection.

    /// Returns true on the client's side.
    fn is_client(&self) -> bool;

    /// Returns the limits of the connection.
    fn limits(&self) -> &Limits;

    /// Bounds heads to so many bytes from now on, including the one that is being read, if the limits allow
    /// more; `u32::MAX` leaves it to the limits alone.
    fn bound_heads(&mut self, bytes: u32);

    /// Returns true if the peer's preface or first head has come.
    fn is_introduced(&self) -> bool;

    /// Returns true if a message was cut in a way that the peer cannot notice.
    fn is_cut_unseen(&self) -> bool {
        false
    }

    /// Returns true if nothing more will be written, although more may come.
    fn wants_shutdown(&self) -> bool {
        false
    }

    /// Returns true if the connection has ended.
    fn is_closed(&self) -> bool;

    /// Returns true if a request can be sent at once and its answer read.
    fn is_free(&self) -> bool;

    /// Returns the number of requests that can be sent at once; if none, [`Notice::Room`] announces the next.
    fn await_slot(&mut self) -> usize {
        self.is_free().into()
    }

    /// Returns the number of streams that the peer allows at once, if it has stated it.
    fn streams_allowed(&self) -> Option<u32> {
        None
    }

    /// Returns the bytes of a field section that the peer accepts, if it has stated it; the largest number is
    /// no bound.
    fn field_section_allowed(&self) -> Option<u32> {
        None
    }

    /// Takes no new requests and lets the present ones end; `with_grace` still accepts requests that are on
    /// their way.
    fn goaway(&mut self, with_grace: bool);

    /// Ends the connection at once.
    fn close(&mut self, reason: Reason);

    /// Returns true if [`poll_transmit`](Self::poll_transmit) has bytes.
    fn wants_write(&self) -> bool;

    /// Writes the machine's own output, and returns the number of bytes.
    fn poll_transmit(&mut self, now: Time, out: &mut OutBuf) -> usize;

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is to be called.
    fn poll_timeout(&self) -> Option<Time>;

    /// Returns the memory of the output for [`poll_transmit`](Self::poll_transmit): it grows while the peer
    /// reads nothing. It is part of [`memory_bytes`](Self::memory_bytes), and found at no cost.
    fn queued_bytes(&self) -> usize {
        0
    }

    /// Does what is due at this time.
    fn handle_timeout(&mut self, now: Time);

    /// Restarts the wait for the next request if it ended by `now`, and returns true then; for a version
    /// without pings.
    fn await_request_anew(&mut self, now: Time) -> bool {
        let _ = now;
        false
    }

    // Memory.

    /// Returns true if the next head would be read into newly allocated memory.
    fn needs_head(&self) -> bool;

    /// Makes the next head be read into this one, unless there is one already.
    fn read_into(&mut self, head: Box<Head>);

    /// Takes away the spare head for the next one, if there is one.
    fn take_empty_head(&mut self) -> Option<Box<Head>>;

    /// Frees the memory that an idle connection does not need.
    fn trim(&mut self);

    /// Returns the bytes of memory that the machine holds, without its own size.
    fn memory_bytes(&mut self) -> usize;

    // Tests.

    /// Panics if the state is inconsistent.
    fn check_invariants(&self);

    /// Returns the number of streams that are open.
    fn in_flight(&self) -> usize;

    /// Returns the bytes that may be sent, and that the peer may send; zeros without windows.
    fn windows(&self) -> [i64; 2] {
        [0, 0]
    }
}

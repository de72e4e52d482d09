//! An HTTP/2 connection without sockets or clocks.
//!
//! The files share the work: `receive` turns bytes into frames; `blocks_in`, `data_in` and `control_in` say
//! what the frames mean; `heads_out` and `data_out` send; `lifecycle` opens, closes and resets streams and
//! ends the connection; `output` hands out control frames and keeps time; `growth` makes receive windows
//! larger; `priority_in` notes what is urgent and `turns` says who may send then. The state for that is in
//! `frame/phase`, `timers`, `grants` and `priority_updates`, and below `blocks_in` and `growth`. Rules of
//! more than one file:
//!
//! Rule 1: a stream is counted (`open`) from its HEADERS until both halves have ended or it is reset, whoever
//! still holds it; every change of the count is in `lifecycle`.
//! Rule 2: control frames are queued in `pending`; whatever is written to the driver's buffer is written
//! behind them, so that an acknowledgment goes before the first frame that relies on it.
//! Rule 3: a command checks everything, then changes everything; a frame that breaks a rule is judged at the
//! place in the input where it becomes certain, whatever the pieces the input comes in.

mod blocks_in;
mod contract;
mod control_in;
mod data_in;
mod data_out;
mod draining;
mod growth;
mod heads_out;
mod lifecycle;
mod notices;
mod output;
mod priority_in;
mod receive;
mod timers;
mod turns;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use alula_fields::{FieldSection, Head};
use alula_hpack::{Decoder, DecoderLimits, Encoder};
use alula_machine::{Exceeded, Limits, OutBuf, StreamKey, TokenBucket, UnknownStream};

use crate::config::Config;
use crate::error::ConnectionError;
use crate::flow::window::{ReceiveWindow, SendWindow};
use crate::frame::MAGIC;
use crate::frame::error_code::ErrorCode;
use crate::frame::hold::Hold;
use crate::frame::settings::{LocalSettings, Settings, WINDOW_INITIAL};
use crate::guard::counters::Counters;
use crate::guard::resets::Resets;
use crate::head::last_authority::LastAuthority;
use crate::head::repeated::Repeated;
use crate::stream::Stream;
use crate::stream::closed_ids::ClosedIds;
use crate::stream::streams::{StreamMemory, Streams};
use crate::trace::{FrameSummary, Trace};

use self::blocks_in::block::Block;
use self::draining::Draining;
use self::growth::sampling::Growth;
use self::notices::Notices;
use self::timers::Timers;
use crate::flow::grants::Turns;
use crate::frame::phase::Phase;
use crate::frame::priority_updates::PriorityUpdates;

/// An HTTP/2 connection without sockets or clocks (RFC 9113). A driver, after every call that changes it:
///
/// 1. handles what [`poll_notice`](Self::poll_notice) tells, until it tells nothing;
/// 2. writes what [`poll_transmit`](Self::poll_transmit) appends, and closes once
///    [`is_closed`](Self::is_closed);
/// 3. sleeps until [`poll_timeout`](Self::poll_timeout), then calls [`handle_timeout`](Self::handle_timeout).
///
/// One that has asked a server to [schedule](crate::Config::schedule) also says when a [turn](Self::end_turn)
/// ends, and may say when its output has no [room](Self::await_room).
///
/// A stream's key is good until the stream is over *and* everything was taken: heads, trailers, and DATA
/// given back with [`release_capacity`](Self::release_capacity). A driver that loses interest in a stream
/// calls [`reset`](Self::reset) or [`forget`](Self::forget), which give the key up at once. After
/// [`Notice::Reset`] it must call one of the two as well, when the work on the stream has stopped: until then
/// the slot is kept, and a server counts it against its limit of streams, so that a peer cannot start work
/// faster than it ends by resetting.
///
/// Nothing is allocated per request once slots, heads and tables are warm.
///
/// ```
/// use alula::{FieldSection, Status, fields::Head, machine::{OutBuf, Time}};
/// use alula::h2::{Config, Connection, Event, RequestHead, ResponseHead};
///
/// let (mut client, mut server) = (Connection::client(Config::default()), Connection::server(Config::default()));
/// let (mut to_server, mut to_client) = (OutBuf::new(), OutBuf::new());
/// let fields = FieldSection::new();
///
/// let request =
///     RequestHead { method: "GET", scheme: "https", authority: "a.example", path: "/", protocol: None, fields: &fields };
/// client.send_request(&request, true, &mut to_server)?;
///
/// let mut head = Head::new();
/// let mut input = to_server.unsent();
/// loop {
///     let received = server.receive(input, Time::ZERO)?;
///     input = &input[received.consumed..];
///     match received.event {
///         Some(Event::Head { stream, end: true }) => {
///             server.take_head(stream, &mut head)?;
///             assert_eq!((head.method(), head.path()), (Some("GET"), Some("/")));
///             let response = ResponseHead { status: Status::NO_CONTENT, fields: &fields };
///             server.send_response(stream, &response, true, &mut to_client)?;
///         }
///         Some(_) => {}
///         None => break,
///     }
/// }
/// assert_eq!(server.in_flight(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Notice::Reset`]: crate::Notice::Reset
pub struct Connection {
    is_client: bool,
    /// The number of streams that a server is expected to allow, until it states a number.
    streams_expected: u32,
    /// The bytes of a field section that a server is expected to accept, until it states a number.
    field_section_expected: u32,
    /// The bound on the bytes of a field section, beside the limits.
    section_bound: u32,
    /// The error with which the connection has ended, if it did.
    error: Option<ConnectionError>,

    // Input.
    phase: Phase,
    hold: Hold,
    block: Block,
    decoder: Decoder,
    /// The last valid authority, in either direction.
    authority: LastAuthority,

    // Output.
    encoder: Encoder,
    repeated: Repeated,
    /// Control frames that wait for `poll_transmit`.
    pending: OutBuf,
    /// The number of acknowledgments among them.
    acks: u32,

    // Both.
    config: Arc<Config>,
    local: LocalSettings,
    peer: Settings,
    /// The peer's first SETTINGS have come.
    has_settings: bool,
    window_in: ReceiveWindow,
    window_out: SendWindow,
    growth: Growth,

    // Streams.
    streams: Streams,
    closed: ClosedIds,
    /// The number of open streams.
    open: u32,
    /// The number of streams that were reset and are still held by the application.
    reset_held: u32,
    /// The next identifier we open a stream with (client).
    next_id: u32,
    /// The highest identifier the peer has used (server).
    highest_id: u32,

    draining: Draining,
    turns: Turns,
    updates: PriorityUpdates,

    going: Going,
    goaway_debug: Vec<u8>,
    /// The limit that the peer exceeded last.
    exceeded: Option<Exceeded>,
    notices: Notices,
    bucket: TokenBucket,
    /// The requests that the client has reset before they were answered.
    resets: Resets,
    /// The streams that the peer made us reset.
    resets_made: Resets,
    /// The number of WINDOW_UPDATE frames that the peer may send before they count as glitches.
    updates_allowed: u32,
    /// The overhead of DATA frames, in bytes, that is still allowed before it counts as a glitch.
    frame_budget: u32,
    ping: Option<[u8; 8]>,
    timers: Timers,
    counters: Counters,
    trace: Trace,
}

/// The state of a connection that is going away, by either side (RFC 9113 §6.8).
#[derive(Clone, Copy, Debug, Default)]
struct Going {
    /// This side has announced that it is going away.
    is_announced: bool,
    /// The last stream that this side has named in a GOAWAY.
    last_sent: Option<u32>,
    /// The last GOAWAY of the peer.
    peer: Option<(u32, ErrorCode)>,
}

/// Constructors.
impl Connection {
    /// Creates the client's side of a new connection. Its preface is ready for
    /// [`poll_transmit`](Self::poll_transmit), or goes out with the first request. Allocates some kilobytes.
    /// Connections may share their configuration.
    pub fn client(config: impl Into<Arc<Config>>) -> Self {
        Self::new(config.into(), true)
    }

    /// Creates the server's side of a new connection. Its SETTINGS are ready for
    /// [`poll_transmit`](Self::poll_transmit). Allocates some kilobytes. Connections may share their
    /// configuration.
    pub fn server(config: impl Into<Arc<Config>>) -> Self {
        Self::new(config.into(), false)
    }

    /// Creates a server like [`server`](Self::server), directly in its final memory.
    pub fn boxed_server(config: Arc<Config>) -> Box<Self> {
        let settings = config.settings(false);
        let mut connection = Box::write(Box::new_uninit(), Self::silent(config, false));
        connection.queue_preface(settings);
        connection
    }

    fn new(config: Arc<Config>, is_client: bool) -> Self {
        let settings = config.settings(is_client);
        let mut connection = Self::silent(config, is_client);
        connection.queue_preface(settings);
        connection
    }

    /// Creates a connection without queued frames. Inline, so that a box is filled in its place.
    #[inline(always)]
    fn silent(config: Arc<Config>, is_client: bool) -> Self {
        Self {
            // First, as it may allocate: parts that are there already would be put aside, to be dropped if it
            // fails, and copied.
            trace: Trace::new(config.trace),
            is_client,
            streams_expected: config.streams_expected,
            field_section_expected: u32::MAX,
            section_bound: u32::MAX,
            error: None,
            phase: if is_client { Phase::Header } else { Phase::Magic { matched: 0 } },
            hold: Hold::default(),
            block: Block::new(),
            decoder: Decoder::new(decoder_limits(&config.limits)),
            authority: LastAuthority::default(),
            encoder: Encoder::new(config.encoder()),
            repeated: Repeated::new(),
            pending: OutBuf::new(),
            acks: 0,
            local: LocalSettings::new(),
            peer: Settings::default(),
            has_settings: false,
            window_in: ReceiveWindow::new(WINDOW_INITIAL),
            window_out: SendWindow::new(WINDOW_INITIAL),
            growth: Growth::new(&config.limits),
            streams: Streams::new(),
            closed: ClosedIds::new((config.limits.streams as usize).saturating_mul(2).min(CLOSED_IDS_MAX)),
            open: 0,
            reset_held: 0,
            next_id: 1,
            highest_id: 0,
            draining: Draining::new(),
            turns: Turns::new(config.schedule && !is_client),
            updates: PriorityUpdates::default(),
            going: Going::default(),
            goaway_debug: Vec::new(),
            exceeded: None,
            notices: Notices::default(),
            bucket: TokenBucket::new(config.limits.glitch_burst, config.limits.glitch_rate),
            resets: Resets::by_peer(&config.limits),
            resets_made: Resets::made_by_peer(&config.limits),
            updates_allowed: UPDATES_PER_DATA,
            frame_budget: config.limits.frame_budget_bytes,
            ping: None,
            timers: Timers::new(),
            counters: Counters::default(),
            config,
        }
    }

    /// Sets the number of streams that the server is expected to allow until its SETTINGS come, in place of
    /// [`Config::streams_expected`]. Without effect on a server.
    pub fn expect_streams(&mut self, streams: u32) {
        self.streams_expected = streams;
    }

    /// Sets the bytes of a field section that the server is expected to accept until its SETTINGS come. A
    /// request with more is refused by [`SendError::AwaitsSettings`](crate::SendError::AwaitsSettings), and
    /// judged by the SETTINGS once they are here. No bound is expected at first. Without effect on a server,
    /// and on trailers.
    pub fn expect_field_section(&mut self, bytes: u32) {
        self.field_section_expected = bytes;
    }

    /// Queues the magic bytes, SETTINGS, and the WINDOW_UPDATE that raises the connection's window to its
    /// size (RFC 9113 §3.4, §6.9.2).
    fn queue_preface(&mut self, settings: Settings) {
        if self.is_client {
            self.pending.extend(MAGIC);
        } else {
            // Room for the first answer, too: the buffer goes on to the driver.
            self.pending.spare(FIRST_OUTPUT);
        }
        self.queue_settings(settings);
        let increment = self.config.limits.connection_window.saturating_sub(WINDOW_INITIAL);
        if increment > 0 && self.window_in.grow(increment).is_ok() {
            self.queue_window_update(0, increment);
        }
    }
}

/// Received heads, trailers and windows.
impl Connection {
    /// Swaps the head of a stream, announced by [`Event::Head`](crate::Event::Head) or
    /// [`Event::Interim`](crate::Event::Interim), with `into`, whose memory is used again. Allocates nothing.
    /// Without a head to take, `into` is cleared.
    ///
    /// # Errors
    /// When the stream is gone.
    #[inline]
    pub fn take_head(&mut self, stream: StreamKey, into: &mut Head) -> Result<(), UnknownStream> {
        let entry = self.streams.get_mut(stream).ok_or(UnknownStream)?;
        let has_head = core::mem::replace(&mut entry.has_head, false);
        let head = entry.head.get_or_insert_default();
        if !has_head {
            head.clear();
        }
        core::mem::swap(&mut **head, into);
        self.free_if_done(stream);
        Ok(())
    }

    /// Takes the head like [`take_head`](Self::take_head), but exchanges boxes, which costs a tenth of
    /// swapping heads: the box in `into` is used for another head; `None` is fine for a caller that has none.
    ///
    /// # Errors
    /// When the stream is gone.
    #[inline]
    pub fn exchange_head(
        &mut self,
        stream: StreamKey,
        into: &mut Option<Box<Head>>,
    ) -> Result<(), UnknownStream> {
        let entry = self.streams.get_mut(stream).ok_or(UnknownStream)?;
        if let (false, Some(head)) = (core::mem::replace(&mut entry.has_head, false), &mut entry.head) {
            head.clear();
        }
        core::mem::swap(&mut entry.head, into);
        self.free_if_done(stream);
        Ok(())
    }

    /// Swaps the trailers of a stream, announced by [`Event::Trailers`](crate::Event::Trailers), with `into`,
    /// whose memory is used again. Allocates nothing. Without trailers to take, `into` is cleared.
    ///
    /// # Errors
    /// When the stream is gone.
    pub fn take_trailers(&mut self, stream: StreamKey, into: &mut FieldSection) -> Result<(), UnknownStream> {
        let entry = self.streams.get_mut(stream).ok_or(UnknownStream)?;
        if !core::mem::replace(&mut entry.has_trailers, false) {
            into.clear();
            return Ok(());
        }
        core::mem::swap(&mut entry.trailers, into);
        self.free_if_done(stream);
        Ok(())
    }

    /// Gives back bytes of DATA that were consumed, so that the peer may send as many more: on the stream,
    /// and on the connection. More than were received counts as all of them (RFC 9113 §6.9).
    ///
    /// # Errors
    /// When the stream is gone; its bytes were given back then.
    #[inline]
    pub fn release_capacity(&mut self, stream: StreamKey, bytes: u32) -> Result<(), UnknownStream> {
        let entry = self.streams.get_mut(stream).ok_or(UnknownStream)?;
        let released = entry.window_in.release(bytes);
        self.update_stream_window(stream);
        self.credit_connection(released);
        self.data_released();
        self.earn_frame_cost(self.config.limits.frame_cost_bytes);
        self.free_if_done(stream);
        Ok(())
    }
}

/// Memory.
impl Connection {
    /// Returns true if the next field section would be read into newly allocated memory.
    #[inline]
    pub fn needs_head(&self) -> bool {
        self.block.needs_head()
    }

    /// Makes the next field section be read into this head, unless there is one already. It must be empty.
    #[inline]
    pub fn read_into(&mut self, head: Box<Head>) {
        self.block.read_into(head);
    }

    /// Takes away the spare head, for its memory; `None` when there is none left, or a field section is being
    /// received, or streams are open. The next one allocates its own unless [`read_into`](Self::read_into)
    /// brings one.
    #[inline]
    pub fn take_empty_head(&mut self) -> Option<Box<Head>> {
        self.block.take_empty_head().or_else(|| self.streams.take_empty_head())
    }

    /// Moves the memory of the streams, with their heads, into `to` for another connection; without effect
    /// while a stream is held, or if `to` has memory. Keys of streams that were here before are as unknown as
    /// they were. Allocates nothing; the cost grows with the streams that were open at once.
    pub fn leave_stream_memory(&mut self, to: &mut StreamMemory) {
        self.streams.leave_memory(to);
    }

    /// Takes over the memory that [`leave_stream_memory`](Self::leave_stream_memory) has put into `from`;
    /// frees it if there is memory already. `from` has none afterwards. Allocates nothing; the cost grows
    /// with the streams that there is memory for.
    pub fn use_stream_memory(&mut self, from: &mut StreamMemory) {
        self.streams.use_memory(from);
    }

    /// Frees memory that an idle connection does not need: buffers, unused parts of tables, remembered
    /// blocks.
    pub fn trim(&mut self) {
        self.pending.trim(PENDING_KEPT_BYTES_MAX);
        self.block.trim();
        self.encoder.trim();
        self.repeated.trim();
        self.decoder.trim();
        self.streams.trim();
        self.draining.trim();
    }
}

/// Queries of the state.
impl Connection {
    /// Returns the identifier of a stream on the wire.
    pub fn stream_id(&self, stream: StreamKey) -> Option<u32> {
        self.streams.get(stream).map(|entry| entry.id)
    }

    /// Returns whether the peer has ended its half of the stream; `None` when the stream is gone.
    pub fn has_received_all(&self, stream: StreamKey) -> Option<bool> {
        self.streams.get(stream).map(|entry| entry.state.has_received_all())
    }

    /// Returns whether this side has ended its half of the stream; `None` when the stream is gone.
    pub fn has_sent_all(&self, stream: StreamKey) -> Option<bool> {
        self.streams.get(stream).map(|entry| entry.state.has_sent_all())
    }

    /// Returns the bytes of content that the peer still has to send, by its `content-length`; `None` where it
    /// has not stated one, and when the stream is gone.
    pub fn content_left(&self, stream: StreamKey) -> Option<u64> {
        // A frame is taken off as a whole when it begins.
        let of_frame = match self.phase {
            Phase::Data { stream: of, left, .. } if of == stream => u64::from(left),
            _ => 0,
        };
        self.streams.get(stream).and_then(|entry| entry.content_in.left()).map(|left| left + of_frame)
    }

    /// Returns how many bytes of DATA can be sent on a stream now: the bytes that both windows allow. Zero
    /// when the stream is gone.
    #[inline]
    pub fn send_capacity(&self, stream: StreamKey) -> usize {
        self.streams.get(stream).map_or(0, |entry| self.capacity(stream, entry) as usize)
    }

    /// Returns true while the peer has not ended its half of the stream and our windows let it send. The
    /// bytes of a tunnel are not awaited.
    pub fn is_content_awaited(&self, stream: StreamKey) -> bool {
        // Credit of up to half a window is kept back, so a window that is half free is surely open to the
        // peer.
        let is_open = |window: ReceiveWindow| window.held() <= window.size() / 2;
        self.streams.get(stream).is_some_and(|entry| {
            let is_begun = entry.state.has_received_head() && !entry.state.has_received_all();
            let is_owed = is_begun && !entry.is_tunnel;
            is_owed && is_open(entry.window_in) && is_open(self.window_in)
        })
    }

    /// Returns true while a window of the peer, of the stream or of the connection, is used up; false if the
    /// stream has ended.
    pub fn is_without_window(&self, stream: StreamKey) -> bool {
        let is_shut = |entry: &Stream| self.window_out.available().min(entry.window_out.available()) == 0;
        self.streams.get(stream).is_some_and(is_shut)
    }

    /// Returns how many received bytes of DATA of a stream were not given back yet. Zero when the stream is
    /// gone.
    pub fn unreleased(&self, stream: StreamKey) -> u32 {
        self.streams.get(stream).map_or(0, |entry| entry.window_in.held())
    }

    /// Returns how many bytes of DATA the connection's window lets this side send; a stream's own window may
    /// allow less.
    pub fn send_window(&self) -> i64 {
        self.window_out.bytes()
    }

    /// Returns how many bytes of DATA the connection's window lets the peer send, as far as it was told.
    pub fn peers_window(&self) -> i64 {
        self.window_in.available()
    }

    /// Returns the number of open streams: neither ended by both sides nor reset.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.open as usize
    }

    /// Returns how many more requests a client can send now.
    pub fn available_slots(&self) -> usize {
        if self.is_client && self.can_open() {
            self.stream_limit().saturating_sub(self.open) as usize
        } else {
            0
        }
    }

    /// Returns the same as [`available_slots`](Self::available_slots); when that is zero,
    /// [`Notice::Room`](crate::Notice::Room) announces the next.
    pub fn await_slot(&mut self) -> usize {
        let slots = self.available_slots();
        self.notices.wants_slot |= slots == 0;
        slots
    }

    /// Returns true if the server has taken a request on this connection: one was answered completely or is
    /// named by the server's GOAWAY. A client that sends its request again on another connection then makes
    /// progress.
    pub fn has_taken_requests(&self) -> bool {
        self.counters.completed > 0 || self.going.peer.is_some_and(|(last, _)| last > 0)
    }

    /// Returns true if this is the client's side.
    #[inline]
    pub fn is_client(&self) -> bool {
        self.is_client
    }

    /// Returns true if nothing more will happen on the connection: it failed, or one side has gone away and
    /// no stream is open. What [`poll_transmit`](Self::poll_transmit) appends is still to be written before
    /// the socket is closed.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.error.is_some() || (self.open == 0 && self.is_going())
    }

    /// Returns true if no new request is possible, because one side is going away.
    #[inline]
    pub fn is_going(&self) -> bool {
        self.going.last_sent.is_some() || self.going.peer.is_some()
    }

    /// Returns the error with which the connection has ended, if it did.
    pub fn error(&self) -> Option<ConnectionError> {
        self.error
    }

    /// Returns the SETTINGS of the peer, or the initial values of RFC 9113 §6.5.2 until they come.
    #[inline]
    pub fn peer_settings(&self) -> &Settings {
        &self.peer
    }

    /// Returns true if the peer's first SETTINGS have come.
    pub fn has_peer_settings(&self) -> bool {
        self.has_settings
    }

    /// Returns our settings that the peer has acknowledged.
    pub fn local_settings(&self) -> &Settings {
        self.local.acknowledged()
    }

    /// Returns our settings that were sent last, acknowledged or not, on which
    /// [`update_settings`](Self::update_settings) builds.
    pub fn sent_settings(&self) -> &Settings {
        self.local.newest()
    }

    /// Returns the first bytes of the debug data in the peer's last GOAWAY; empty if there was none.
    pub fn goaway_debug(&self) -> &[u8] {
        &self.goaway_debug
    }

    /// Returns the limits on what the peer may make this side hold or do.
    pub fn limits(&self) -> &Limits {
        &self.config.limits
    }

    /// Returns the counters of the connection.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the oldest frame that was not fetched, if [`Config::trace`] is set; the latest 1024 are kept.
    ///
    /// There is one for every frame in both directions, in the order in which frames came and were written:
    /// also for those of unknown kind, for those that are ignored, and for one that ends the connection,
    /// which comes before the GOAWAY that answers it. One that came is told of when its header is here;
    /// RST_STREAM, PING, GOAWAY, WINDOW_UPDATE and PRIORITY_UPDATE, of which there is more to tell, when all
    /// of it is. The client's magic is no frame.
    pub fn poll_trace(&mut self) -> Option<FrameSummary> {
        self.trace.poll()
    }

    /// Begins to read back the field sections that are sent, until [`take_sent_head`](Self::take_sent_head).
    /// Allocates for a copy of the encoder's table.
    pub fn keep_sent_head(&mut self) {
        self.trace.keep_heads_of(&self.encoder);
    }

    /// Returns the field section that was sent last since [`keep_sent_head`](Self::keep_sent_head), and keeps
    /// no more of them: its lines `name: value`, pseudo-fields first, each ended by CRLF; nothing if none was
    /// sent. They are read back from the block that was written (RFC 7541 §3). Allocates nothing.
    pub fn take_sent_head(&mut self) -> Vec<u8> {
        self.trace.take_head()
    }

    /// Returns the memory of the control frames that wait for [`poll_transmit`](Self::poll_transmit), in
    /// bytes.
    #[inline]
    pub fn queued_bytes(&self) -> usize {
        self.pending.capacity()
    }

    /// Returns the bytes of memory outside the struct itself; its cost grows with the streams.
    pub fn memory_bytes(&mut self) -> usize {
        self.streams.memory_bytes()
            + self.pending.capacity()
            + self.block.memory_bytes()
            + self.encoder.memory_bytes()
            + self.repeated.memory_bytes()
            + self.closed.memory_bytes()
            + self.decoder.memory_bytes()
            + self.updates.memory_bytes()
            + self.turns.memory_bytes()
            + self.draining.memory_bytes()
    }

    /// Checks the bookkeeping, for tests; its cost grows with the streams.
    ///
    /// # Panics
    /// If something is inconsistent, with what it is.
    pub fn check_invariants(&self) {
        let open = self.streams.iter().filter(|entry| entry.state.is_open()).count();
        assert_eq!(open, self.open as usize, "open streams");
        let reset = self.streams.iter().filter(|entry| entry.state.is_reset()).count();
        assert_eq!(reset, self.reset_held as usize, "streams that were reset and are held");
        let held: u64 = self.streams.iter().map(|entry| u64::from(entry.window_in.held())).sum();
        assert_eq!(held, u64::from(self.window_in.held()), "bytes held by streams and by the connection");
        let draining = self.streams.iter().filter(|entry| entry.state.is_draining()).count();
        assert_eq!(draining, self.draining.count(), "streams whose content is dropped");
        self.turns.check_invariants();
        self.window_in.check_invariants();
        for entry in self.streams.iter().filter(|entry| entry.state.is_open()) {
            assert_eq!(entry.state.completed(), None, "stream {} has ended and is open", entry.id);
            if !entry.state.has_received_all() {
                entry.window_in.check_invariants();
            }
        }
    }
}

/// The bytes that the queue of control frames keeps: enough for a WINDOW_UPDATE of a stream and of its
/// connection, and two acknowledgments.
const PENDING_KEPT_BYTES_MAX: usize = 64;

/// The usual length of a server's first output: SETTINGS, WINDOW_UPDATE, an acknowledgment, and a small
/// answer.
const FIRST_OUTPUT: usize = 384;

/// The most closed streams that are remembered: frames may still be on their way for all streams that are
/// reset at once.
const CLOSED_IDS_MAX: usize = 1024;

/// The WINDOW_UPDATE frames that a peer may send for each DATA frame of ours, beyond those in the bucket: one
/// for the stream, one for the connection, and some for peers that split them.
const UPDATES_PER_DATA: u32 = 10;

fn decoder_limits(limits: &Limits) -> DecoderLimits {
    // A string that fits four times the section's limit is decoded, so that the stream alone fails and not
    // the connection.
    let string_bytes = limits.string_bytes.max(limits.field_section_bytes.saturating_mul(FAR_TOO_LARGE));
    // The table's size is what RFC 9113 §6.5.2 presumes until the peer acknowledges another.
    DecoderLimits { string_bytes, ..DecoderLimits::default() }
}

/// The multiple of the limit at which a field section ends the connection; nghttp2 and hyper draw a second
/// line, too.
const FAR_TOO_LARGE: u32 = 4;

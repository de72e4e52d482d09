//! A hostile client: how far it comes with its request.

use std::io;

use crate::frames::{self, PREFACE, flag, kind};
use crate::wire::{self, Wire};

/// The point after which the client no longer behaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Point {
    /// It has connected and said nothing.
    Connected,
    /// Its preface is half sent.
    MidPreface,
    /// Its preface is sent, without the SETTINGS that belong to it.
    Preface,
    /// Its SETTINGS frame is half sent.
    MidSettings,
    /// Its SETTINGS frame is sent.
    Settings,
    /// Its HEADERS frame is half sent.
    MidHead,
    /// Its HEADERS frame is sent and says that more of the block follows.
    HalfBlock,
    /// It has sent the head of a request with a body.
    Head,
    /// Its DATA frame is half sent.
    MidData,
    /// Some of its DATA is sent.
    MidBody,
    /// It has sent a request and does not read the answer.
    Request,
    /// It has sent a request and gives no window for the answer's body.
    NoWindow,
    /// It has sent a request and reset it.
    Reset,
    /// It has read the head of an answer.
    Answer,
}

/// `SETTINGS_INITIAL_WINDOW_SIZE` (RFC 9113 §6.5.2).
const INITIAL_WINDOW_SIZE: u16 = 4;

/// `CANCEL` (RFC 9113 §7).
const CANCEL: u32 = 8;

impl Point {
    /// All of them, in the order in which a connection comes to them.
    pub const ALL: [Self; 14] = [
        Self::Connected,
        Self::MidPreface,
        Self::Preface,
        Self::MidSettings,
        Self::Settings,
        Self::MidHead,
        Self::HalfBlock,
        Self::Head,
        Self::MidData,
        Self::MidBody,
        Self::Request,
        Self::NoWindow,
        Self::Reset,
        Self::Answer,
    ];

    /// All that the client sends until it comes to this point.
    fn bytes(self) -> Vec<u8> {
        let settings = frames::settings(&[]);
        let opened = [PREFACE, &settings].concat();
        let post = frames::headers(1, &frames::request_block("POST"), false);
        let data = frames::data(1, &[b'x'; 1000], false);
        let get = frames::headers(1, &frames::request_block("GET"), true);
        match self {
            Self::Connected => Vec::new(),
            Self::MidPreface => half(PREFACE),
            Self::Preface => PREFACE.to_vec(),
            Self::MidSettings => [PREFACE, &half(&settings)].concat(),
            Self::Settings => opened,
            Self::MidHead => [opened, half(&get)].concat(),
            Self::HalfBlock => {
                let block = frames::request_block("GET");
                [opened, frames::frame(kind::HEADERS, flag::END_STREAM, 1, &block)].concat()
            }
            Self::Head => [opened, post].concat(),
            Self::MidData => [opened, post, half(&data)].concat(),
            Self::MidBody => [opened, post, data].concat(),
            Self::Request | Self::Answer => [opened, get].concat(),
            Self::NoWindow => {
                let closed = frames::settings(&[(INITIAL_WINDOW_SIZE, 0)]);
                [PREFACE, &closed, &post, &data, &frames::data(1, &[], true)].concat()
            }
            Self::Reset => [opened, post, frames::reset(1, CANCEL)].concat(),
        }
    }
}

/// Plays the client up to the point.
///
/// # Errors
/// When the server closes before.
pub fn play(point: Point, wire: &mut dyn Wire) -> io::Result<()> {
    wire.write_all(&point.bytes())?;
    wire.flush()?;
    if point == Point::Answer {
        wire::read_until(wire, |frame| frame.kind == kind::HEADERS)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    }
    Ok(())
}

fn half(bytes: &[u8]) -> Vec<u8> {
    bytes[..bytes.len() / 2].to_vec()
}

//! A hostile server: how far it comes with its answer.

use std::io;

use super::{Ending, babble};
use crate::frames::{self, flag, kind};
use crate::wire::{self, Wire};

/// The point after which the server no longer behaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Point {
    /// It has accepted the connection and said nothing.
    Accepted,
    /// Its SETTINGS frame is half sent.
    MidSettings,
    /// Its SETTINGS frame is sent.
    Settings,
    /// It has read a request.
    Request,
    /// Its HEADERS frame is half sent.
    MidHead,
    /// Its HEADERS frame is sent and says that more of the block follows.
    HalfBlock,
    /// It has sent an interim response.
    Interim,
    /// It has sent the head of a response with a body.
    Head,
    /// Its DATA frame is half sent.
    MidData,
    /// Some of its DATA is sent.
    MidBody,
    /// All of its body is sent and its trailers are half sent.
    MidTrailers,
    /// It has said that it goes away, though not before this answer.
    GoAway,
}

impl Point {
    /// All of them, in the order in which a connection comes to them.
    pub const ALL: [Self; 12] = [
        Self::Accepted,
        Self::MidSettings,
        Self::Settings,
        Self::Request,
        Self::MidHead,
        Self::HalfBlock,
        Self::Interim,
        Self::Head,
        Self::MidData,
        Self::MidBody,
        Self::MidTrailers,
        Self::GoAway,
    ];

    /// What the server has sent on the first stream when it comes to this point.
    fn answer(self) -> Vec<u8> {
        let head = || frames::headers(1, &response_of(10), false);
        let data = frames::data(1, b"0123456789", false);
        match self {
            Self::Accepted | Self::MidSettings | Self::Settings | Self::Request => Vec::new(),
            Self::MidHead => half(&head()),
            Self::HalfBlock => frames::frame(kind::HEADERS, flag::NONE, 1, &response_of(10)),
            Self::Interim => frames::headers(1, &frames::response_block("103"), false),
            Self::Head => head(),
            Self::MidData => [head(), half(&data)].concat(),
            Self::MidBody => [frames::headers(1, &response_of(20), false), data].concat(),
            Self::MidTrailers => [head(), data, half(&frames::headers(1, &[], true))].concat(),
            Self::GoAway => frames::goaway(1, 0),
        }
    }
}

/// Plays the server up to the point, and to this end.
///
/// # Errors
/// When the client closes before.
pub fn play(point: Point, ending: Ending, wire: &mut dyn Wire) -> io::Result<()> {
    let settings = frames::settings(&[]);
    match point {
        Point::Accepted => {}
        Point::MidSettings => wire.write_all(&half(&settings))?,
        _ => wire.write_all(&settings)?,
    }
    if !matches!(point, Point::Accepted | Point::MidSettings | Point::Settings) {
        read_request(wire)?;
        wire.write_all(&point.answer())?;
    }
    wire.flush()?;
    finish(ending, wire)
}

/// Reads what a client sends up to the head of its first request.
///
/// # Errors
/// When the client closes before.
pub fn read_request(wire: &mut dyn Wire) -> io::Result<()> {
    read_preface(wire)?;
    let head = wire::read_until(wire, |frame| frame.kind == kind::HEADERS)?;
    head.map(drop).ok_or(io::ErrorKind::UnexpectedEof.into())
}

/// Reads what a client sends before its first frame.
///
/// # Errors
/// When the client closes before.
pub fn read_preface(wire: &mut dyn Wire) -> io::Result<()> {
    let mut preface = [0; frames::PREFACE.len()];
    wire.read_exact(&mut preface)
}

fn finish(ending: Ending, wire: &mut dyn Wire) -> io::Result<()> {
    if ending == Ending::Babbles {
        babble(wire)?;
    }
    if ending != Ending::Dies {
        wire::closes(wire);
    }
    Ok(())
}

/// The block of a 200 response with so many bytes to come.
fn response_of(bytes: usize) -> Vec<u8> {
    [frames::response_block("200"), frames::content_length(bytes)].concat()
}

fn half(frame: &[u8]) -> Vec<u8> {
    frame[..frame.len() / 2].to_vec()
}

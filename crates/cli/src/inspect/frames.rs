//! The frames of one direction of a connection (RFC 9113 §4, §6).

use alula::h2::{FrameKind, FrameSummary};

use super::{
    block::Blocks,
    input::Way,
    lines::{Lines, shown},
};
use crate::args::ShowArgs;

/// The bytes that a client sends first (RFC 9113 §3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The length of a frame's header.
const HEADER: usize = 9;
/// The bytes of debug data that are shown.
const DEBUG_MAX: usize = 256;

const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// Returns true for bytes that begin with the client's preface.
pub(super) fn is_of_client(bytes: &[u8]) -> bool {
    bytes.starts_with(PREFACE)
}

/// The received bytes of one direction, and the unfinished header block.
pub(super) struct Direction {
    way: Way,
    buffer: Vec<u8>,
    /// The place of the buffer in this direction.
    at: usize,
    is_begun: bool,
    block: Option<(u32, Vec<u8>)>,
    blocks: Blocks,
}

impl Direction {
    pub(super) fn new(way: Way, show: ShowArgs) -> Self {
        Self { way, buffer: Vec::new(), at: 0, is_begun: false, block: None, blocks: Blocks::new(show) }
    }

    /// Takes more bytes, and appends lines for all complete frames.
    pub(super) fn receive(&mut self, bytes: &[u8], lines: &mut Lines) {
        self.buffer.extend_from_slice(bytes);
        let buffer = std::mem::take(&mut self.buffer);
        let mut rest = self.begin(&buffer, lines);
        while let Some((frame, more)) = first_frame(rest) {
            self.frame(frame, lines);
            self.at += frame.len();
            rest = more;
        }
        self.buffer = rest.to_vec();
    }

    /// Ends the recording; appends a line if a frame or a block is incomplete.
    pub(super) fn finish(&mut self, lines: &mut Lines) {
        if let Some(summary) = FrameSummary::read(true, &self.buffer) {
            let (there, length) = (self.buffer.len() - HEADER, summary.length);
            self.fault(&format!("the recording ends in {}, {there} of {length} bytes", summary.kind), lines);
        } else if !self.buffer.is_empty() {
            self.fault("the recording ends in the header of a frame", lines);
        } else if let Some((stream, _)) = &self.block {
            let fault = format!("the recording ends in the header block of stream {stream}");
            self.fault(&fault, lines);
        }
    }

    /// Skips the preface, if there is one.
    fn begin<'o>(&mut self, bytes: &'o [u8], lines: &mut Lines) -> &'o [u8] {
        if self.is_begun {
            return bytes;
        }
        if self.way == Way::FromClient && bytes.len() < PREFACE.len() && PREFACE.starts_with(bytes) {
            // More of it may come; `first_frame` finds none in what is there.
            return bytes;
        }
        self.is_begun = true;
        match bytes.strip_prefix(PREFACE) {
            Some(rest) => {
                lines.push(&format!("{} {:>6}  preface", self.way.mark(), 0));
                self.at = PREFACE.len();
                rest
            }
            None => bytes,
        }
    }

    fn frame(&mut self, bytes: &[u8], lines: &mut Lines) {
        let Some(summary) = FrameSummary::read(true, bytes) else { return };
        let text = summary.to_string();
        // The mark says which way it goes.
        let text = text.split_once(' ').map_or(&*text, |(_, text)| text);
        lines.push(&format!("{} {:>6}  {text}", self.way.mark(), self.at));
        let has_block = self.block.is_some() || is_of_block(summary.kind);
        if let Err(fault) = self.payload(summary, &bytes[HEADER..], lines) {
            self.fault(&fault, lines);
            if has_block {
                // Its fields may have changed the table, in ways that are lost with it.
                self.block = None;
                self.blocks.forget();
            }
        }
    }

    fn payload(&mut self, summary: FrameSummary, payload: &[u8], lines: &mut Lines) -> Result<(), String> {
        if let Some((stream, _)) = &self.block
            && (summary.kind != FrameKind::CONTINUATION || summary.stream != *stream)
        {
            return Err(format!("the header block of stream {stream} is not whole (RFC 9113 §4.3)"));
        }
        match summary.kind {
            FrameKind::SETTINGS => self.settings(payload, lines),
            FrameKind::HEADERS => {
                let mut fragment = unpadded(summary, payload)?;
                // Old clients still send it, and receivers ignore it (RFC 9113 §5.3.2).
                if summary.flags & PRIORITY != 0 {
                    let (priority, rest) = fragment.split_first_chunk().ok_or("it is too short")?;
                    self.line(&dependency(*priority), lines);
                    fragment = rest;
                }
                self.fragment(summary, fragment, lines)
            }
            FrameKind::PUSH_PROMISE => {
                let (promised, fragment) =
                    unpadded(summary, payload)?.split_first_chunk().ok_or("it is too short")?;
                self.line(&format!("promised={}", u32::from_be_bytes(*promised) & !(1 << 31)), lines);
                self.fragment(summary, fragment, lines)
            }
            FrameKind::CONTINUATION if self.block.is_none() => {
                Err("there is no header block to go on with (RFC 9113 §6.10)".to_owned())
            }
            FrameKind::CONTINUATION => self.fragment(summary, payload, lines),
            FrameKind::PRIORITY => {
                let priority = payload.first_chunk().ok_or("it is too short")?;
                self.line(&dependency(*priority), lines);
                Ok(())
            }
            FrameKind::GOAWAY => {
                let debug = payload.get(8..).ok_or("it is too short")?;
                if !debug.is_empty() {
                    self.line(&format!("debug={}", shown(&debug[..debug.len().min(DEBUG_MAX)])), lines);
                }
                Ok(())
            }
            FrameKind::DATA => unpadded(summary, payload).map(drop),
            _ => Ok(()),
        }
    }

    /// Takes a fragment of a header block, and explains the block once it is complete.
    fn fragment(&mut self, summary: FrameSummary, fragment: &[u8], lines: &mut Lines) -> Result<(), String> {
        let (_, block) = self.block.get_or_insert_with(|| (summary.stream, Vec::new()));
        block.extend_from_slice(fragment);
        if summary.flags & END_HEADERS != 0
            && let Some((_, block)) = self.block.take()
        {
            let indent = self.indent();
            self.blocks.explain(&block, &indent, lines);
        }
        Ok(())
    }

    fn settings(&self, payload: &[u8], lines: &mut Lines) -> Result<(), String> {
        let (settings, rest) = payload.as_chunks::<6>();
        for [a, b, value @ ..] in settings {
            let (number, value) = (u16::from_be_bytes([*a, *b]), u32::from_be_bytes(*value));
            match setting(number) {
                Some(name) => self.line(&format!("{name}={value}"), lines),
                // Unknown settings are ignored by peers and are no fault (RFC 9113 §6.5.2).
                None => self.line(&format!("{number:#06x}={value}"), lines),
            }
        }
        match rest {
            [] => Ok(()),
            _ => Err("its length is no multiple of six (RFC 9113 §6.5)".to_owned()),
        }
    }

    fn indent(&self) -> String {
        format!("{}           ", self.way.mark())
    }

    fn line(&self, text: &str, lines: &mut Lines) {
        lines.push(&format!("{}{text}", self.indent()));
    }

    fn fault(&self, text: &str, lines: &mut Lines) {
        lines.push_fault(&format!("{}: {text}", self.way));
    }
}

/// Returns true for frames that carry a header block, or a part of one.
fn is_of_block(kind: FrameKind) -> bool {
    [FrameKind::HEADERS, FrameKind::PUSH_PROMISE, FrameKind::CONTINUATION].contains(&kind)
}

/// Splits off the first frame with its header, if it is complete.
fn first_frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let summary = FrameSummary::read(true, bytes)?;
    bytes.split_at_checked(HEADER + summary.length as usize)
}

/// Returns a payload without its padding (RFC 9113 §6.1).
fn unpadded(summary: FrameSummary, payload: &[u8]) -> Result<&[u8], String> {
    if summary.flags & PADDED == 0 {
        return Ok(payload);
    }
    let (padding, rest) = payload.split_first().ok_or("it is too short")?;
    let length = rest.len().checked_sub(usize::from(*padding));
    Ok(&rest[..length.ok_or("its padding is longer than it is (RFC 9113 §6.1)")?])
}

/// Returns the priority of RFC 7540, which RFC 9113 §5.3.2 deprecates.
fn dependency([a, b, c, d, weight]: [u8; 5]) -> String {
    let on = u32::from_be_bytes([a, b, c, d]);
    let exclusive = if on >> 31 == 1 { " exclusive" } else { "" };
    format!("depends-on={} weight={}{exclusive}", on & !(1 << 31), u16::from(weight) + 1)
}

/// Returns the name of a setting (RFC 9113 §6.5.2, RFC 8441 §3, RFC 9218 §2.1).
fn setting(number: u16) -> Option<&'static str> {
    Some(match number {
        1 => "HEADER_TABLE_SIZE",
        2 => "ENABLE_PUSH",
        3 => "MAX_CONCURRENT_STREAMS",
        4 => "INITIAL_WINDOW_SIZE",
        5 => "MAX_FRAME_SIZE",
        6 => "MAX_HEADER_LIST_SIZE",
        8 => "ENABLE_CONNECT_PROTOCOL",
        9 => "NO_RFC7540_PRIORITIES",
        _ => return None,
    })
}

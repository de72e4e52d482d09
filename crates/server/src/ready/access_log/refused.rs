//! The line of a request that reached no handler, or of a connection that failed before its first request.

use std::{
    io::{self, Write as _},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use alula_net::Phase;

use super::line::{ClfTime, Json, JsonTime, Log, OrNull};
use crate::{observe::failure::RequestFailure, ready::LogFormat};

/// Writes the line of a request that was refused in this phase, for this reason, after a line about dropped
/// ones if there were any. To write to memory does not fail.
pub(super) fn write(
    line: &mut Vec<u8>,
    format: LogFormat,
    failure: &RequestFailure<'_>,
    (phase, reason): (Phase, &str),
    now: SystemTime,
) {
    let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let _ = match format {
        LogFormat::Json => json(line, failure, (phase, reason), since_epoch),
        LogFormat::Common | LogFormat::Combined => common(line, format, failure, phase, since_epoch),
    };
}

fn common(
    line: &mut Vec<u8>,
    format: LogFormat,
    failure: &RequestFailure<'_>,
    phase: Phase,
    since_epoch: Duration,
) -> io::Result<()> {
    if failure.left_out() > 0 {
        writeln!(line, "# {} refused requests were left out", failure.left_out())?;
    }
    let or_dash = |text| if <str>::is_empty(text) { "-" } else { text };
    let (method, target) = (or_dash(failure.method()), or_dash(failure.target()));
    let address = failure.peer().ip().to_canonical();
    write!(line, "{address} - - [{}] \"{} {} ", ClfTime(since_epoch), Log(method), Log(target))?;
    match phase {
        Phase::Handshake => write!(line, "-\"")?,
        _ => write!(line, "{}\"", failure.version())?,
    }
    match failure.status() {
        Some(status) => write!(line, " {status} 0")?,
        None => write!(line, " - 0")?,
    }
    match format {
        LogFormat::Combined => writeln!(line, " \"-\" \"-\""),
        _ => writeln!(line),
    }
}

fn json(
    line: &mut Vec<u8>,
    failure: &RequestFailure<'_>,
    (phase, reason): (Phase, &str),
    since_epoch: Duration,
) -> io::Result<()> {
    if failure.left_out() > 0 {
        writeln!(line, "{{\"refused_left_out\":{}}}", failure.left_out())?;
    }
    let client = failure.peer().ip().to_canonical();
    write!(line, "{{\"time\":\"{}\",\"peer\":\"{}\"", JsonTime(since_epoch), failure.peer())?;
    write!(line, ",\"client\":\"{client}\",\"user\":null")?;
    write!(line, ",\"method\":{},\"target\":{}", OrNull(failure.method()), OrNull(failure.target()))?;
    match phase {
        Phase::Handshake => write!(line, ",\"version\":null")?,
        _ => write!(line, ",\"version\":\"{}\"", failure.version())?,
    }
    write!(line, ",\"authority\":null,\"route\":null,\"request_id\":null")?;
    match failure.status() {
        Some(status) => write!(line, ",\"status\":{status}")?,
        None => write!(line, ",\"status\":null")?,
    }
    write!(line, ",\"received\":0,\"sent\":0,\"seconds\":null,\"until_head\":null,\"client_left\":false")?;
    writeln!(line, ",\"referer\":null,\"user_agent\":null,\"failure\":{}}}", Json(reason))
}

//! The words in which steps and versions are told: few, so that they may be labels.

use alula_net::Phase;
#[cfg(feature = "tracing")]
use alula_net::Version;

/// Returns the step that was under way, in one word.
pub(super) fn word_of(phase: Phase) -> &'static str {
    match phase {
        Phase::Build => "build",
        Phase::Queue => "queue",
        Phase::Resolve => "resolve",
        Phase::Connect => "connect",
        Phase::Proxy => "proxy",
        Phase::Handshake => "handshake",
        Phase::Send => "send",
        Phase::Head => "head",
        Phase::Content => "content",
        _ => "other",
    }
}

/// Returns the number of a version of HTTP.
#[cfg(feature = "tracing")]
pub(super) fn number_of(version: Version) -> &'static str {
    match version {
        Version::Http1 => "1.1",
        Version::Http2 => "2",
    }
}

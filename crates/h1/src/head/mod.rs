//! Heads of messages in both directions (RFC 9112 §2 to §5).

pub(crate) mod head_in;
pub(crate) mod head_out;
pub(crate) mod keep_alive;
pub(crate) mod known_head;
pub(crate) mod line;
pub(crate) mod list;
pub(crate) mod outgoing;
pub(crate) mod prepared;
pub(crate) mod repeat_odds;
pub(crate) mod repeated;
pub(crate) mod start_line;

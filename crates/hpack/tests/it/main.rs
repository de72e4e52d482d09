//! Tests of the codec of HPACK through its public interface.

mod collect_and_memo;
mod errors;
mod lists;
mod other_codecs;
mod prepared;
mod rfc7541;
mod wire;

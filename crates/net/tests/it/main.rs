//! Tests of connections and their machines over transports, through the public interface.

mod given_up;
mod loops;

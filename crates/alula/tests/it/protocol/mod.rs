//! The two versions of the protocol through the whole stack, in clear text and over TLS.

mod control_data;
mod cut_short;
mod extended_connect;
mod http1;
mod http1_habits;
mod key_agreement;
mod round_trip;

//! The loops over what is not TCP: what they read, and whom they hand it to.

mod claims;
mod ends;
mod interim;
mod transports;

//! The client against peers that are written out by hand: how connections are opened, retried and left.

#[cfg(feature = "tls")]
mod connecting;
mod leaving;
mod retries;
#[cfg(feature = "tls")]
mod support;
mod unheard;

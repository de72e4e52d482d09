//! The client's connections: how many there are and how long, and what becomes of requests when they end.

mod closed_in_between;
mod frames;
mod held_heads;
mod keep_alive;
mod known_settings;
mod pool;
#[cfg(target_os = "linux")]
mod tcp_keep_alive;

//! Limits of time, size and memory, and what errors say of them.

mod deadlines;
mod exceeded;
mod overload;
mod refused_early;

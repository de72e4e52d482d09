//! Tests of the machine of HTTP/2 through its public interface.

mod floods;
mod growth;
mod messages;
mod pair;
mod priorities;
mod repeated;
mod rules;
mod sent_head;
mod slow_heads;
mod splits;
mod support;
mod trace;
mod windows;

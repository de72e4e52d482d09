//! Answers of a server: their forms, files, filters and hooks, and output that waits for its peer.

mod dated;
mod files;
mod filters;
mod folder;
mod forms;
mod hooks;
mod large_output;
mod priorities;
mod responses;
mod sendfile;
mod writable;

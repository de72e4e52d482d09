//! `alula store`.

mod requests;
mod starting;
mod users;

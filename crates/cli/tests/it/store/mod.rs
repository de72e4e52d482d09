//! `alula store`.

mod disk;
mod requests;
mod starting;
mod users;

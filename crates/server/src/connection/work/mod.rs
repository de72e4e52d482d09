//! The futures of handlers, in reusable boxes.
//!
//! Each handler of a server has [`Boxes`](boxes::Boxes) of its own, one shelf of them for each thread. A
//! request takes a box from its thread's shelf, its future is made in it, and the box goes to the shelf of
//! the thread on which the request ends. A request costs no allocation once as many were under way before,
//! and a connection without requests holds none.

mod boxes;
mod cell;
mod running;
mod shelves;
mod threads;

pub(crate) use boxes::Boxes;
pub(crate) use cell::{Cell, Work};
pub(crate) use running::Running;
pub(crate) use shelves::Shelves;

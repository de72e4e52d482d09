//! Whole programs against each other: the `alula` program and peers that other people wrote.
//!
//! The tests are in `tests/`, a module for each theme; here is what they stand on. `cargo xtask test` builds
//! the program, installs the peers and says in the environment where they are ([`environment`]). Everything
//! happens on loopback, on ports that were free, within a stated time; a program ends with the value that
//! stands for it.
#![forbid(unsafe_code)]

pub mod alula;
pub mod attack;
pub mod beside_curl;
pub mod certificates;
pub mod chaos;
pub mod crowd;
pub mod environment;
pub mod folder;
pub mod frames;
pub mod hostile;
pub mod interop;
pub mod load;
pub mod malloc;
pub mod outcome;
pub mod peers;
pub mod poll;
pub mod ports;
pub mod process;
pub mod program;
pub mod served;
pub mod site;
pub mod slow;
pub mod store;
pub mod suite;
pub mod tls;
pub mod wire;

//! The rules of Alula's repository, as functions that return what is wrong and tests that want nothing wrong.
//!
//! Every check reads files or `cargo metadata`; none compiles anything. `cargo test` runs them all, since this
//! crate is a default member; `cargo xtask` uses the same model of the workspace.
#![forbid(unsafe_code)]

mod root;
mod workspace;

pub use root::repository_root;
pub use workspace::{Dependency, Kind, Package, Workspace};

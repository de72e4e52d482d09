//! The rules of Alula's repository, as functions that return what is wrong and tests that want nothing wrong.
//!
//! Every check reads files, `cargo metadata` or `cargo tree`; none compiles anything. `cargo test` runs them
//! all, since this crate is a default member; `cargo xtask` uses the same model of the workspace.
#![forbid(unsafe_code)]

mod alone;
mod api;
mod attributes;
mod circles;
mod citations;
mod crate_count;
mod examples;
mod form;
mod impls;
mod layers;
mod limits;
mod manifests;
mod mentions;
mod modules;
mod parsers;
mod records;
mod rooms;
mod root;
mod sources;
mod terminals;
mod workspace;

pub use alone::check_alone;
pub use api::{api_file, check_api, check_nameless, current_api};
pub use attributes::check_attributes;
pub use circles::{CIRCLE_MAX, check_circles};
pub use citations::check_citations;
pub use crate_count::{CRATES_MAX, crates_compiled};
pub use examples::check_examples;
pub use form::check_paths;
pub use impls::check_impls;
pub use layers::{LAYERS, Layer, check_layers, layers_as_markdown};
pub use limits::{check_limits, current_limits, limits_page};
pub use manifests::check_manifests;
pub use mentions::{check_commands, check_files};
pub use parsers::check_parsers;
pub use records::check_records;
pub use rooms::{check_imports, check_rooms};
pub use root::repository_root;
pub use sources::Source;
pub use terminals::check_terminals;
pub use workspace::{Dependency, Kind, Package, Workspace};

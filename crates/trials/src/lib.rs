//! What fuzzing tries: one function for each target, which takes any octets and panics when something is wrong.
//!
//! The functions know no fuzzer. `fuzz/` gives them to libFuzzer, and the tests of this crate run them over `corpus/` and
//! over mutations of it, so that `cargo test` on any toolchain catches what fuzzing has caught once.
//!
//! Rule 1: a body is a function of its octets alone: no clock, no random numbers, no file; but for `cookies`, as a jar reads
//! the clock to tell what has expired.
//! Rule 2: what a body expects it works out in a way that is simpler than the code under test, and slower for it.
//! Rule 3: octets are decisions in the order of their use, and zeroes follow the last one (see `input`), so that a part of
//! an input that fuzzing has found means the same in another input.
//! Rule 4: parsers of the store run within `memory::bounded`, which fails one that takes many times the
//! memory of its input. It knows only of binaries that install the counting allocator, as those here and
//! those of `fuzz/` do.
#![forbid(unsafe_code)]

mod accept;
mod authority;
mod certificate;
#[path = "../../cli/src/fetch/tls/certificate.rs"]
mod certificate_words;
mod conditional;
mod content_coding;
mod content_disposition;
mod control_data;
mod cookies;
mod credentials;
mod datatype_change;
#[path = "../../cli/src/text/disposition.rs"]
mod disposition;
mod field_name;
mod field_section;
mod field_value;
mod forwarded;
mod frames;
mod gzip_header;
mod h1_client;
mod h1_listener;
mod h1_pair;
mod h1_server;
mod h1_side;
mod h2_client;
mod h2_operations;
mod h2_pair;
mod h2_server;
mod head;
mod hpack_decode;
mod hpack_round_trip;
mod huffman;
mod index_query;
mod input;
mod listener;
mod location;
mod memory;
mod naive_hpack;
mod naive_huffman;
mod naive_routes;
mod object_fields;
mod priority;
mod proxy_answer;
mod query;
mod retry_after;
mod routes;
mod side;
mod store_bodies;
mod stored;
mod target;
mod users_file;
mod walk_steps;
mod whole_server;

pub use accept::accept;
pub use authority::authority;
pub use certificate::certificate;
pub use conditional::conditional;
pub use content_coding::content_coding;
pub use content_disposition::content_disposition;
pub use control_data::control_data;
pub use cookies::cookies;
pub use credentials::credentials;
pub use datatype_change::datatype_change;
pub use field_name::field_name;
pub use field_section::field_section;
pub use field_value::field_value;
pub use forwarded::forwarded;
pub use gzip_header::gzip_header;
pub use h1_client::h1_client;
pub use h1_pair::h1_pair;
pub use h1_server::h1_server;
pub use h2_client::h2_client;
pub use h2_operations::h2_operations;
pub use h2_pair::h2_pair;
pub use h2_server::h2_server;
pub use head::head;
pub use hpack_decode::hpack_decode;
pub use hpack_round_trip::hpack_round_trip;
pub use huffman::huffman;
pub use index_query::index_query;
pub use location::location;
pub use memory::{Use, take_worst};
pub use object_fields::object_fields;
pub use priority::priority;
pub use proxy_answer::proxy_answer;
pub use query::query;
pub use retry_after::retry_after;
pub use routes::routes;
pub use store_bodies::store_bodies;
pub use stored::stored;
pub use target::target;
pub use users_file::users_file;
pub use walk_steps::walk_steps;
pub use whole_server::whole_server;

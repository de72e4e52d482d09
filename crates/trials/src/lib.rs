//! What fuzzing tries: one function for each target, which takes any bytes and panics when something is
//! wrong.
//!
//! The functions know no fuzzer. `fuzz/` gives them to libFuzzer, and the tests of this crate run them over
//! `corpus/` and over mutations of it, so that `cargo test` on any toolchain catches what fuzzing has caught
//! once.
//!
//! Rule 1: a body is a function of its bytes alone: no clock, no random numbers, no file; but for `cookies`,
//! as a jar reads the clock to tell what has expired.
//! Rule 2: what a body expects it works out in a way that is simpler than the code under test, and slower for
//! it.
//! Rule 3: bytes are decisions in the order of their use, and zeroes follow the last one (see `input`), so
//! that a part of an input that fuzzing has found means the same in another input.
//! Rule 4: parsers of the store run within `memory::bounded`, which fails one that takes many times the
//! memory of its input. It knows only of binaries that install the counting allocator, as those here and
//! those of `fuzz/` do.
#![forbid(unsafe_code)]

#[path = "../../cli/src/fetch/tls/certificate.rs"]
mod certificate_words;
mod fields;
mod h1;
mod h2;
mod hpack;
mod input;
mod memory;
mod store;
mod whole;

pub use fields::*;
pub use h1::*;
pub use h2::*;
pub use hpack::*;
pub use memory::{Use, take_worst};
pub use store::*;
pub use whole::*;

/// Writes [`body`] from the names of all targets.
macro_rules! targets {
    ($($target:ident),* $(,)?) => {
        /// Returns the body of the target with this name. The programs of `fuzz/` call it in a constant, so a
        /// name without a body does not compile.
        ///
        /// # Panics
        /// There is no target with this name.
        #[must_use]
        pub const fn body(name: &str) -> fn(&[u8]) {
            $(
                if is_same(name.as_bytes(), stringify!($target).as_bytes()) {
                    return $target;
                }
            )*
            panic!("there is no such target")
        }

        #[cfg(test)]
        const TARGETS: &[(&str, fn(&[u8]))] = &[$((stringify!($target), $target)),*];
    };
}

targets! {
    accept,
    authority,
    certificate,
    conditional,
    content_coding,
    content_disposition,
    control_data,
    cookies,
    credentials,
    datatype_change,
    field_name,
    field_section,
    field_value,
    forwarded,
    gzip_header,
    h1_client,
    h1_pair,
    h1_server,
    h2_client,
    h2_operations,
    h2_pair,
    h2_server,
    head,
    hpack_decode,
    hpack_round_trip,
    huffman,
    index_query,
    location,
    multipart,
    object_fields,
    priority,
    proxy_answer,
    query,
    retry_after,
    routes,
    store_bodies,
    stored,
    target,
    users_file,
    walk_steps,
    whole_server,
}

/// `==`, for constants.
const fn is_same(one: &[u8], other: &[u8]) -> bool {
    match (one, other) {
        ([], []) => true,
        ([a, one @ ..], [b, other @ ..]) => *a == *b && is_same(one, other),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_its_own_body() {
        assert!(TARGETS.iter().all(|(name, target)| std::ptr::fn_addr_eq(body(name), *target)));
    }

    #[test]
    #[should_panic(expected = "there is no such target")]
    fn a_name_without_a_body_is_refused() {
        let _ = body("h1_pairs");
    }
}

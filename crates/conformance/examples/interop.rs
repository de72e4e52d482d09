//! Prints `docs/interop.md` as the matrix has it; `cargo xtask interop --write` puts it there.
#![forbid(unsafe_code)]

fn main() {
    print!("{}", alula_conformance::interop::page::text());
}

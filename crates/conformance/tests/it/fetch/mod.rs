//! Tests of `alula get` and its siblings as clients of other programs.

mod beside_curl;
mod ends;
mod expect;
mod key_agreement;
mod peers;
mod proxies;

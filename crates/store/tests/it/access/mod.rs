//! Users over TLS, over both versions of HTTP: who is let in, what each may do, and what nobody learns. The
//! sections are those of Riak's API.

mod certificates;
mod logins;
mod permissions;
mod reloads;
mod served;

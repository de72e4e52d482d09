//! The lookup of hosts on the caller's thread.

use std::net::ToSocketAddrs as _;

use crate::connecting::{Resolve, Resolving, without_kind};

/// The operating system's resolver, called on the thread that drives the runtime.
pub(super) struct OnCallersThread;

impl Resolve for OnCallersThread {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move { Ok((host, port).to_socket_addrs().map_err(without_kind)?.collect()) })
    }
}

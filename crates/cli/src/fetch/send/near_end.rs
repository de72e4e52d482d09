//! `--interface` and `--local-port`: where connections are opened from.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _},
    path::Path,
};

use alula::ClientBuilder;

use crate::{
    args::ConnectionArgs,
    failure::exit::{Exit, Failure},
};

/// curl's number for an interface that cannot be used.
const INTERFACE: u8 = 45;

/// The interface that a flag names.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Near {
    Addresses(Vec<IpAddr>),
    Device(String),
}

/// Binds connections to the interface and local ports of the flags.
pub(in crate::fetch) fn of(builder: ClientBuilder, args: &ConnectionArgs) -> Result<ClientBuilder, Failure> {
    let near = args.interface.as_deref().map(near).transpose()?;
    let anywhere = || vec![IpAddr::from(Ipv4Addr::UNSPECIFIED), Ipv6Addr::UNSPECIFIED.into()];
    let (builder, addresses) = match (near, args.local_port.is_some()) {
        (None, false) => return Ok(builder),
        (None, true) => (builder, anywhere()),
        (Some(Near::Addresses(addresses)), _) => (builder, addresses),
        #[cfg(target_os = "linux")]
        (Some(Near::Device(name)), false) => return Ok(builder.interface(name)),
        #[cfg(target_os = "linux")]
        (Some(Near::Device(name)), true) => (builder.interface(name), anywhere()),
        #[cfg(not(target_os = "linux"))]
        (Some(Near::Device(name)), _) => return Err(unknown(&name)),
    };
    let (first, last) = args.local_port.unwrap_or_default();
    let ends =
        (first..=last).flat_map(|port| addresses.iter().map(move |address| SocketAddr::new(*address, port)));
    Ok(builder.local_addresses(ends))
}

/// `if!NAME`, `host!NAME`, an address, or a name of either.
fn near(given: &str) -> Result<Near, Failure> {
    if let Some(name) = given.strip_prefix("if!") {
        return Ok(Near::Device(name.to_owned()));
    }
    let host = given.strip_prefix("host!");
    // A name may be that of an interface and of a host: the interface is more likely meant.
    if host.is_none() && is_interface(given) {
        return Ok(Near::Device(given.to_owned()));
    }
    let host = host.unwrap_or(given);
    let found = (host, 0).to_socket_addrs().map_err(|_| unknown(given))?;
    Ok(Near::Addresses(found.map(|address| address.ip()).collect()))
}

fn is_interface(name: &str) -> bool {
    !name.contains('/') && Path::new("/sys/class/net").join(name).exists()
}

fn unknown(given: &str) -> Failure {
    Failure::new(
        Exit::Connect,
        format!("--interface {given}: there is neither an interface nor a host of this name"),
    )
    .curl(INTERFACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_a_name_or_an_address() {
        let address = |text: &str| Near::Addresses(vec![text.parse().unwrap()]);
        for (given, expected) in [
            ("127.0.0.2", address("127.0.0.2")),
            ("::1", address("::1")),
            ("host!127.0.0.1", address("127.0.0.1")),
            ("if!eth9", Near::Device("eth9".to_owned())),
        ] {
            assert_eq!(near(given).unwrap(), expected, "{given}");
        }
        assert!(near("nobody.invalid").is_err() && near("host!nobody.invalid").is_err());
    }
}

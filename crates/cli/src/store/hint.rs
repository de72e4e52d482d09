//! Three commands to try on an empty store.

use std::{
    env,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use crate::args::ListenArgs;

/// Returns three shell commands, after a line about their purpose. They store an object, read it and delete
/// it.
pub(super) fn hint(args: &ListenArgs, address: SocketAddr) -> String {
    let program = env::args().next().unwrap_or_else(|| "alula".to_owned());
    hint_for(&quoted(&program), args.http2_only, address)
}

fn hint_for(program: &str, is_http2: bool, address: SocketAddr) -> String {
    let flag = if is_http2 { " --http2-prior-knowledge" } else { "" };
    let url = format!("http://{}/buckets/people/keys/ada", reachable(address));
    format!(
        "The store is empty. To try it:\n\
         \x20 {program} put{flag} {url} name=Ada born:=1815\n\
         \x20 {program} get{flag} -i {url}\n\
         \x20 {program} delete{flag} {url}\n"
    )
}

/// Returns the address by which this machine reaches a server that listens on all of its addresses.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/".contains(&byte);
    match word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_lead_to_this_machine() {
        let hint = hint_for("alula", true, "[::]:8098".parse().unwrap());
        let lines: Vec<_> = hint.lines().collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(
            lines[3],
            "  alula delete --http2-prior-knowledge http://[::1]:8098/buckets/people/keys/ada"
        );
        let hint = hint_for("alula", false, "0.0.0.0:1".parse().unwrap());
        assert!(hint.contains("  alula get -i http://127.0.0.1:1/"), "{hint}");
    }

    #[test]
    fn a_word_is_quoted_where_it_must_be() {
        assert_eq!(quoted("target/release/alula"), "target/release/alula");
        assert_eq!(quoted("a b's"), r"'a b'\''s'");
    }
}

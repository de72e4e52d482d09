//! Tunnels through a SOCKS proxy: version 5 (RFC 1928), with a name and a password if it asks for them (RFC
//! 1929).
//!
//! It is written out here since there is little to it, and what crates for it bring along is several times as
//! long.

use std::net::{IpAddr, SocketAddr};

use alula_net::{Cause, Error, Phase, Retry, Transport};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{Credentials, broken};

const VERSION: u8 = 5;
const CONNECT: u8 = 1;
const WITHOUT_CREDENTIALS: u8 = 0;
const WITH_CREDENTIALS: u8 = 2;
/// The version of the exchange of credentials (RFC 1929 §2).
const CREDENTIALS_VERSION: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// The destination that the proxy should connect to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'a> {
    Address(SocketAddr),
    /// A host that the proxy looks up, and a port.
    Name(&'a str, u16),
}

/// Asks for a connection to the target. Nothing that comes over it is read.
///
/// # Errors
/// The proxy refused, with its reason, speaks something else, or was gone.
pub(crate) async fn ask(
    proxy: &mut (impl Transport + ?Sized),
    target: Target<'_>,
    credentials: Option<&Credentials>,
) -> Result<(), Error> {
    introduce(proxy, credentials).await?;
    send(proxy, &request(target)?).await?;
    let [version, reply, _, kind] = receive(proxy).await?;
    check_version(version)?;
    if reply != 0 {
        // No connection was made, so nothing of the request can have been seen.
        return Err(refused(reason(reply), Retry::Safe));
    }
    // The address from which it connects is of no interest; a port follows it.
    let bytes = match kind {
        IPV4 => 4,
        IPV6 => 16,
        NAME => usize::from(receive::<1>(proxy).await?[0]),
        _ => return Err(refused("it speaks another protocol", Retry::Pointless)),
    };
    let mut address = vec![0; bytes + 2];
    proxy.read_exact(&mut address).await.map(drop).map_err(broken)
}

/// Agrees on an authentication method, and authenticates.
async fn introduce(
    proxy: &mut (impl Transport + ?Sized),
    credentials: Option<&Credentials>,
) -> Result<(), Error> {
    match credentials {
        None => send(proxy, &[VERSION, 1, WITHOUT_CREDENTIALS]).await?,
        Some(_) => send(proxy, &[VERSION, 2, WITHOUT_CREDENTIALS, WITH_CREDENTIALS]).await?,
    }
    let [version, method] = receive(proxy).await?;
    check_version(version)?;
    match (method, credentials) {
        // A proxy may waive the credentials that were offered (RFC 1928 §3).
        (WITHOUT_CREDENTIALS, _) => Ok(()),
        (WITH_CREDENTIALS, Some(credentials)) => authenticate(proxy, credentials).await,
        (_, None) => Err(refused("it asks for a name and a password", Retry::Pointless)),
        _ => Err(refused("it asks for credentials of a kind that is not supported", Retry::Pointless)),
    }
}

async fn authenticate(proxy: &mut (impl Transport + ?Sized), credentials: &Credentials) -> Result<(), Error> {
    let mut message = vec![CREDENTIALS_VERSION];
    for text in [&credentials.user, &credentials.password] {
        put_counted(&mut message, text)?;
    }
    send(proxy, &message).await?;
    match receive(proxy).await? {
        [_, 0] => Ok(()),
        _ => Err(refused("it does not take the name and password", Retry::Pointless)),
    }
}

fn request(target: Target<'_>) -> Result<Vec<u8>, Error> {
    let mut message = vec![VERSION, CONNECT, 0];
    let port = match target {
        Target::Address(address) => {
            match address.ip() {
                IpAddr::V4(ip) => {
                    message.push(IPV4);
                    message.extend(ip.octets());
                }
                IpAddr::V6(ip) => {
                    message.push(IPV6);
                    message.extend(ip.octets());
                }
            }
            address.port()
        }
        Target::Name(name, port) => {
            message.push(NAME);
            put_counted(&mut message, name)?;
            port
        }
    };
    message.extend(port.to_be_bytes());
    Ok(message)
}

fn put_counted(message: &mut Vec<u8>, text: &str) -> Result<(), Error> {
    let bytes = u8::try_from(text.len()).map_err(|_| {
        Error::usage("a host, a name or a password for SOCKS has more than 255 bytes (RFC 1928 §5)")
    })?;
    message.push(bytes);
    message.extend(text.as_bytes());
    Ok(())
}

async fn send(proxy: &mut (impl Transport + ?Sized), message: &[u8]) -> Result<(), Error> {
    proxy.write_all(message).await.map_err(broken)
}

async fn receive<const BYTES: usize>(proxy: &mut (impl Transport + ?Sized)) -> Result<[u8; BYTES], Error> {
    let mut message = [0; BYTES];
    proxy.read_exact(&mut message).await.map_err(broken)?;
    Ok(message)
}

fn check_version(version: u8) -> Result<(), Error> {
    if version == VERSION { Ok(()) } else { Err(refused("it speaks another protocol", Retry::Pointless)) }
}

fn refused(why: &'static str, retry: Retry) -> Error {
    Error::new(Phase::Proxy, Cause::Socks(why), retry)
}

/// Returns the meaning of a reply (RFC 1928 §6).
const fn reason(reply: u8) -> &'static str {
    match reply {
        1 => "it has failed",
        2 => "its rules do not allow it",
        3 => "the network cannot be reached",
        4 => "the host cannot be reached",
        5 => "the connection was refused",
        6 => "the time to live has expired",
        7 => "it does not know how to connect",
        8 => "it does not know this kind of address",
        _ => "for a reason that is not in the standard",
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    const HOST: Target<'_> = Target::Name("a.example", 443);

    /// Returns the outcome of these answers, and the bytes that were sent for them, one after the other.
    async fn course(
        target: Target<'_>,
        credentials: Option<(&str, &str)>,
        steps: &[(&[u8], &[u8])],
    ) -> Result<(), Error> {
        let (mut near, mut far) = duplex(1000);
        let credentials = credentials
            .map(|(user, password)| Credentials { user: user.to_owned(), password: password.to_owned() });
        let proxy = async move {
            for (expected, answer) in steps {
                let mut sent = vec![0; expected.len()];
                far.read_exact(&mut sent).await.unwrap();
                assert_eq!(sent, *expected);
                far.write_all(answer).await.unwrap();
            }
            drop(far);
        };
        let (asked, ()) = tokio::join!(ask(&mut near, target, credentials.as_ref()), proxy);
        asked?;
        // The bytes that follow are the origin's.
        let mut rest = Vec::new();
        near.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"rest");
        Ok(())
    }

    const REQUEST: &[u8] = b"\x05\x01\0\x03\x09a.example\x01\xbb";

    #[tokio::test]
    async fn names_and_addresses_are_asked_for() {
        let done = b"\x05\0\0\x01\x7f\0\0\x01\x04\x38rest";
        course(HOST, None, &[(b"\x05\x01\0", b"\x05\0"), (REQUEST, done)]).await.unwrap();
        let address = Target::Address("192.0.2.1:80".parse().unwrap());
        let request = b"\x05\x01\0\x01\xc0\0\x02\x01\0\x50";
        course(address, None, &[(b"\x05\x01\0", b"\x05\0"), (request, done)]).await.unwrap();
        let address = Target::Address("[2001:db8::1]:80".parse().unwrap());
        let request = b"\x05\x01\0\x04\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\0\x50";
        course(address, None, &[(b"\x05\x01\0", b"\x05\0"), (request, done)]).await.unwrap();
    }

    #[tokio::test]
    async fn the_address_in_the_answer_may_be_of_any_kind() {
        for done in [
            &b"\x05\0\0\x04\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\0\x50rest"[..],
            b"\x05\0\0\x03\x03abc\0\x50rest",
            b"\x05\0\0\x03\0\0\x50rest",
        ] {
            course(HOST, None, &[(b"\x05\x01\0", b"\x05\0"), (REQUEST, done)]).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_proxy_that_wants_to_know_who_asks_is_told() {
        let done = b"\x05\0\0\x01\0\0\0\0\0\0rest";
        let steps: &[(&[u8], &[u8])] =
            &[(b"\x05\x02\0\x02", b"\x05\x02"), (b"\x01\x04user\x06secret", b"\x01\0"), (REQUEST, done)];
        course(HOST, Some(("user", "secret")), steps).await.unwrap();
        // One that does not want to know is not told.
        let steps: &[(&[u8], &[u8])] = &[(b"\x05\x02\0\x02", b"\x05\0"), (REQUEST, done)];
        course(HOST, Some(("user", "secret")), steps).await.unwrap();
    }

    #[tokio::test]
    async fn refusals_say_why() {
        let hello: (&[u8], &[u8]) = (b"\x05\x01\0", b"\x05\0");
        for (credentials, steps, why) in [
            (None, vec![(hello.0, &b"\x05\xff"[..])], "it asks for a name and a password"),
            (None, vec![hello, (REQUEST, b"\x05\x05\0\x01\0\0\0\0\0\0")], "the connection was refused"),
            (
                None,
                vec![hello, (REQUEST, b"\x05\x63\0\x01\0\0\0\0\0\0")],
                "for a reason that is not in the standard",
            ),
            (None, vec![(hello.0, b"\x04\0")], "it speaks another protocol"),
            (None, vec![(hello.0, b"HTTP/1.1 400")], "it speaks another protocol"),
            (None, vec![hello, (REQUEST, b"\x05\0\0\x09\0\0")], "it speaks another protocol"),
            (
                Some(("user", "secret")),
                vec![(b"\x05\x02\0\x02", b"\x05\x02"), (b"\x01\x04user\x06secret", b"\x01\x01")],
                "it does not take the name and password",
            ),
            (
                Some(("user", "secret")),
                vec![(b"\x05\x02\0\x02", b"\x05\x01")],
                "it asks for credentials of a kind that is not supported",
            ),
        ] {
            let error = course(HOST, credentials, &steps).await.unwrap_err();
            assert!(matches!(error.cause(), Cause::Socks(reason) if *reason == why), "{error}");
            assert_eq!(error.phase(), Phase::Proxy);
        }
    }

    #[tokio::test]
    async fn an_answer_that_is_cut_is_a_broken_connection() {
        let whole = b"\x05\0\0\x01\x7f\0\0\x01\x04\x38";
        for cut in 0..whole.len() {
            let steps: &[(&[u8], &[u8])] = &[(b"\x05\x01\0", b"\x05\0"), (REQUEST, &whole[..cut])];
            let error = course(HOST, None, steps).await.unwrap_err();
            assert!(
                matches!(error.cause(), Cause::Io(std::io::ErrorKind::UnexpectedEof, _)),
                "{cut}: {error}"
            );
        }
        let long = "a".repeat(256);
        let error = course(Target::Name(&long, 1), None, &[(b"\x05\x01\0", b"\x05\0")]).await.unwrap_err();
        assert_eq!(error.phase(), Phase::Build);
    }
}

//! `--listen`: an address whose host or port may be left out.

/// The port of `alula echo` and `alula serve`.
const PORT: u16 = 8080;
/// The port of `alula store`, as Riak has it.
const PORT_OF_STORE: u16 = 8098;

const WRITTEN: &str = "written as HOST:PORT, HOST, :PORT or PORT, such as 0.0.0.0:8080; IPv6 is [::]:8080";

/// Completes the address of `alula echo` and `alula serve` to `HOST:PORT`.
pub(in crate::args) fn address(text: &str) -> Result<String, String> {
    address_at(text, PORT)
}

/// Completes the address of `alula store`.
pub(in crate::args) fn address_of_store(text: &str) -> Result<String, String> {
    address_at(text, PORT_OF_STORE)
}

/// Completes an address: loopback if only a port is given, this port if only a host is given.
fn address_at(text: &str, port: u16) -> Result<String, String> {
    if let Some((scheme, rest)) = text.split_once("://") {
        return Err(format!("an address has no `{scheme}://` before it: {rest}"));
    }
    if text.is_empty() || text.contains(|character: char| !is_of_address(character)) {
        return Err(WRITTEN.to_owned());
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(format!("127.0.0.1:{}", port_of(text)?));
    }
    match text.rsplit_once(':') {
        // An address of IPv6 without brackets has no port.
        Some((host, _)) if host.contains(':') && !host.contains(['[', ']']) => Ok(format!("[{text}]:{port}")),
        Some(_) if text.ends_with(']') => Ok(format!("{text}:{port}")),
        Some(("", digits)) => Ok(format!("127.0.0.1:{}", port_of(digits)?)),
        Some((host, digits)) => Ok(format!("{host}:{}", port_of(digits)?)),
        None => Ok(format!("{text}:{port}")),
    }
}

fn port_of(digits: &str) -> Result<u16, String> {
    match digits.parse() {
        Ok(port) => Ok(port),
        Err(_) if digits.is_empty() => Err(WRITTEN.to_owned()),
        Err(_) => Err(format!("{digits} is no port: ports are numbers up to 65535")),
    }
}

/// Returns true for the characters of host names, IP addresses and zones.
fn is_of_address(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-._:[]%".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_or_a_port_is_enough() {
        for (text, expected) in [
            ("8080", "127.0.0.1:8080"),
            (":3000", "127.0.0.1:3000"),
            ("0", "127.0.0.1:0"),
            ("0.0.0.0", "0.0.0.0:8080"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("localhost", "localhost:8080"),
            ("a.example:1", "a.example:1"),
            ("::", "[::]:8080"),
            ("::1", "[::1]:8080"),
            ("[::1]", "[::1]:8080"),
            ("[::1]:99", "[::1]:99"),
            ("fe80::1%2", "[fe80::1%2]:8080"),
        ] {
            assert_eq!(address(text).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(address_of_store("0.0.0.0").as_deref(), Ok("0.0.0.0:8098"));
        assert_eq!(address_of_store(":1").as_deref(), Ok("127.0.0.1:1"));
    }

    #[test]
    fn the_fault_of_an_address_is_named() {
        for (text, why) in [
            ("", "HOST:PORT"),
            (":", "HOST:PORT"),
            ("0.0.0.0:", "HOST:PORT"),
            ("/run/a.sock", "HOST:PORT"),
            ("a b:1", "HOST:PORT"),
            ("99999", "99999 is no port"),
            ("localhost:http", "http is no port"),
            ("http://localhost:8080", "no `http://` before it"),
        ] {
            let told = address(text).unwrap_err();
            assert!(told.contains(why), "{text}: {told}");
        }
    }
}

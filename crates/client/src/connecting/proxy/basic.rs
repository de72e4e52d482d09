//! The Basic scheme (RFC 7617): name and password in Base64 (RFC 4648 §4).

use super::Credentials;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A value of `proxy-authorization`.
pub(super) fn basic(credentials: &Credentials) -> String {
    let pair = format!("{}:{}", credentials.user, credentials.password);
    let mut value = String::from("Basic ");
    for three in pair.as_bytes().chunks(3) {
        let bits = (0..3).fold(0u32, |bits, at| bits << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for place in 0..4 {
            let sextet = bits >> (18 - 6 * place) & 63;
            value.push(if place > three.len() { '=' } else { char::from(ALPHABET[sextet as usize]) });
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_rfc() {
        for (user, password, value) in [
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123\u{a3}", "Basic dGVzdDoxMjPCow=="),
            ("", "", "Basic Og=="),
            ("a", "b", "Basic YTpi"),
            ("", "\u{ff}\u{bf}\u{fffd}", "Basic OsO/wr/vv70="),
        ] {
            let credentials = Credentials { user: user.to_owned(), password: password.to_owned() };
            assert_eq!(basic(&credentials), value);
        }
    }
}

//! What a proxy answers: SOCKS against a reader that has all of the answer at once, HTTP against itself in
//! other pieces.

use alula_client::fuzzing;

use crate::input::Input;

/// Two bytes of decisions, then all that the proxy sends.
pub fn proxy_answer(data: &[u8]) {
    let mut input = Input::new(data);
    let (is_socks, piece) = (input.flag(), input.below(64) + 1);
    let (with_credentials, answer) = (piece.is_multiple_of(2), data.get(2..).unwrap_or_default());
    match is_socks {
        true => socks(answer, piece, with_credentials),
        false => tunnel(answer, piece),
    }
}

fn socks(answer: &[u8], piece: usize, with_credentials: bool) {
    let own = fuzzing::ask_socks(answer, piece, with_credentials);
    if let Err(error) = &own {
        assert!(!error.to_string().is_empty());
    }
    let rest = naive(answer, with_credentials).map(<[u8]>::to_vec);
    assert_eq!(own.ok(), rest, "{answer:?}");
}

/// The bytes after an answer that opens the way (RFC 1928 §3, §6, RFC 1929 §2).
fn naive(answer: &[u8], with_credentials: bool) -> Option<&[u8]> {
    let rest = match answer {
        [5, 0, rest @ ..] => rest,
        [5, 2, _, 0, rest @ ..] if with_credentials => rest,
        _ => return None,
    };
    match rest {
        [5, 0, _, 1, rest @ ..] => rest.get(6..),
        [5, 0, _, 4, rest @ ..] => rest.get(18..),
        [5, 0, _, 3, length, rest @ ..] => rest.get(usize::from(*length) + 2..),
        _ => None,
    }
}

fn tunnel(answer: &[u8], piece: usize) {
    let in_words = |piece| fuzzing::ask_for_tunnel(answer, piece).map_err(|error| error.to_string());
    let whole = in_words(usize::MAX);
    assert_eq!(in_words(piece), whole, "in pieces of {piece}");
    assert_eq!(in_words(1), whole, "byte by byte");
    if let Ok(rest) = whole {
        assert!(answer.ends_with(&rest), "what follows the head is the origin's");
        let head = &answer[..answer.len() - rest.len()];
        assert!(head.ends_with(b"\r\n\r\n") && head.windows(2).any(|bytes| bytes == b" 2"), "{head:?}");
    }
}

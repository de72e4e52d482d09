//! `alula store --hash-password`: the hash of a password for a users file.

use std::io::{self, BufRead as _, Read as _, Write as _};

use alula_store::access::hash_password;

use crate::{
    args::typed_password,
    failure::exit::{Exit, Failure, Outcome},
};

/// The longest password, in bytes: with its name it has to fit into a field.
const BYTES_MAX: usize = 1024;

/// Prints the hash of a password that is typed or piped.
///
/// # Errors
/// There is none, or it is too long.
pub(super) fn run() -> Outcome {
    let password = read()?;
    if password.is_empty() || password.len() > BYTES_MAX {
        return Err(wrong(&format!("a password has 1 to {BYTES_MAX} bytes")));
    }
    let hash = hash_password(&password).map_err(|error| Failure::new(Exit::Local, error))?;
    writeln!(io::stdout(), "{hash}").map_err(|error| Failure::local("stdout", &error))
}

fn read() -> Result<Vec<u8>, Failure> {
    let not_read = |error: io::Error| Failure::local("stdin", &error);
    let Some(typed) = typed_password("New password: ") else {
        return first_line().map_err(not_read);
    };
    let typed = typed.map_err(not_read)?;
    let again = typed_password("The same again: ").transpose().map_err(not_read)?;
    match again == Some(typed) {
        true => Ok(again.unwrap_or_default().into_bytes()),
        false => Err(wrong("the two passwords are not the same")),
    }
}

/// Returns the first line of stdin without its end; a line that is too long is cut off.
fn first_line() -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    // More than the longest password is read, so that a longer one is refused and not cut.
    io::stdin().lock().take(2 * BYTES_MAX as u64).read_until(b'\n', &mut line)?;
    while line.last().is_some_and(|byte| b"\r\n".contains(byte)) {
        line.pop();
    }
    Ok(line)
}

fn wrong(sentence: &str) -> Failure {
    Failure::new(Exit::Usage, sentence)
}

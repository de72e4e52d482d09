//! A password that is asked for, and not shown while it is typed.

use std::io;

/// Asks for that of a user where somebody types; nothing when stdin is no terminal.
pub(super) fn of(name: &str) -> Option<io::Result<String>> {
    typed(&format!("Enter password for user '{name}': "))
}

/// Asks with these words where somebody types; nothing when stdin is no terminal.
pub(crate) fn typed(words: &str) -> Option<io::Result<String>> {
    use std::io::IsTerminal as _;

    // Tests of this program are started from terminals, too.
    let is_typed = io::stdin().is_terminal() && !cfg!(test);
    is_typed.then(|| ask(words))
}

#[cfg(unix)]
fn ask(words: &str) -> io::Result<String> {
    use crate::terminal::{Painted, tell_painted};

    let mut prompt = Painted::new(true, false);
    prompt.text(words.as_bytes());
    let hidden = Hidden::begin()?;
    tell_painted(prompt);
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line);
    drop(hidden);
    // The end of the line was not shown either.
    let mut end = Painted::new(true, false);
    end.own("\n");
    tell_painted(end);
    read.map(|_| line.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(not(unix))]
fn ask(_: &str) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The terminal shows nothing that is typed until this is dropped.
#[cfg(unix)]
struct Hidden(nix::sys::termios::Termios);

#[cfg(unix)]
impl Hidden {
    fn begin() -> io::Result<Self> {
        use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};

        let before = tcgetattr(io::stdin())?;
        let mut mode = before.clone();
        mode.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &mode)?;
        Ok(Self(before))
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        use nix::sys::termios::{SetArg, tcsetattr};

        // A terminal that has gone away shows nothing anyway.
        let _ = tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &self.0);
    }
}

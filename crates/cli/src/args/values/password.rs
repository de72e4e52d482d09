//! Reads a password from the terminal without showing it.

use std::io;

/// Asks for the password of a user on the terminal; returns nothing if stdin is not a terminal.
pub(in crate::args) fn of(name: &str) -> Option<io::Result<String>> {
    typed(&format!("Enter password for user '{name}': "))
}

/// Asks with these words on the terminal; returns nothing if stdin is not a terminal.
pub(crate) fn typed(words: &str) -> Option<io::Result<String>> {
    use std::io::IsTerminal as _;

    // Tests of this program are started from terminals, too.
    let is_typed = io::stdin().is_terminal() && !cfg!(test);
    is_typed.then(|| ask(words))
}

#[cfg(unix)]
fn ask(words: &str) -> io::Result<String> {
    use crate::terminal::{Painted, tell_painted};
    use nix::{sys::signal::kill, unistd::Pid};

    let mut prompt = Painted::new(true, false);
    prompt.text(words.as_bytes());
    let hidden = Hidden::begin()?;
    tell_painted(prompt);
    let typed = hidden.line();
    drop(hidden);
    // The end of the line was not shown either.
    let mut end = Painted::new(true, false);
    end.own("\n");
    tell_painted(end);
    match typed? {
        Typed::Line(line) => Ok(line),
        Typed::Signal(signal) => {
            // As the terminal would have done: all that it runs in front are told.
            kill(Pid::from_raw(0), signal)?;
            Err(io::ErrorKind::Interrupted.into())
        }
    }
}

#[cfg(not(unix))]
fn ask(_: &str) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Hides typed characters until this is dropped.
///
/// It sends no signals either: a key that would end the program ends the line, so that the terminal is as
/// before when the signal comes.
#[cfg(unix)]
struct Hidden {
    before: nix::sys::termios::Termios,
    /// The keys for signals.
    signals: Vec<(u8, nix::sys::signal::Signal)>,
}

/// The outcome of reading a line.
#[cfg(unix)]
enum Typed {
    Line(String),
    Signal(nix::sys::signal::Signal),
}

#[cfg(unix)]
impl Hidden {
    fn begin() -> io::Result<Self> {
        use nix::sys::{
            signal::Signal,
            termios::{LocalFlags, SetArg, SpecialCharacterIndices as Key, tcgetattr, tcsetattr},
        };

        let before = tcgetattr(io::stdin())?;
        let mut mode = before.clone();
        let mut signals = Vec::new();
        if mode.local_flags.contains(LocalFlags::ISIG) {
            for (key, end, signal) in
                [(Key::VINTR, Key::VEOL, Signal::SIGINT), (Key::VQUIT, Key::VEOL2, Signal::SIGQUIT)]
            {
                let byte = mode.control_chars[key as usize];
                mode.control_chars[end as usize] = byte;
                signals.push((byte, signal));
            }
        }
        mode.local_flags.remove(LocalFlags::ECHO | LocalFlags::ISIG);
        tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &mode)?;
        Ok(Self { before, signals })
    }

    /// Reads up to the end of the line, or to a key for a signal.
    fn line(&self) -> io::Result<Typed> {
        use std::io::Read as _;

        let mut line = Vec::new();
        for byte in io::stdin().lock().bytes() {
            let byte = byte?;
            if let Some((_, signal)) = self.signals.iter().find(|(key, _)| *key == byte) {
                return Ok(Typed::Signal(*signal));
            }
            if byte == b'\n' {
                break;
            }
            line.push(byte);
        }
        let line = String::from_utf8(line).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(Typed::Line(line.trim_end_matches('\r').to_owned()))
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        use nix::sys::termios::{SetArg, tcsetattr};

        // A terminal that has gone away shows nothing anyway.
        let _ = tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &self.before);
    }
}

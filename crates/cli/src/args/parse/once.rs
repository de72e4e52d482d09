//! The check that flags of servers are not given twice.
//!
//! A request takes the last of two, as curl does, since scripts put their own behind those of others. A
//! server that listens on one of two addresses, or shows one of two certificates, is a mistake that nobody
//! would see.

use std::ffi::OsString;

use clap::{Arg, Command as Program, Error, error::ErrorKind};

/// The commands whose flags are checked.
const SERVERS: [&str; 3] = ["echo", "serve", "store"];

/// Refuses a flag with one value that is given twice on the command line; switches may be repeated, and the
/// words of files do not count.
pub(in crate::args) fn check(program: Program, given: &[OsString]) -> Result<(), Error> {
    let Some(server) = given.get(1).and_then(|word| SERVERS.into_iter().find(|name| word == name)) else {
        return Ok(());
    };
    let mut program =
        program.args_override_self(false).mut_subcommand(server, |command| command.mut_args(repeatable));
    match program.try_get_matches_from_mut(given) {
        Err(error) if error.kind() == ErrorKind::ArgumentConflict => Err(error),
        // Whatever else is wrong is told by the parser of the whole line.
        _ => Ok(()),
    }
}

/// Allows a switch to be repeated.
fn repeatable(arg: Arg) -> Arg {
    if arg.get_action().takes_values() {
        return arg;
    }
    let id = arg.get_id().clone();
    arg.overrides_with(id)
}

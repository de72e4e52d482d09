//! Completions and manual pages, generated from the table of commands and flags.

pub(crate) mod topics;

use std::{
    fs,
    io::{self, Write as _, stdout},
    path::Path,
};

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use crate::{
    args::{Args, CompletionsArgs, ManArgs},
    failure::exit::{Exit, Failure, Outcome},
};

/// Prints completions for a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "alula", &mut script);
    print(&script)
}

/// Prints a page, or writes all of them.
pub(crate) fn man(args: &ManArgs) -> Outcome {
    let mut program = Args::command();
    program.build();
    if let Some(folder) = &args.dir {
        let failed = |error| Failure::local(folder.display(), &error);
        fs::create_dir_all(folder).map_err(failed)?;
        return write_pages(&program, folder).map_err(failed);
    }
    let command = match &args.command {
        None => &program,
        Some(name) => program
            .find_subcommand(name)
            .ok_or_else(|| Failure::new(Exit::Usage, format_args!("{name:?} is no command of alula")))?,
    };
    let mut bytes = Vec::new();
    page(command).render(&mut bytes).map_err(|error| Failure::local("the page", &error))?;
    print(&bytes)
}

/// Writes a page for a command and for each of its subcommands.
fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    let mut below = command.get_subcommands().filter(|below| below.get_name() != "help");
    below.try_for_each(|below| write_pages(below, folder))?;
    page(command).generate_to(folder).map(drop)
}

fn page(command: &Command) -> Man {
    // Flags that the short help leaves out have their words here.
    let whole = command.clone().mut_args(|arg| arg.hide_short_help(false));
    Man::new(whole).source(concat!("Alula ", env!("CARGO_PKG_VERSION")))
}

fn print(bytes: &[u8]) -> Outcome {
    stdout().write_all(bytes).map_err(|error| Failure::local("stdout", &error))
}

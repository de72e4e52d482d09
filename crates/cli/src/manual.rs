//! Completions and the manual, made from the one table of commands and flags.

use std::{
    fs,
    io::{Write as _, stdout},
};

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use crate::{
    args::{Args, CompletionsArgs, ManArgs},
    exit::{Exit, Failure, Outcome},
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
        return clap_mangen::generate_to(program, folder).map_err(failed);
    }
    let command = match &args.command {
        None => &program,
        Some(name) => program
            .find_subcommand(name)
            .ok_or_else(|| Failure::new(Exit::Usage, format_args!("{name:?} is no command of alula")))?,
    };
    print(&page(command)?)
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let rendered = Man::new(command.clone()).render(&mut page);
    rendered.map(|()| page).map_err(|error| Failure::local("the page", &error))
}

fn print(octets: &[u8]) -> Outcome {
    stdout().write_all(octets).map_err(|error| Failure::local("stdout", &error))
}

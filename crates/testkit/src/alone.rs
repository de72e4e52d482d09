//! A harness for tests that need a process of their own: counts of allocations, limits of the process, its
//! hooks.
//!
//! The binary calls itself for each case, so that no case sees the shelves, counts, threads or descriptors of
//! another.

use std::{
    env,
    process::{Command, ExitCode},
};

use libtest_mimic::{Arguments, Failed, Trial};

/// The first argument of a process that runs one case, before its name. By hand it serves debuggers.
const ONE_CASE: &str = "--in-this-process";

/// A test that runs in a process of its own; [`cases!`](crate::cases) makes a list of them.
#[derive(Clone, Copy, Debug)]
pub struct Alone {
    /// The path of the function, as `cargo test` shows and filters it.
    pub name: &'static str,
    /// The function, which panics if the test fails.
    pub run: fn(),
}

/// A list of the given functions as [`Alone`] cases. `#[cfg(…)]` may stand before a path.
///
/// ```
/// mod sums {
///     pub(crate) fn are_right() {
///         assert_eq!(1 + 1, 2);
///     }
/// }
///
/// let cases = alula_testkit::cases![sums::are_right];
/// assert_eq!(cases[0].name, "sums::are_right");
/// ```
#[macro_export]
macro_rules! cases {
    ($($(#[$attribute:meta])* $first:ident $(:: $rest:ident)*),* $(,)?) => {
        [$(
            $(#[$attribute])*
            $crate::Alone { name: concat!(stringify!($first) $(, "::", stringify!($rest))*), run: $first $(:: $rest)* },
        )*]
    };
}

/// Runs each case that the command line asks for in a process of its own, as many at a time as
/// `--test-threads` says, or as there are cores.
///
/// It is the whole `main` of a test binary with `harness = false` in the manifest, which begins with
/// `#![deny(dead_code)]` so that a test that is not listed does not compile. Arguments and output are those
/// of the usual harness: filters, `--exact`, `--list`, `--skip`, `--nocapture`. The output of a case is shown
/// if it fails.
pub fn run_alone(cases: &[Alone]) -> ExitCode {
    run_cases(cases, false)
}

/// As [`run_alone`] for cases that need the machine to themselves: one after the other. `cargo xtask test`
/// runs no other test binary meanwhile.
pub fn run_one_by_one(cases: &[Alone]) -> ExitCode {
    run_cases(cases, true)
}

fn run_cases(cases: &[Alone], one_by_one: bool) -> ExitCode {
    let mut arguments = env::args().skip(1);
    if arguments.next().as_deref() == Some(ONE_CASE) {
        return run_here(cases, &arguments.next().unwrap_or_default());
    }
    let mut arguments = Arguments::from_args();
    let is_shown = arguments.nocapture;
    // The output of several cases would mix.
    if one_by_one || is_shown {
        arguments.test_threads = Some(1);
    }
    let trial = |case: &Alone| {
        let name = case.name;
        Trial::test(name, move || run_in_child(name, is_shown))
    };
    libtest_mimic::run(&arguments, cases.iter().map(trial).collect()).exit_code()
}

fn run_here(cases: &[Alone], name: &str) -> ExitCode {
    let Some(case) = cases.iter().find(|case| case.name == name) else {
        eprintln!("there is no case {name:?}");
        return ExitCode::FAILURE;
    };
    (case.run)();
    ExitCode::SUCCESS
}

fn run_in_child(name: &str, is_shown: bool) -> Result<(), Failed> {
    let mut command = Command::new(env::current_exe()?);
    command.args([ONE_CASE, name]);
    let (status, shown) = if is_shown {
        (command.status()?, String::new())
    } else {
        let output = command.output()?;
        let shown = [output.stdout, output.stderr].concat();
        (output.status, String::from_utf8_lossy(&shown).into_owned())
    };
    if status.success() { Ok(()) } else { Err(format!("{shown}{status}").into()) }
}

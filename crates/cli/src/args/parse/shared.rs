//! Flags that hold for all runs, on whichever side of --next they stand, as in curl.

use crate::args::{Args, ColorWhen, ExitCodes, Options, fetch::output::PARALLEL_MAX};

/// The number of switches among them.
const SWITCHES: usize = 8;

/// Copies to each run the flags that hold for all runs.
pub(in crate::args) fn share(all: &mut [Args]) {
    let mut runs: Vec<&mut Options> = all.iter_mut().filter_map(|args| args.command.options_mut()).collect();
    let Some(whole) = Whole::of(&mut runs) else { return };
    runs.iter_mut().enumerate().for_each(|(place, options)| whole.put(options, place > 0));
}

/// The flags that were given to one of the runs.
struct Whole {
    verbose: u8,
    /// The switches, in the order of [`switches_of`].
    switches: [bool; SWITCHES],
    parallel_max: u16,
    trace: Option<std::path::PathBuf>,
    trace_ascii: Option<std::path::PathBuf>,
    #[cfg(unix)]
    stderr: Option<std::path::PathBuf>,
    exit_codes: ExitCodes,
    color: ColorWhen,
}

fn switches_of(options: &mut Options) -> [&mut bool; SWITCHES] {
    let Options { output, transfer, .. } = options;
    [
        &mut output.silent,
        &mut output.show_error,
        &mut output.no_progress_meter,
        &mut output.progress_bar,
        &mut output.parallel,
        &mut output.trace_time,
        &mut output.show_secrets,
        &mut transfer.fail_early,
    ]
}

impl Whole {
    /// Returns the flags of all runs; nothing for a single run.
    fn of(runs: &mut [&mut Options]) -> Option<Self> {
        if runs.len() < 2 {
            return None;
        }
        let mut switches = [false; SWITCHES];
        for options in runs.iter_mut() {
            switches.iter_mut().zip(switches_of(options)).for_each(|(is_on, switch)| *is_on |= *switch);
        }
        let outputs = || runs.iter().map(|options| &options.output);
        Some(Self {
            verbose: outputs().map(|output| output.verbose).max().unwrap_or_default(),
            switches,
            parallel_max: last(outputs().map(|output| output.parallel_max), PARALLEL_MAX),
            trace: outputs().rev().find_map(|output| output.trace.clone()),
            trace_ascii: outputs().rev().find_map(|output| output.trace_ascii.clone()),
            #[cfg(unix)]
            stderr: runs.iter().rev().find_map(|options| options.transfer.stderr.clone()),
            exit_codes: last(outputs().map(|output| output.exit_codes), ExitCodes::Alula),
            color: last(outputs().map(|output| output.color), ColorWhen::Auto),
        })
    }

    fn put(&self, options: &mut Options, is_later: bool) {
        for (switch, is_on) in switches_of(options).into_iter().zip(self.switches) {
            *switch = is_on;
        }
        #[cfg(unix)]
        {
            // A stream that was redirected stays so.
            options.transfer.stderr = self.stderr.clone().filter(|_| !is_later);
        }
        let output = &mut options.output;
        output.verbose = self.verbose;
        output.parallel_max = self.parallel_max;
        output.exit_codes = self.exit_codes;
        output.color = self.color;
        output.trace = self.trace.clone();
        output.trace_ascii = self.trace_ascii.clone().filter(|_| self.trace.is_none());
        output.trace_goes_on = is_later;
    }
}

/// Returns the last value that differs from the default.
fn last<T: PartialEq + Copy>(values: impl DoubleEndedIterator<Item = T>, without: T) -> T {
    values.rev().find(|value| *value != without).unwrap_or(without)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_the_whole_line_hold_on_both_sides_and_others_do_not() {
        let words = [
            &["get", "a", "-sS", "-f", "--trace", "t", "--exit-codes", "curl"][..],
            &["get", "b", "-vv", "--fail-early", "-#", "--parallel-max", "3"],
        ];
        let mut all: Vec<Args> = words.iter().map(|words| Args::tried(words).unwrap()).collect();
        share(&mut all);
        for (place, args) in all.iter_mut().enumerate() {
            let options = args.command.options_mut().unwrap();
            let output = &options.output;
            assert!(output.silent && output.show_error && output.progress_bar && !output.parallel);
            assert!(options.transfer.fail_early && output.trace.is_some());
            assert_eq!((output.verbose, output.parallel_max), (2, 3));
            assert_eq!((output.exit_codes, output.trace_goes_on), (ExitCodes::Curl, place == 1));
            assert_eq!(output.fail, place == 0);
        }
    }
}

//! `alula inspect`: the frames and header blocks of a recorded connection, line by line; and `alula hpack
//! explain`.
//!
//! Rule: whatever the bytes are, each of them is read once and nothing panics; what is wrong has a line that
//! begins with `!`.

mod block;
mod frames;
mod input;
mod lines;
mod representation;

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::Path,
};

use self::{
    block::Blocks,
    frames::Direction,
    input::{Section, Way},
    lines::Lines,
};
use crate::{
    args::{ExplainArgs, InspectArgs, ShowArgs},
    failure::exit::{Exit, Failure, Outcome},
};

/// The name of stdin.
const STDIN: &str = "-";

/// Explains the files.
pub(crate) fn run(args: &InspectArgs) -> Outcome {
    let mut recorded = Vec::new();
    for file in &args.files {
        let sections = input::read(&read(file)?);
        recorded.push(
            sections
                .map_err(|fault| Failure::new(Exit::Local, format_args!("{}: {fault}", file.display())))?,
        );
    }
    let mut lines = Lines::default();
    explain(recorded, &args.show, &mut lines, &mut write)?;
    told(&lines)
}

/// Explains successive header blocks of one direction.
pub(crate) fn explain_blocks(args: &ExplainArgs) -> Outcome {
    let mut blocks = Blocks::new(args.show);
    let mut lines = Lines::default();
    for (number, text) in args.blocks.iter().enumerate() {
        let malformed =
            || Failure::new(Exit::Usage, format_args!("{text:?} is no even number of hexadecimal digits"));
        let bytes = input::digits(text).ok_or_else(malformed)?;
        lines.push(&format!("block {}, {} bytes", number + 1, bytes.len()));
        blocks.explain(&bytes, "  ", &mut lines);
        write(lines.take())?;
    }
    told(&lines)
}

/// Explains sections in the order in which they were recorded; of several files, one after the other.
fn explain(
    recorded: Vec<Vec<Section>>,
    show: &ShowArgs,
    lines: &mut Lines,
    write: &mut dyn FnMut(String) -> Outcome,
) -> Outcome {
    let mut directions = [Way::FromClient, Way::FromServer].map(|way| Direction::new(way, *show));
    let is_pair = recorded.len() == 2;
    let has_preface = recorded.iter().flatten().any(|section| frames::is_of_client(&section.bytes));
    for (number, sections) in recorded.into_iter().enumerate() {
        for Section { way, bytes } in sections {
            let is_from_client = match way {
                Some(way) => way == Way::FromClient,
                // Only a client begins with the preface; of two files without one, the first is the
                // client's.
                None => frames::is_of_client(&bytes) || is_pair && !has_preface && number == 0,
            };
            directions[usize::from(!is_from_client)].receive(&bytes, lines);
            write(lines.take())?;
        }
    }
    directions.iter_mut().for_each(|direction| direction.finish(lines));
    write(lines.take())
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    if file != Path::new(STDIN) {
        return fs::read(file).map_err(|error| Failure::local(file.display(), &error));
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(|error| Failure::local("stdin", &error))?;
    Ok(bytes)
}

fn write(text: String) -> Outcome {
    io::stdout().lock().write_all(text.as_bytes()).map_err(|error| Failure::local("stdout", &error))
}

/// Returns a failure if there were faults.
fn told(lines: &Lines) -> Outcome {
    match lines.faults() {
        0 => Ok(()),
        1 => Err(Failure::new(Exit::Protocol, "there is a fault, in the line that begins with !")),
        faults => Err(Failure::new(
            Exit::Protocol,
            format_args!("there are {faults} faults, in the lines that begin with !"),
        )),
    }
}

#[cfg(test)]
mod tests;

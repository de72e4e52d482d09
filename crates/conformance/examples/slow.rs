//! `cargo xtask slow`: slowhttptest against the program that `ALULA_BIN` names; the seconds of each attack
//! are the argument.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let seconds = std::env::args().nth(1).map_or(Ok(60), |seconds| seconds.parse());
    let Ok(seconds) = seconds else {
        eprintln!("usage: slow [SECONDS]");
        return ExitCode::FAILURE;
    };
    if alula_conformance::slow::play(seconds) {
        println!("every bystander was served");
        ExitCode::SUCCESS
    } else {
        println!("a bystander was not served");
        ExitCode::FAILURE
    }
}

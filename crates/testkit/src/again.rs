//! A test that runs itself again in a process of its own.

use std::{env, process::Command};

/// Returns a command that runs one test of this binary in a process of its own. The test tells by a variable
/// that the caller sets which of the two it is in.
///
/// # Panics
/// Panics if there is no test of this name, whose process would pass.
pub fn again(test: &str) -> Command {
    let this = env::current_exe().expect("this program has a path");
    let listed = Command::new(&this).args(["--list", "--exact", test]).output().expect("this program runs");
    assert!(listed.stdout.starts_with(format!("{test}: test\n").as_bytes()), "there is no test {test}");
    let mut command = Command::new(this);
    command.args(["--exact", test]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGAIN: &str = "ALULA_TESTKIT_AGAIN";

    #[test]
    fn a_test_runs_in_another_process() {
        if env::var_os(AGAIN).is_some() {
            panic!("in another process");
        }
        let output = again("again::tests::a_test_runs_in_another_process").env(AGAIN, "1").output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 failed"), "{output:?}");
    }

    #[test]
    #[should_panic(expected = "there is no test again::tests::renamed")]
    fn a_test_that_was_renamed_is_missed() {
        again("again::tests::renamed");
    }
}

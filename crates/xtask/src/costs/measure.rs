//! Building `alula-bench` and running its workloads, under callgrind and alone.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, bail, ensure};

use super::figures::{Figures, Row, Tools};
use crate::command::{cargo, find_program, run};
use crate::tools;

/// The built program.
pub(crate) struct Bench {
    program: PathBuf,
    valgrind: PathBuf,
    /// Keeps addresses the same from run to run, where there is such a program.
    setarch: Option<PathBuf>,
}

/// A workload as `alula-bench list` tells of it.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    pub(crate) name: String,
    pub(crate) units: u64,
    pub(crate) instructions: Use,
    pub(crate) allocations: Use,
    /// The function whose instructions count, with all it calls; empty is the whole program.
    pub(crate) within: String,
    /// The load and the work that peers beside it must share; empty if it has none.
    pub(crate) load: String,
    pub(crate) what: String,
}

/// What is done with a figure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Use {
    /// It is held to what is recorded.
    Held,
    /// It is told, since it varies by itself.
    Told,
    /// Its bytes are those of the resident set, and are held to what is recorded.
    Resident,
    Nothing,
}

impl Bench {
    /// Builds it with the bench profile.
    pub(crate) fn build() -> Result<Self> {
        let valgrind =
            find_program("valgrind").context("instructions are counted by valgrind, which is not there")?;
        run(&mut cargo(["build", "--profile", "bench", "--package", "alula-bench", "--bin", "alula-bench"]))?;
        let program = tools::folder().with_file_name("release").join("alula-bench");
        Ok(Self { program, valgrind, setarch: find_program("setarch") })
    }

    /// Where it lies.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Every workload, in the order of the table.
    pub(crate) fn list(&self) -> Result<Vec<Workload>> {
        self.says(&["list"])?.lines().map(Workload::parse).collect()
    }

    pub(crate) fn measure_all(&self) -> Result<Figures> {
        self.measure(|_| true)
    }

    /// Measures those whose names are wanted, two at a time.
    pub(crate) fn measure(&self, is_wanted: impl Fn(&str) -> bool) -> Result<Figures> {
        let workloads: Vec<Workload> = self.list()?.into_iter().filter(|own| is_wanted(&own.name)).collect();
        let (next, rows) = (Mutex::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some((index, workload)) = take(&next, &workloads) {
                let row = self.measure_one(workload).with_context(|| workload.name.clone());
                rows.lock().expect("no thread panics").push((index, row));
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(work);
            scope.spawn(work);
        });
        let mut rows = rows.into_inner().expect("no thread panics");
        rows.sort_by_key(|(index, _)| *index);
        let rows = rows.into_iter().map(|(_, row)| row).collect::<Result<_>>()?;
        Ok(Figures { tools: Tools::here()?, rows, sums: None })
    }

    fn measure_one(&self, workload: &Workload) -> Result<Row> {
        let Workload { name, units, .. } = workload;
        let counts = self.says(&["count", name, &units.to_string()])?;
        let (allocations, bytes) = counts.trim().split_once(' ').context("two counts are wanted")?;
        let has_instructions = workload.instructions != Use::Nothing;
        let instructions = has_instructions.then(|| self.instructions_per_unit(workload)).transpose()?;
        Ok(Row {
            name: name.clone(),
            instructions,
            allocations: allocations.parse()?,
            bytes: bytes.parse()?,
            reason: String::new(),
        })
    }

    fn instructions_per_unit(&self, workload: &Workload) -> Result<f64> {
        let once = self.instructions(workload, workload.units)?;
        let twice = self.instructions(workload, 2 * workload.units)?;
        Ok((twice as f64 - once as f64) / workload.units as f64)
    }

    fn instructions(&self, workload: &Workload, units: u64) -> Result<u64> {
        let said = self.callgrind(workload, units, Path::new("/dev/null"))?;
        let collected = said.lines().find_map(|line| line.split_once("Collected : "));
        let (_, count) = collected.with_context(|| format!("callgrind counted nothing:\n{said}"))?;
        Ok(count.trim().parse()?)
    }

    /// Runs a workload under callgrind, in an empty environment at unchanging addresses; returns what
    /// callgrind says.
    pub(crate) fn callgrind(&self, workload: &Workload, units: u64, profile: &Path) -> Result<String> {
        let mut command = match &self.setarch {
            Some(setarch) => Command::new(setarch),
            None => Command::new(&self.valgrind),
        };
        if self.setarch.is_some() {
            command.arg("--addr-no-randomize").arg(&self.valgrind);
        }
        command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", profile.display()));
        if !workload.within.is_empty() {
            command.arg(format!("--toggle-collect=*::{}", workload.within));
        }
        command.arg(&self.program).args(["run", &workload.name, &units.to_string()]);
        let output = command.env_clear().stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "callgrind ended with {}:\n{said}", output.status);
        Ok(said)
    }

    fn says(&self, args: &[&str]) -> Result<String> {
        let output = Command::new(&self.program).args(args).env_clear().stdin(Stdio::null()).output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "alula-bench {} ended with {}: {error}",
            args.join(" "),
            output.status
        );
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Workload {
    pub(crate) fn parse(line: &str) -> Result<Self> {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, units, instructions, allocations, within, load, what] = columns[..] else {
            bail!("seven columns are wanted: {line}");
        };
        Ok(Self {
            name: name.into(),
            units: units.parse()?,
            instructions: Use::parse(instructions)?,
            allocations: Use::parse(allocations)?,
            within: within.into(),
            load: load.into(),
            what: what.into(),
        })
    }
}

impl Use {
    fn parse(text: &str) -> Result<Self> {
        Ok(match text {
            "held" => Self::Held,
            "told" => Self::Told,
            "resident" => Self::Resident,
            "-" => Self::Nothing,
            other => bail!("{other} is no use of a figure"),
        })
    }
}

fn take<'w>(next: &Mutex<usize>, workloads: &'w [Workload]) -> Option<(usize, &'w Workload)> {
    let mut next = next.lock().expect("no thread panics");
    let index = *next;
    *next += 1;
    workloads.get(index).map(|workload| (index, workload))
}

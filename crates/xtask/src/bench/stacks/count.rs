//! Figures that do not depend on time: instructions by callgrind, allocations by the malloc counter; both as
//! the difference of 2N units and N, divided by N.

use super::super::program::{calls, collected};
use super::*;
use crate::costs::measure::Bench;

impl Stacks<'_> {
    /// Counts allocations.
    pub(super) fn allocations(&mut self, contest: &Contest<Work>, entry: &Entry) -> Result<Option<f64>> {
        let (library, file) = (self.programs.malloc_counter()?, self.programs.folder.join("calls"));
        let under = Under::Counter { library: &library, file: &file };
        let units = match contest.work {
            Work::Server(load) => return self.allocations_of_server(entry, load, under),
            Work::Memory { counted, .. } => counted,
            // A connection's late allocations, each for itself, are little by request.
            Work::Client(asking) if asking.in_flight > 1 => asking.timed,
            Work::Client(asking) => asking.counted,
        };
        let count = |units| {
            output(self.command(under, contest, entry, units)?)?;
            calls(&file)
        };
        per_unit(count, units).map(Some)
    }

    fn allocations_of_server(&self, entry: &Entry, load: Load, under: Under<'_>) -> Result<Option<f64>> {
        let Under::Counter { file, .. } = under else { return Ok(None) };
        if load.counted == 0 {
            return Ok(None);
        }
        let programs = self.programs;
        let server = run::start(programs, entry, load, under, self.core)?;
        // A first load settles what a start has left.
        run::drive_counted(programs, entry, &server, load, load.counted)?;
        let count = |units| {
            let before = calls(file)?;
            run::drive_counted(programs, entry, &server, load, units)?;
            Ok(calls(file)? - before)
        };
        let counted = per_unit(count, load.counted)?;
        run::stop(entry, server)?;
        Ok(Some(counted))
    }

    /// Counts the instructions of all but copies of much content.
    pub(super) fn instructions(&mut self, contest: &Contest<Work>, entry: &Entry) -> Result<Option<f64>> {
        let counted = match contest.work {
            Work::Server(load) if load.counted == 0 => return Ok(None),
            Work::Server(load) => return self.instructions_of_server(entry, load),
            _ if entry.by == By::Alula => return self.own_instructions(&entry.work),
            Work::Client(asking) if asking.content >= MUCH => return Ok(None),
            Work::Client(Asking { counted, .. }) | Work::Memory { counted, .. } => counted,
        };
        let count = |units| {
            let (_, said) = output(self.command(Under::Callgrind, contest, entry, units)?)?;
            collected(&said)
        };
        per_unit(count, counted).map(certain)
    }

    fn instructions_of_server(&self, entry: &Entry, load: Load) -> Result<Option<f64>> {
        let count = |units| {
            let server = run::start(self.programs, entry, load, Under::Callgrind, self.core)?;
            run::drive_counted(self.programs, entry, &server, load, units)?;
            collected(&run::stop(entry, server)?)
        };
        per_unit(count, load.counted).map(certain)
    }

    /// Alula's own workloads are counted as `cargo xtask costs` does, all at once.
    fn own_instructions(&mut self, workload: &str) -> Result<Option<f64>> {
        if self.own.is_none() {
            let contests = contests(self.group);
            let entries = || contests.iter().flat_map(|contest| &contest.entries);
            let is_own = |name: &str| entries().any(|entry| entry.by == By::Alula && entry.work == name);
            self.own = Some(Bench::build()?.measure(is_own)?);
        }
        let row = self.own.as_ref().and_then(|own| own.get(workload));
        Ok(row.with_context(|| format!("there is no workload {workload}"))?.instructions)
    }
}

/// Where twice as many took less, chance is more than a unit takes.
fn certain(count: f64) -> Option<f64> {
    Some(count).filter(|count| *count > 0.0)
}

fn per_unit(mut count: impl FnMut(u64) -> Result<u64>, units: u64) -> Result<f64> {
    let (once, twice) = (count(units)?, count(2 * units)?);
    Ok((twice as f64 - once as f64) / units as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_no_part_of_a_unit() {
        assert_eq!(per_unit(|units| Ok(1_000_000 + 5 * units), 100).expect("two counts"), 5.0);
    }
}

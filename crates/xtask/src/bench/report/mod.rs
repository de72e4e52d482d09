//! The figures of a run, and all that is made of them: tables, who is ahead, a file of data and a plot.

pub(super) mod data;
pub(super) mod measure;
pub(super) mod plot;
pub(super) mod results;
pub(super) mod spread;
pub(super) mod table;

use std::fs;
use std::path::PathBuf;

use alula_tidy::repository_root;
use anyhow::Result;

use results::Results;

/// Writes the data of a run and its plot.
pub(super) fn write(name: &str, heading: &str, results: &Results) -> Result<()> {
    let (data, plot) = (data_file(name), plot_file(name));
    [&data, &plot].into_iter().filter_map(|file| file.parent()).try_for_each(fs::create_dir_all)?;
    fs::write(&data, data::text(heading, results))?;
    fs::write(&plot, plot::svg(&data::parse(&fs::read_to_string(&data)?)?))?;
    println!("wrote {} and {}", data.display(), plot.display());
    Ok(())
}

/// Draws every plot afresh from its data.
pub(super) fn draw_all() -> Result<()> {
    for (name, svg) in drawn()? {
        fs::write(plot_file(&name), svg)?;
    }
    Ok(())
}

/// The name and the plot of each file of data.
fn drawn() -> Result<Vec<(String, String)>> {
    let mut plots = Vec::new();
    for entry in fs::read_dir(repository_root().join("docs/figures"))? {
        let file = entry?.path();
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        plots.push((name, plot::svg(&data::parse(&fs::read_to_string(file)?)?)));
    }
    Ok(plots)
}

fn data_file(name: &str) -> PathBuf {
    repository_root().join("docs/figures").join(format!("{name}.csv"))
}

fn plot_file(name: &str) -> PathBuf {
    repository_root().join("docs/plots").join(format!("{name}.svg"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plot_is_drawn_from_its_data() {
        let drawn = drawn().expect("data that can be read");
        assert!(!drawn.is_empty());
        for (name, svg) in drawn {
            let is_same = fs::read_to_string(plot_file(&name)).is_ok_and(|plot| plot == svg);
            assert!(is_same, "`cargo xtask bench --draw` draws another plot of {name}");
        }
    }
}

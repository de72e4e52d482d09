//! The memory and the time of `alula store` for the worst requests of each resource.
//!
//! A budget that counts the bytes that arrive says nothing of what they become: rows of an index repeat a
//! key, a set is decoded, a pattern is compiled. Each resource has a grid of shapes, since one shape proves
//! nothing of the others. Each is sent to a program of its own; its peak of resident memory is held against
//! the bytes of the requests, the answers and the stored records, and its time against that of a plain PUT.
//! The worst multiple of each resource is printed.
//!
//! Nothing runs beside it. How much of the program's memory is resident at most depends on when it is let.

mod attack;
mod bodies;
mod fields;
mod measure;
mod plain;
mod queries;
mod reads;
mod removals;

use attack::Attack;
use measure::MEMORY_MAX;

/// The runs of an attack that takes too long. The fastest counts: what else the machine does adds to a time.
const RUNS_MAX: usize = 3;

/// Carries out an attack, and again in new folders while it takes too long.
fn run<'a>(attack: &'a Attack, prepared: &mut measure::Prepared<'a>, cost: f64) -> measure::Used {
    let mut used = measure::run(attack, prepared);
    for _ in 1..RUNS_MAX {
        if used.time(cost) <= measure::TIME_MAX {
            break;
        }
        println!("{}: once more: {}", attack.shape, used.shown());
        used.take_time_of(&measure::run(attack, &mut measure::Prepared::default()));
    }
    used
}

/// Tries all shapes of a resource, and prints the worst of them.
fn search(resource: &str, memory_max: f64, attacks: Vec<Attack>) {
    let mut prepared = measure::Prepared::default();
    let cost = plain::cost();
    let mut found: Vec<_> = attacks.iter().map(|attack| (run(attack, &mut prepared, cost), attack)).collect();
    let memory = |used: &measure::Used| (used.memory(), used.all_memory());
    found.sort_by(|(one, _), (other, _)| memory(one).partial_cmp(&memory(other)).expect("numbers"));
    let (worst, attack) = found.last().expect("a resource has shapes");
    let (beyond, all) = memory(worst);
    println!("{resource}: memory {beyond:.1} times, {all:.1} in all, {} ({})", attack.shape, worst.shown());
    let wrong: Vec<_> = found
        .iter()
        .filter_map(|(used, attack)| {
            let (memory, time) = (used.memory(), used.time(cost));
            let is_wrong = memory > memory_max || time > measure::TIME_MAX;
            is_wrong.then(|| {
                format!("{}: memory {memory:.1}, time {time:.1} times: {}", attack.shape, used.shown())
            })
        })
        .collect();
    found.sort_by(|one, other| one.0.time(cost).total_cmp(&other.0.time(cost)));
    let (worst, attack) = found.last().expect("a resource has shapes");
    println!("{resource}: time {:.1} times, {} ({})", worst.time(cost), attack.shape, worst.shown());
    assert!(
        wrong.is_empty(),
        "{resource}: {} of {} shapes cost too much:\n{}",
        wrong.len(),
        found.len(),
        wrong.join("\n")
    );
}

macro_rules! resources {
    ($($resource:ident within $memory_max:expr => $shapes:expr,)*) => {
        $(
            #[test]
            fn $resource() {
                search(stringify!($resource), $memory_max, $shapes);
            }
        )*
    };
}

resources! {
    accept_fields within MEMORY_MAX => fields::accept(),
    chunk_sizes within MEMORY_MAX => bodies::chunks(),
    conditions within MEMORY_MAX => fields::conditions(),
    contexts within MEMORY_MAX => fields::contexts(),
    data_types_read within MEMORY_MAX => reads::data_types(),
    heads_with_repeats within MEMORY_MAX => fields::repeats(),
    heads_on_many_connections within MEMORY_MAX => fields::repeats_on_connections(),
    index_entries within MEMORY_MAX => fields::index_entries(),
    index_names within MEMORY_MAX => fields::index_names(),
    index_ranges within MEMORY_MAX => queries::ranges(),
    json_nesting within MEMORY_MAX => bodies::nesting(),
    links within MEMORY_MAX => fields::links(),
    lists_of_long_names within MEMORY_MAX => queries::lists(),
    metadata within MEMORY_MAX => fields::metadata(),
    operations within MEMORY_MAX => bodies::operations(),
    changes_of_large_values within MEMORY_MAX => bodies::changes(),
    removals within MEMORY_MAX => removals::removals(),
    forged_states within MEMORY_MAX => removals::forged_states(),
    patterns within MEMORY_MAX => queries::patterns(),
    properties within MEMORY_MAX => bodies::properties(),
    siblings within MEMORY_MAX => reads::siblings(),
    walks within MEMORY_MAX => queries::walks(),
}

//! Names of files in folders: those that are there for sure, and the changes since, each of which may be.

use std::collections::{BTreeMap, HashMap};

use crate::loss::{Loss, Names};

/// The number of a file or folder.
pub(crate) type Node = usize;

/// The files and folders of each folder, by their names.
pub(crate) type Folders = HashMap<Node, BTreeMap<String, Node>>;

/// A name in a folder.
pub(crate) type Place = (Node, String);

/// The names in folders, as far as a recording was followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameState {
    first: Folders,
    now: Folders,
    changes: Vec<NameChange>,
    /// The number of changes, from the first, that a flush of any file brought to the disk.
    kept: usize,
    /// The same of each folder.
    kept_in: HashMap<Node, usize>,
}

#[derive(Clone, Debug)]
struct NameChange {
    /// The number of its entry.
    entry: u64,
    from: Option<Place>,
    to: Option<Place>,
    node: Node,
}

impl NameState {
    /// Adds a name that was there before.
    pub(crate) fn add(&mut self, (folder, name): Place, node: Node) {
        self.first.entry(folder).or_default().insert(name.clone(), node);
        self.now.entry(folder).or_default().insert(name, node);
    }

    pub(crate) const fn now(&self) -> &Folders {
        &self.now
    }

    /// The file or folder of this name.
    pub(crate) fn get(&self, (folder, name): &Place) -> Option<Node> {
        self.now.get(folder)?.get(name).copied()
    }

    /// Takes a file or folder from one name to another one; a new one has none before, and one that is
    /// removed has none after.
    pub(crate) fn change(&mut self, entry: u64, node: Node, from: Option<Place>, to: Option<Place>) {
        let change = NameChange { entry, from, to, node };
        change.apply(&mut self.now);
        self.changes.push(change);
    }

    /// A file or folder was flushed, with what was changed before this entry.
    pub(crate) fn flush(&mut self, node: Node, begun: u64) {
        let before = self.changes.partition_point(|change| change.entry < begun);
        let last =
            self.changes[..before].iter().rposition(|change| change.node == node || change.is_in(node));
        self.kept = self.kept.max(last.map_or(0, |last| last + 1));
        self.keep_in(node, before);
        self.keep_name(node, before);
    }

    /// Keeps the name of a file or folder in its own folder, and so on upwards.
    fn keep_name(&mut self, node: Node, before: usize) {
        let named = |change: &NameChange| change.node == node && change.to.is_some();
        let Some(last) = self.changes[..before].iter().rposition(named) else { return };
        let Some((folder, _)) = self.changes[last].to.clone() else { return };
        self.keep_in(folder, last + 1);
        self.keep_name(folder, last);
    }

    fn keep_in(&mut self, folder: Node, count: usize) {
        let kept = self.kept_in.entry(folder).or_default();
        *kept = count.max(*kept);
    }

    /// The names after a loss of power.
    pub(crate) fn after(&self, loss: &Loss) -> Folders {
        let all = self.changes.len();
        let ordered = loss.between(self.kept, all, [10, 0]);
        let kept_in = |folder: Node| self.kept_in.get(&folder).copied().unwrap_or(0);
        let there_in = |folder: Node| loss.between(kept_in(folder), all, [11, folder as u64]);
        let mut folders = self.first.clone();
        for (index, change) in self.changes.iter().enumerate() {
            let is_there = match loss.names() {
                Names::Ordered => index < ordered,
                // A rename between folders comes to both at once.
                Names::PerFolder => {
                    let mut places = change.places();
                    places.clone().any(|folder| index < kept_in(folder))
                        || places.all(|folder| index < there_in(folder))
                }
            };
            if is_there {
                change.apply(&mut folders);
            }
        }
        folders
    }
}

impl NameChange {
    fn places(&self) -> impl Iterator<Item = Node> + Clone {
        self.from.iter().chain(&self.to).map(|(folder, _)| *folder)
    }

    fn is_in(&self, folder: Node) -> bool {
        self.places().any(|place| place == folder)
    }

    fn apply(&self, folders: &mut Folders) {
        if let Some((folder, name)) = &self.from {
            folders.entry(*folder).or_default().remove(name);
        }
        if let Some((folder, name)) = &self.to {
            folders.entry(*folder).or_default().insert(name.clone(), self.node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> Option<Place> {
        Some((0, name.into()))
    }

    fn names(folders: &Folders) -> Vec<&str> {
        folders.get(&0).into_iter().flat_map(BTreeMap::keys).map(String::as_str).collect()
    }

    #[test]
    fn a_rename_is_there_or_not_until_its_folder_is_flushed() {
        let mut state = NameState::default();
        state.change(0, 1, None, place("new"));
        state.flush(0, 1);
        state.change(1, 1, place("new"), place("named"));
        let seen = |state: &NameState| {
            let all = (0..100).map(|seed| names(&state.after(&Loss::new(seed))).join(" "));
            all.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(seen(&state).into_iter().collect::<Vec<_>>(), ["named", "new"]);
        state.flush(0, 2);
        assert_eq!(seen(&state).into_iter().collect::<Vec<_>>(), ["named"]);
    }

    #[test]
    fn the_flush_of_a_file_brings_its_own_name_and_under_an_order_for_all_those_before_it() {
        let mut state = NameState::default();
        state.change(0, 1, None, place("folder"));
        state.change(1, 2, None, place("before"));
        state.change(2, 3, None, Some((1, "file".into())));
        let after = |state: &NameState, seed| state.after(&Loss::new(seed));
        assert!((0..100).any(|seed| names(&after(&state, seed)).is_empty()));
        state.flush(3, 3);
        let mut is_before_missing = false;
        for seed in 0..100 {
            let (names_of, folders) = (Loss::new(seed).names(), after(&state, seed));
            assert!(names(&folders).contains(&"folder") && folders[&1].contains_key("file"), "{folders:?}");
            let is_missing = !names(&folders).contains(&"before");
            assert!(!is_missing || names_of == Names::PerFolder, "{folders:?}");
            is_before_missing |= is_missing;
        }
        assert!(is_before_missing);
    }
}

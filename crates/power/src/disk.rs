//! A folder on a disk, as far as a recording was followed, and what a loss of power leaves of it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::{fs, io};

use crate::content::Content;
use crate::file::{Change, FileState};
use crate::names::{Folders, NameState, Node, Place};
use crate::{Entry, Flushes, Loss, Recording};

/// The folder itself.
const ROOT: Node = 0;

/// A folder on a disk, as far as a recording was followed.
#[derive(Clone, Debug)]
pub struct Disk {
    /// The files; `None` for folders.
    nodes: Vec<Option<FileState>>,
    names: NameState,
    inodes: HashMap<u64, Node>,
    /// The files whose flushes do nothing.
    unflushed: HashSet<Node>,
    followed: usize,
    flushes: Flushes,
    seed: u64,
}

impl Disk {
    /// An empty folder. The seed decides what is left of flushes that fail.
    #[must_use]
    pub fn empty(flushes: Flushes, seed: u64) -> Self {
        let (names, inodes, unflushed) = (NameState::default(), HashMap::new(), HashSet::new());
        Self { nodes: vec![None], names, inodes, unflushed, followed: 0, flushes, seed }
    }

    /// A folder as it is, all of it flushed.
    ///
    /// # Errors
    /// An error of one of its files.
    pub fn of(folder: &Path, flushes: Flushes, seed: u64) -> io::Result<Self> {
        let mut disk = Self::empty(flushes, seed);
        disk.add_all(folder, ROOT)?;
        Ok(disk)
    }

    /// Follows a recording up to this entry. It must have been followed from its start.
    ///
    /// # Panics
    /// The recording is not one of this folder.
    pub fn follow(&mut self, recording: &Recording, to: usize) {
        for entry in &recording.entries()[self.followed..to] {
            self.apply(entry);
            self.followed += 1;
        }
    }

    /// Makes a folder as it may be found when the power is lost here.
    ///
    /// # Errors
    /// An error of one of its files.
    pub fn leave(&self, loss: &Loss, folder: &Path) -> io::Result<()> {
        let names = self.names.after(loss);
        self.write_all(folder, ROOT, &names, &|node, file| file.after(loss, node))
    }

    /// Tells the first difference from a folder that nothing was lost of.
    ///
    /// # Errors
    /// An error of one of its files.
    pub fn difference(&self, folder: &Path) -> io::Result<Option<String>> {
        let other = Self::of(folder, Flushes::Kept, 0)?;
        Ok(self.differ(ROOT, &other, ROOT))
    }

    fn apply(&mut self, entry: &Entry) {
        let number = self.followed as u64;
        match entry {
            Entry::Open { inode, path, is_new, is_emptied } => {
                let node = if *is_new { self.add(path, Some(FileState::default())) } else { self.at(path) };
                self.inodes.insert(*inode, node);
                if self.flushes.are_ignored(path) {
                    self.unflushed.insert(node);
                }
                if *is_emptied {
                    self.file(*inode).change(number, Change::SetLen(0));
                }
            }
            Entry::Write { inode, offset, bytes } => {
                let change = Change::Write { offset: *offset, bytes: bytes.as_slice().into() };
                self.file(*inode).change(number, change);
            }
            Entry::SetLen { inode, len } => self.file(*inode).change(number, Change::SetLen(*len)),
            Entry::Flush { inode, begun } => self.flush(*inode, *begun),
            Entry::FailedFlush { inode, begun } => {
                let node = self.inodes[inode];
                self.nodes[node].iter_mut().for_each(|file| file.fail_flush(*begun));
            }
            Entry::Rename { from, to } => {
                let (from, to) = (self.place(from), self.place(to));
                let node = self.names.get(&from).expect("the recording follows the folder");
                self.names.change(number, node, Some(from), Some(to));
            }
            Entry::Remove { path } => {
                let node = self.at(path);
                self.names.change(number, node, Some(self.place(path)), None);
            }
            Entry::MakeFolder { path } => {
                self.add(path, None);
            }
            Entry::Note { .. } => {}
        }
    }

    fn flush(&mut self, inode: u64, begun: u64) {
        let node = self.inodes[&inode];
        if self.unflushed.contains(&node) {
            return;
        }
        self.nodes[node].iter_mut().for_each(|file| file.flush(begun, self.seed));
        self.names.flush(node, begun);
    }

    fn add(&mut self, path: &str, file: Option<FileState>) -> Node {
        let node = self.nodes.len();
        self.nodes.push(file);
        self.names.change(self.followed as u64, node, None, Some(self.place(path)));
        node
    }

    fn file(&mut self, inode: u64) -> &mut FileState {
        self.nodes[self.inodes[&inode]].as_mut().expect("a file")
    }

    fn at(&self, path: &str) -> Node {
        self.find(path).unwrap_or_else(|| panic!("the recording has no {path} at entry {}", self.followed))
    }

    fn find(&self, path: &str) -> Option<Node> {
        let mut names = path.split('/').filter(|name| !name.is_empty());
        names.try_fold(ROOT, |folder, name| self.names.get(&(folder, name.to_owned())))
    }

    fn place(&self, path: &str) -> Place {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        (self.at(folder), name.to_owned())
    }

    fn add_all(&mut self, path: &Path, folder: Node) -> io::Result<()> {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let is_folder = entry.file_type()?.is_dir();
            let file = if is_folder { None } else { Some(FileState::new(Content::read(&entry.path())?)) };
            let node = self.nodes.len();
            self.nodes.push(file);
            self.names.add((folder, entry.file_name().to_string_lossy().into_owned()), node);
            if is_folder {
                self.add_all(&entry.path(), node)?;
            }
        }
        Ok(())
    }

    fn write_all(
        &self,
        path: &Path,
        folder: Node,
        names: &Folders,
        content: &impl Fn(Node, &FileState) -> Content,
    ) -> io::Result<()> {
        fs::create_dir_all(path)?;
        for (name, node) in names.get(&folder).into_iter().flatten() {
            let path = path.join(name);
            match &self.nodes[*node] {
                Some(file) => content(*node, file).write_to(&path)?,
                None => self.write_all(&path, *node, names, content)?,
            }
        }
        Ok(())
    }

    fn differ(&self, folder: Node, other: &Self, other_folder: Node) -> Option<String> {
        let names = |disk: &Self, folder| {
            let folder = disk.names.now().get(&folder).cloned().unwrap_or_default();
            folder.into_keys().collect::<BTreeSet<_>>()
        };
        let (mine, theirs) = (names(self, folder), names(other, other_folder));
        if let Some(name) = mine.symmetric_difference(&theirs).next() {
            return Some(format!("only one has {name}"));
        }
        mine.iter().find_map(|name| {
            let node = self.names.get(&(folder, name.clone()))?;
            let other_node = other.names.get(&(other_folder, name.clone()))?;
            let differs = match (&self.nodes[node], &other.nodes[other_node]) {
                (Some(file), Some(other)) => {
                    file.whole().difference(&other.whole()).map(|byte| format!(" at byte {byte}"))
                }
                (None, None) => self.differ(node, other, other_node).map(|differs| format!("/{differs}")),
                _ => Some(" is a file and a folder".into()),
            };
            differs.map(|differs| format!("{name}{differs}"))
        })
    }
}

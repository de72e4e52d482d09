//! The permissions of a folder and of the files below it: its owner reads and writes them, and nobody else
//! does.
//!
//! Files are made by this engine, by the threads of fjall and by earlier versions, under whatever umask the
//! process has. Three steps cover them all: those that are made here say their mode, those that exist are
//! mended
//! at each opening, and on Linux folders have a default ACL, by which the system gives each new file its mode
//! in
//! place of the umask. On a file system without ACLs the mode of the outermost folder alone keeps others out.

use std::fs::OpenOptions;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::open_error::FjallOpenError;

#[cfg(unix)]
const FOLDER_MODE: u32 = 0o700;
#[cfg(unix)]
const FILE_MODE: u32 = 0o600;
/// The bit of folders in which each user may make files, such as `/tmp`.
#[cfg(unix)]
const STICKY: u32 = 0o1000;

/// Returns the options to make or open a file for writing, which nobody else may read if it is made.
pub(in crate::engine::fjall) fn writing() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, FILE_MODE);
    options
}

/// Makes a folder that only its owner enters, and the missing ones above it with the usual permissions.
pub(in crate::engine::fjall) fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    if let Some(above) = path.parent() {
        builder.recursive(true).create(above)?;
    }
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, FOLDER_MODE);
    builder.create(path)
}

/// Refuses a folder of another user, or one in which all users may write. Changes nothing.
#[cfg(unix)]
pub(in crate::engine::fjall) fn check_owner(folder: &Path) -> Result<(), FjallOpenError> {
    let metadata = folder.metadata().map_err(FjallOpenError::at(folder))?;
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    if owner != user {
        return Err(FjallOpenError::OfAnotherUser { folder: folder.to_path_buf(), owner, user });
    }
    if metadata.mode() & STICKY != 0 {
        let reason = "it is there for all users (its sticky bit is set); name a folder in it";
        return Err(FjallOpenError::NotAStore { folder: folder.to_path_buf(), reason });
    }
    Ok(())
}

/// Refuses a folder that is to become a store if other users reach files in it that are not the store's: to
/// protect the objects would lock the users out. Changes nothing.
#[cfg(unix)]
pub(in crate::engine::fjall) fn check_others(folder: &Path, names: &[&str]) -> Result<(), FjallOpenError> {
    /// The folder that systems make at the top of a disk.
    const OF_THE_DISK: &str = "lost+found";

    let at = FjallOpenError::at(folder);
    let is_open = folder.metadata().map_err(&at)?.mode() & 0o077 != 0;
    let is_own = |name: &std::ffi::OsStr| name == OF_THE_DISK || names.iter().any(|own| name == *own);
    for entry in folder.read_dir().map_err(&at)? {
        if is_open && !is_own(&entry.map_err(&at)?.file_name()) {
            let reason = "it has other files in it, which other users may reach; name a new folder in it";
            return Err(FjallOpenError::NotAStore { folder: folder.to_path_buf(), reason });
        }
    }
    Ok(())
}

/// Takes the permissions of others away from a folder, and from what is below these names in it. A symbolic
/// link and what it leads to stay as they are.
#[cfg(unix)]
pub(in crate::engine::fjall) fn mend(folder: &Path, names: &[&str]) -> Result<(), FjallOpenError> {
    // From the outside in: once the folder is closed, nobody else can change what is looked at.
    mend_folder(folder).map_err(FjallOpenError::at(folder))?;
    for name in names {
        let path = folder.join(name);
        mend_below(&path).map_err(FjallOpenError::at(&path))?;
    }
    Ok(())
}

#[cfg(unix)]
fn mend_below(path: &Path) -> io::Result<()> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if metadata.is_file() {
        return set_mode(path, FILE_MODE);
    }
    if !metadata.is_dir() {
        return Ok(());
    }
    mend_folder(path)?;
    path.read_dir()?.try_for_each(|entry| mend_below(&entry?.path()))
}

#[cfg(unix)]
fn mend_folder(path: &Path) -> io::Result<()> {
    set_mode(path, FOLDER_MODE)?;
    set_default_acl(path);
    Ok(())
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let mut permissions = path.metadata()?.permissions();
    if permissions.mode() & 0o7777 == mode {
        return Ok(());
    }
    permissions.set_mode(mode);
    std::fs::set_permissions(path, permissions)
}

/// Has the system give new files and folders the permissions of their owner alone, whatever the umask says.
#[cfg(target_os = "linux")]
fn set_default_acl(folder: &Path) {
    /// Version 2; then the kind of each entry, its permissions and no id: the owner, the group, others.
    const ACL: [u8; 28] = [
        2, 0, 0, 0, // version
        0x01, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, // owner: rwx
        0x04, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, // group: ---
        0x20, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, // others: ---
    ];
    // Not every file system has ACLs. The mode of the outermost folder keeps others out without them.
    let flags = rustix::fs::XattrFlags::empty();
    let _ = rustix::fs::setxattr(folder, "system.posix_acl_default", &ACL, flags);
}

#[cfg(all(unix, not(target_os = "linux")))]
fn set_default_acl(_: &Path) {}

#[cfg(not(unix))]
pub(in crate::engine::fjall) fn check_owner(_: &Path) -> Result<(), FjallOpenError> {
    Ok(())
}

#[cfg(not(unix))]
pub(in crate::engine::fjall) fn check_others(_: &Path, _: &[&str]) -> Result<(), FjallOpenError> {
    Ok(())
}

#[cfg(not(unix))]
pub(in crate::engine::fjall) fn mend(_: &Path, _: &[&str]) -> Result<(), FjallOpenError> {
    Ok(())
}

//! Files as content: what the system says of them, the validators and the media type that follow from it,
//! and reading parts of them as a peer has room (feature `files`).
//!
//! [`Folder`] answers with the files of a folder, [`Reply::file`](crate::Reply::file) with one.

mod buffers;
mod cached;
mod entity_tag;
mod folder;
mod media_type;
mod open_file;
mod reading;
mod sendfile;
mod site;
mod stamp;
mod upload;

pub(crate) use cached::{ReadFile, on_blocking_thread};
pub use entity_tag::EntityTag;
pub(crate) use entity_tag::strong_tag;
pub use folder::Folder;
pub(crate) use media_type::content_coding;
pub use media_type::media_type;
pub use open_file::OpenFile;
pub use stamp::Stamp;
pub use upload::Uploads;

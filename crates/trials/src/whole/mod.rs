//! Targets of clients, servers and the command.

mod certificate;
mod conditional;
mod content_coding;
mod cookies;
mod gzip_header;
mod multipart;
mod naive_routes;
mod proxy_answer;
mod routes;
mod whole_server;

pub use certificate::certificate;
pub use conditional::conditional;
pub use content_coding::content_coding;
pub use cookies::cookies;
pub use gzip_header::gzip_header;
pub use multipart::multipart;
pub use proxy_answer::proxy_answer;
pub use routes::routes;
pub use whole_server::whole_server;

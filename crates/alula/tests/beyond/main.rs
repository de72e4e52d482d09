//! What the client does by itself beyond one exchange, over both versions.

mod redirects;
mod site;

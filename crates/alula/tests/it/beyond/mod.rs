//! What the client does by itself beyond one exchange, over both versions.

mod additions;
mod cookies;
mod host;
mod redirects;
mod retries;
mod site;

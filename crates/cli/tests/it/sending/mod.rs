//! The requests that the command sends: methods, fields, content, credentials, cookies, redirects and ways to
//! a server.

mod cookies;
mod forms;
mod habits;
mod httpie;
mod items;
mod local;
mod logins;
mod requests;
mod routes;
mod transfer;
mod ways;

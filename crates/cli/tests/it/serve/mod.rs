//! `alula serve` and `alula echo`.

mod paths;
mod served;
mod single_page;
mod stops;
mod upload;
mod watching;

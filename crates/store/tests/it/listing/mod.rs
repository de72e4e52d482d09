//! Lists of keys and buckets, queries of indexes, and walks along links.

mod index_rows;
mod indexes;
mod lists;
mod pages;
mod streams;
mod walks;

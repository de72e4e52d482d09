//! The part of the program that an instruction belongs to: by the file of its code, or where that is a
//! library's, by the function that it was inlined into.

/// In the order in which a request meets them.
pub(super) const PARTS: [&str; 6] = [
    "Alula: the server, HTTP/1.1, fields",
    "runtime: tokio",
    "store: HTTP",
    "store: model",
    "store: engine",
    "libc: copies, allocator, system calls",
];

/// The part of a function's code that comes from a file.
pub(super) fn part(function: &str, file: &str) -> &'static str {
    of_file(file).or_else(|| of_function(function)).unwrap_or(PARTS[5])
}

fn of_file(file: &str) -> Option<&'static str> {
    let is_in = |folders: &[&str]| folders.iter().any(|folder| file.contains(folder));
    Some(match file {
        _ if is_in(&["crates/store/src/model"]) => PARTS[3],
        _ if is_in(&["crates/store/src/engine", "crates/bench/src/whole/store"]) => PARTS[4],
        _ if is_in(&["crates/store/"]) => PARTS[2],
        _ if is_in(&["crates/"]) => PARTS[0],
        _ if is_in(&[
            "/fjall",
            "/lsm-tree",
            "/value-log",
            "/quick_cache",
            "/byteview",
            "/lz4_flex",
            "/crossbeam",
            "/xxhash",
        ]) =>
        {
            PARTS[4]
        }
        _ if is_in(&["/tokio-", "/mio-"]) => PARTS[1],
        _ => return None,
    })
}

fn of_function(function: &str) -> Option<&'static str> {
    let has = |name: &str| function.contains(name);
    Some(match function {
        _ if has("alula_store::model") => PARTS[3],
        _ if has("alula_store::engine") || has("BTree") || has("btree") => PARTS[4],
        _ if has("fjall") || has("lsm_tree") => PARTS[4],
        _ if has("alula_store::") => PARTS[2],
        _ if has("alula_") => PARTS[0],
        _ if has("tokio::") || has("mio::") => PARTS[1],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_libraries_belongs_to_what_it_was_inlined_into() {
        let library = "/rustc/1/library/core/src/slice/iter.rs";
        assert_eq!(part("alula_store::http::object::put", "/x/crates/h1/src/head/line.rs"), PARTS[0]);
        assert_eq!(part("alula_store::http::object::put", library), PARTS[2]);
        assert_eq!(part("<alula_store::engine::memory::Memory as X>::get", library), PARTS[4]);
        assert_eq!(part("alula_h1::head_in::read", library), PARTS[0]);
        assert_eq!(part("__memcpy_avx_unaligned", "./string/memmove.S"), PARTS[5]);
    }
}

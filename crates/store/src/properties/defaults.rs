//! The properties that nobody has set.

use serde_json::json;

use super::list::List;

/// Returns the defaults for buckets with a type, or for those without one.
pub(super) fn of(is_made: bool) -> List {
    let list = [
        ("allow_mult", json!(is_made)),
        ("basic_quorum", json!(false)),
        ("big_vclock", json!(50)),
        ("chash_keyfun", json!({"mod": "riak_core_util", "fun": "chash_std_keyfun"})),
        ("dvv_enabled", json!(is_made)),
        ("dw", json!("quorum")),
        ("last_write_wins", json!(false)),
        ("linkfun", json!({"mod": "riak_kv_wm_link_walker", "fun": "mapreduce_linkfun"})),
        ("n_val", json!(3)),
        ("node_confirms", json!(0)),
        ("notfound_ok", json!(true)),
        ("old_vclock", json!(86_400)),
        ("postcommit", json!([])),
        ("pr", json!(0)),
        ("precommit", json!([])),
        ("pw", json!(0)),
        ("r", json!("quorum")),
        ("rw", json!("quorum")),
        ("small_vclock", json!(50)),
        ("sync_on_write", json!("backend")),
        ("w", json!("quorum")),
        ("young_vclock", json!(20)),
    ];
    list.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

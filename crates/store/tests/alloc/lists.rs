//! The memory that lists and queries of indexes take.

use alula_store::engine::Memory;

use crate::seeded::{Seed, clients, get, open, put};

/// Lists and queries take memory for one page, however long they are.
pub(crate) fn length_costs_no_memory() {
    crate::block_on(async {
        let store = open(Memory::new()).await;
        for number in 0..20_000 {
            let key = format!("{number:05}{}", "k".repeat(500));
            put(&store, "b", key, Seed::new(&[("n_int", number.to_string())])).await;
        }
        for client in clients(&store) {
            for path in [
                "/buckets/b/keys?keys=true",
                "/buckets/b/keys?keys=stream",
                "/buckets/b/index/n_int/0/99999?return_terms=true",
                "/buckets/b/index/n_int/0/99999?stream=true",
            ] {
                let before = alula_tally::thread();
                let (mut bytes, mut live_max) = (0, 0);
                let mut response = get(&client, path).await;
                while let Some(chunk) = response.chunk().await.expect("content") {
                    bytes += chunk.len();
                    live_max = live_max.max((alula_tally::thread() - before).bytes_live());
                }
                assert!(bytes > 10_000_000, "{path}");
                assert!(live_max < 2_000_000, "{path}: {live_max} bytes are held");
            }
        }
    });
}

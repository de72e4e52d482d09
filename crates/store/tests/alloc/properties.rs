//! The look-up of a bucket's properties, which every request makes, allocates nothing.

use std::hint::black_box;

use crate::resources::{Kept, Wire, config};
use alula_store::Store;
use alula_store::engine::BucketName;
use alula_store::fuzzing::n_val;
use alula_testkit::allocations;
use serde_json::json;

/// Riak §9.1: a bucket's own value, its type's, a default, and a type that was not made.
pub(crate) fn looking_properties_up_allocates_nothing() {
    crate::block_on(async {
        let (engine, types) = (Kept::default(), [("plain", json!({"n_val": 2}))]);
        let wire = Wire::open(&engine, &types, false).await;
        wire.put("/types/plain/buckets/own/props", r#"{"props":{"n_val":1}}"#).is(204).await;
        let store = Store::open(engine, config(&types)).await.expect("types that can be");
        let n_val_of = |bucket_type: &str, bucket: &str| {
            n_val(&store, BucketName { bucket_type: bucket_type.as_bytes(), bucket: bucket.as_bytes() })
        };
        let look_up = || {
            let found = [
                n_val_of("plain", "own"),
                n_val_of("plain", "b"),
                n_val_of("default", "b"),
                n_val_of("none", "b"),
            ];
            assert_eq!(black_box(found), [Some(1), Some(2), Some(3), None]);
        };
        // The first look-up of a thread takes its place among the readers of the table.
        look_up();
        assert_eq!(allocations(|| (0..1_000).for_each(|_| look_up())), 0);
    });
}

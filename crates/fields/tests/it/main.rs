//! Tests of fields through their public interface.

mod section;

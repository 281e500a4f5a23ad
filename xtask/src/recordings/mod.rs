//! Makes the bundles that the repository ships.
//!
//! `pack` takes a bundle that dsprof recorded and leaves out what nobody replays; `import` makes a bundle out of
//! console logs that were recorded by hand, by running the main job over them.

mod import;
mod pack;

pub(crate) use import::import;
pub(crate) use pack::pack;

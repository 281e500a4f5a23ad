//! The seam: programs that run, that are recorded, and that a recording stands for.

mod live;
mod live_beside;
mod orphans;
mod record;
mod replay;
mod resume;
mod round_trip;

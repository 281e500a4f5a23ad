//! What the stand-ins print, read as dsprof reads it; and, with `DSPROF_LIVE=1`, dsprof itself on the stand-ins.

mod live;
mod load;
mod smi;

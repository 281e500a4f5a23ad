//! dsprof, as it is built, on machines whose answer is known.
//!
//! Only with `DSPROF_LIVE=1`. Every case has a folder of its own, in which lie its pipeline, the ledger of its GPU and
//! the bundle, so that the cases run side by side; they wait rather than compute. What the model implies is what dsprof
//! has to find: the plateau batch, the bound, rates and streams within 5 %.

mod bench;
mod cases;
mod forms;
mod gst;
mod launch;

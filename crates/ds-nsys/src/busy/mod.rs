//! How long each GPU was busy.
//!
//! Busy is the union of kernels, CUDA graphs, copies and sets on one device. Their sum is not: work on several streams
//! overlaps. Kernels alone are not either: graphs traced as a whole, copies and sets keep a GPU busy without one kernel
//! row. And intervals of two devices are never merged: two GPUs busy half the time each would look like one busy always.

mod intervals;

pub use intervals::{Interval, Intervals};

use std::collections::BTreeMap;

pub(crate) use intervals::IntervalsBuilder;

use crate::error::Result;
use crate::grouped::{Grouped, Merge};
use crate::ids::{DeviceKey, ProcessKey};
use crate::query::Window;
use crate::rows::Column;
use crate::summary::{KERNEL_TABLE, MEMCPY_TABLE, MEMSET_TABLE};
use crate::trace::Trace;
use crate::units::{Nanos, Share};

/// The table of CUDA graphs traced as a whole.
pub(crate) const GRAPH_TABLE: &str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";

/// What ran on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GpuWork {
    /// A kernel.
    Kernel,
    /// A CUDA graph traced as one interval, gaps inside it included.
    Graph,
    /// A copy.
    Copy,
    /// A set.
    Set,
}

impl GpuWork {
    pub(crate) const ALL: [Self; 4] = [Self::Kernel, Self::Graph, Self::Copy, Self::Set];

    fn table(self) -> &'static str {
        match self {
            Self::Kernel => KERNEL_TABLE,
            Self::Graph => GRAPH_TABLE,
            Self::Copy => MEMCPY_TABLE,
            Self::Set => MEMSET_TABLE,
        }
    }
}

/// The work of one kind on one device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkTimeline {
    /// When it ran.
    pub intervals: Intervals,
    /// How many operations there were.
    pub count: u64,
    /// The sum of their durations; what overlaps counts twice.
    pub sum: Nanos,
    /// Rows that hold no time (start and end are 0): the profiler collected none. They are left out.
    pub untimed: u64,
    /// Rows that end before they start. They are left out.
    pub reversed: u64,
}

/// How long one device was busy, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceBusy {
    /// The device, as its process numbers it.
    ///
    /// A graph whose first node runs on the host has no device: CUPTI then writes the largest 32-bit integer, and such
    /// graphs make up a row of their own.
    pub device: DeviceKey,
    /// When it was busy with anything.
    pub busy: Intervals,
    /// What it was busy with.
    pub work: BTreeMap<GpuWork, WorkTimeline>,
}

impl DeviceBusy {
    /// The time in which the device did anything at all.
    #[must_use]
    pub fn busy_time(&self) -> Nanos {
        self.busy.total()
    }

    /// The time in which a kernel ran, as far as kernels were traced one by one.
    #[must_use]
    pub fn kernel_time(&self) -> Nanos {
        self.work
            .get(&GpuWork::Kernel)
            .map_or(Nanos::ZERO, |work| work.intervals.total())
    }

    /// The sum of all durations.
    #[must_use]
    pub fn sum(&self) -> Nanos {
        self.work.values().map(|work| work.sum).sum()
    }

    /// How much of the sum ran at the same time as something else.
    #[must_use]
    pub fn overlap(&self) -> Nanos {
        self.sum() - self.busy_time()
    }

    /// From the first operation to the end of the last.
    #[must_use]
    pub fn span(&self) -> Option<Interval> {
        self.busy.span()
    }

    /// Whether the busy time is an upper figure: graphs were traced as a whole, and the gaps inside one count as busy.
    #[must_use]
    pub fn is_upper_figure(&self) -> bool {
        self.work
            .get(&GpuWork::Graph)
            .is_some_and(|work| work.count > 0)
    }

    /// The busy share of the time from the first operation to the end of the last.
    #[must_use]
    pub fn share_of_span(&self) -> Option<Share> {
        self.busy_time().share_of(self.span()?.duration())
    }

    /// Rows that were left out because their times are missing or reversed.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.work
            .values()
            .map(|work| work.untimed + work.reversed)
            .sum()
    }
}

/// How long the GPUs of a trace were busy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Busy {
    /// One entry a device of a process, in the order of processes and ordinals.
    pub devices: Vec<DeviceBusy>,
    /// The length of the session, or of the window within it; `None` where neither is known.
    pub session: Option<Nanos>,
}

impl Busy {
    /// The busy share of the session for one of the devices.
    #[must_use]
    pub fn share_of_session(&self, device: &DeviceBusy) -> Option<Share> {
        device.busy_time().share_of(self.session?)
    }
}

#[derive(Debug, Default)]
struct Collected {
    intervals: IntervalsBuilder,
    count: u64,
    sum: Nanos,
    untimed: u64,
    reversed: u64,
}

impl Merge for Collected {
    fn merge(&mut self, other: Self) {
        self.intervals.append(other.intervals);
        self.count += other.count;
        self.sum += other.sum;
        self.untimed += other.untimed;
        self.reversed += other.reversed;
    }
}

impl Trace {
    /// How long each device was busy within a window, with operations cut at its edges.
    ///
    /// A trace without GPU work gives no device.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn busy(&self, window: Window) -> Result<Busy> {
        let mut devices: BTreeMap<DeviceKey, BTreeMap<GpuWork, WorkTimeline>> = BTreeMap::new();
        for kind in GpuWork::ALL {
            for (device, timeline) in self.timelines(kind, window)? {
                devices.entry(device).or_default().insert(kind, timeline);
            }
        }
        let devices = devices
            .into_iter()
            .map(|(device, work)| {
                let all = work
                    .values()
                    .flat_map(|work| work.intervals.as_slice().iter().copied());
                DeviceBusy {
                    device,
                    busy: Intervals::union(all),
                    work,
                }
            })
            .collect();
        Ok(Busy {
            devices,
            session: self.session_within(window)?,
        })
    }

    fn timelines(&self, kind: GpuWork, window: Window) -> Result<Vec<(DeviceKey, WorkTimeline)>> {
        let columns = [
            Column::always("start"),
            Column::always("end"),
            Column::always("deviceId"),
            Column::if_there("globalPid"),
        ];
        let parts = self.fold_parts(
            kind.table(),
            &columns,
            Grouped::<_, Collected>::default,
            |devices, fields| {
                let (start, end) = (Nanos(fields.get(0)?), Nanos(fields.get(1)?));
                let untimed = start == Nanos::ZERO && end == Nanos::ZERO;
                if !untimed && start <= end && !window.holds(start, end) {
                    return Ok(());
                }
                let process = ProcessKey::of(fields.get::<Option<i64>>(3)?.unwrap_or_default());
                let device = devices.entry(DeviceKey {
                    process,
                    ordinal: fields.get(2)?,
                });
                if untimed {
                    device.untimed += 1;
                } else if end < start {
                    device.reversed += 1;
                } else {
                    let inside = Interval {
                        start: start.max(window.from),
                        end: end.min(window.to),
                    };
                    device.count += 1;
                    device.sum += inside.duration();
                    device.intervals.push(inside);
                }
                Ok(())
            },
        )?;
        let joined = Grouped::joined(parts.unwrap_or_default());
        let timelines = joined.into_groups().map(|(device, collected)| {
            let timeline = WorkTimeline {
                intervals: collected.intervals.build(),
                count: collected.count,
                sum: collected.sum,
                untimed: collected.untimed,
                reversed: collected.reversed,
            };
            (device, timeline)
        });
        Ok(timelines.collect())
    }

    /// The length of the session inside a window; of a window that is bounded on both sides also without a session.
    fn session_within(&self, window: Window) -> Result<Option<Nanos>> {
        let session = self.session_duration()?;
        if window == Window::ALL {
            return Ok(session);
        }
        let from = window.from.max(Nanos::ZERO);
        let to = session.map_or(window.to, |session| window.to.min(session));
        let is_bounded = to < Nanos(i64::MAX);
        Ok((is_bounded && from <= to).then(|| to - from))
    }
}

//! When a GPU did nothing.
//!
//! Gaps lie on the merged timeline of a device: a stream that waits while another one works is no gap.

use crate::busy::Interval;
use crate::error::Result;
use crate::ids::DeviceKey;
use crate::query::Window;
use crate::trace::Trace;
use crate::units::{Nanos, Share};

/// Which gaps are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GapOptions {
    /// Where to look.
    pub window: Window,
    /// How many of the longest gaps of a device are listed one by one.
    pub listed: usize,
}

impl Default for GapOptions {
    fn default() -> Self {
        Self {
            window: Window::ALL,
            listed: 10,
        }
    }
}

/// The gaps of one device between its first operation and the end of its last.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceGaps {
    /// The device.
    pub device: DeviceKey,
    /// From the first operation to the end of the last.
    pub span: Interval,
    /// How many gaps there are.
    pub count: u64,
    /// Their sum.
    pub idle: Nanos,
    /// The longest ones, longest first.
    pub longest: Vec<Interval>,
    /// How they spread over lengths, shortest first; classes without a gap are left out.
    pub lengths: Vec<GapClass>,
}

impl DeviceGaps {
    /// The idle share of the span.
    #[must_use]
    pub fn share_of_span(&self) -> Option<Share> {
        self.idle.share_of(self.span.duration())
    }
}

/// Gaps of similar length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GapClass {
    /// The shortest length of the class; the next class begins at twice that.
    pub from: Nanos,
    /// How many gaps it holds.
    pub count: u64,
    /// Their sum.
    pub idle: Nanos,
}

impl Trace {
    /// The idle gaps of every device, with the longest ones one by one.
    ///
    /// What lies before the first operation and after the last is no gap: the session says nothing about it.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn gaps(&self, options: GapOptions) -> Result<Vec<DeviceGaps>> {
        let busy = self.busy(options.window)?;
        let devices = busy.devices.into_iter().filter_map(|device| {
            let span = device.span()?;
            let mut gaps: Vec<Interval> = device.busy.gaps().collect();
            let idle = gaps.iter().map(|gap| gap.duration()).sum();
            let lengths = classes(&gaps);
            let count = gaps.len() as u64;
            // Of equally long gaps the earlier one comes first.
            gaps.sort_unstable_by_key(|gap| (std::cmp::Reverse(gap.duration()), gap.start));
            gaps.truncate(options.listed);
            Some(DeviceGaps {
                device: device.device,
                span,
                count,
                idle,
                longest: gaps,
                lengths,
            })
        });
        Ok(devices.collect())
    }
}

/// Sorts gaps into classes by powers of two.
fn classes(gaps: &[Interval]) -> Vec<GapClass> {
    let mut classes = [(0_u64, Nanos::ZERO); 64];
    for gap in gaps {
        let length = gap.duration().0.max(1);
        let class = &mut classes[length.ilog2() as usize];
        class.0 += 1;
        class.1 += gap.duration();
    }
    classes
        .into_iter()
        .enumerate()
        .filter(|(_, (count, _))| *count > 0)
        .map(|(power, (count, idle))| GapClass {
            from: Nanos(1_i64 << power),
            count,
            idle,
        })
        .collect()
}

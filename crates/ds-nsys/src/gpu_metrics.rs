//! Hardware counters sampled over time: how much of the GPU was at work.
//!
//! The table is absent unless the capture asked for it and was permitted: absent means not sampled, never 0 %.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Result;
use crate::grouped::{Grouped, Merge};
use crate::query::Window;
use crate::rows::Column;
use crate::trace::{Diagnostic, Severity, Trace};
use crate::units::{Nanos, Share};

/// A counter that is recognised under the names that releases and GPUs give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// Any engine of the GPU at work.
    GraphicsActive,
    /// Streaming multiprocessors with at least one warp.
    SmActive,
    /// Multiprocessors issuing instructions.
    SmIssue,
    /// Tensor cores at work.
    TensorActive,
    /// Device memory read.
    DramRead,
    /// Device memory written.
    DramWrite,
    /// Received over PCI Express.
    PcieReceive,
    /// Sent over PCI Express.
    PcieSend,
    /// The clock of the graphics processing clusters.
    GpcClock,
    /// The system clock.
    SysClock,
}

/// Names in lower case without anything but letters. `SM Active` and `SMs Active` are both in use.
const KNOWN_NAMES: [(&str, Metric); 11] = [
    ("gractive", Metric::GraphicsActive),
    ("smactive", Metric::SmActive),
    ("smsactive", Metric::SmActive),
    ("smissue", Metric::SmIssue),
    ("tensoractive", Metric::TensorActive),
    ("dramreadbandwidth", Metric::DramRead),
    ("dramwritebandwidth", Metric::DramWrite),
    ("pcierxthroughput", Metric::PcieReceive),
    ("pcietxthroughput", Metric::PcieSend),
    ("gpcclockfrequency", Metric::GpcClock),
    ("sysclockfrequency", Metric::SysClock),
];

impl Metric {
    fn from_name(name: &str) -> Option<Self> {
        let stem = name.split('[').next().unwrap_or(name);
        let letters: String = stem
            .chars()
            .filter(|c| c.is_alphabetic())
            .map(|c| c.to_ascii_lowercase())
            .collect();
        KNOWN_NAMES
            .iter()
            .find(|(known, _)| *known == letters)
            .map(|(_, metric)| *metric)
    }
}

/// What the values of a counter count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricUnit {
    /// Per cent of what the hardware can do.
    Percent,
    /// Hertz. Names say `[MHz]`; values are in Hz all the same (measured with 2025.3.2 on one H200: 345 to 1,980 million).
    Hertz,
    /// Something else, as the name says.
    AsNamed,
}

/// The samples of one counter of one GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetricSamples {
    /// The GPU's number in the capture.
    pub gpu: i64,
    /// The counter's full name; `None` where the export does not name it.
    pub name: Option<Arc<str>>,
    /// Which counter it is, if recognised.
    pub metric: Option<Metric>,
    /// What its values count.
    pub unit: MetricUnit,
    /// Distinct values with their counts, ascending.
    values: Vec<(i64, u64)>,
}

/// A value in the unit of its counter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: MetricUnit,
}

impl MetricSamples {
    /// How many samples there are; at least one.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.values.iter().map(|(_, count)| count).sum()
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> Reading {
        let total: i128 = self
            .values
            .iter()
            .map(|(value, count)| i128::from(*value) * i128::from(*count))
            .sum();
        self.reading(as_f64(total) / as_f64(i128::from(self.count())))
    }

    /// The smallest value that at least this share of the samples does not exceed.
    #[must_use]
    pub fn quantile(&self, share: Share) -> Reading {
        let wanted = share.0.clamp(0.0, 1.0) * as_f64(i128::from(self.count()));
        let mut seen = 0_i128;
        let found = self.values.iter().find(|(_, count)| {
            seen += i128::from(*count);
            as_f64(seen) >= wanted
        });
        let value = found
            .or(self.values.last())
            .map_or(f64::NAN, |(value, _)| as_f64(i128::from(*value)));
        self.reading(value)
    }

    /// The share of the samples above a level in the counter's unit.
    #[must_use]
    pub fn share_above(&self, level: f64) -> Share {
        let above: u64 = self
            .values
            .iter()
            .filter(|(value, _)| as_f64(i128::from(*value)) > level)
            .map(|(_, count)| count)
            .sum();
        Share(as_f64(i128::from(above)) / as_f64(i128::from(self.count())))
    }

    /// How many samples are negative, which no counter can be: they are kept, and should be mentioned.
    #[must_use]
    pub fn negative(&self) -> u64 {
        self.values
            .iter()
            .filter(|(value, _)| *value < 0)
            .map(|(_, count)| count)
            .sum()
    }

    fn reading(&self, value: f64) -> Reading {
        Reading {
            value,
            unit: self.unit,
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sums of samples stay below 2^53, and a mean is a double anyway"
)]
fn as_f64(value: i128) -> f64 {
    value as f64
}

#[derive(Debug, Default)]
struct Counts(BTreeMap<i64, u64>);

impl Merge for Counts {
    fn merge(&mut self, other: Self) {
        for (value, count) in other.0 {
            *self.0.entry(value).or_default() += count;
        }
    }
}

/// The number of the GPU stands in the low byte of the type id (observed on one GPU; more are unverified).
const GPU_BITS: i64 = 0xFF;

/// The error of a driver that gives its counters to administrators alone.
const NO_PERMISSION: &str = "ERR_NVGPUCTRPERM";

impl Trace {
    /// The sampled counters by GPU, in the order of the capture; `None` when nothing was sampled.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn gpu_metrics(&self, window: Window) -> Result<Option<Vec<MetricSamples>>> {
        let columns = [
            Column::always("timestamp"),
            Column::always("typeId"),
            Column::always("metricId"),
            Column::always("value"),
        ];
        let parts = self.fold_parts(
            "GPU_METRICS",
            &columns,
            Grouped::<(i64, i64), Counts>::default,
            |groups, fields| {
                let time = Nanos(fields.get(0)?);
                if window.holds(time, time) {
                    let counts = groups.entry((fields.get(1)?, fields.get(2)?));
                    *counts.0.entry(fields.get(3)?).or_default() += 1;
                }
                Ok(())
            },
        )?;
        let Some(parts) = parts else {
            return Ok(None);
        };
        let names = self.metric_names()?;
        let mut metrics: Vec<_> = Grouped::joined(parts).into_groups().collect();
        metrics.sort_by_key(|(key, _)| *key);
        let metrics: Vec<MetricSamples> = metrics
            .into_iter()
            .map(|((kind, id), counts)| {
                let name = names.get(&(kind, id)).cloned();
                let unit = match name.as_deref() {
                    Some(name) if name.contains('%') => MetricUnit::Percent,
                    Some(name) if name.contains("[MHz]") => MetricUnit::Hertz,
                    _ => MetricUnit::AsNamed,
                };
                MetricSamples {
                    gpu: kind & GPU_BITS,
                    metric: name.as_deref().and_then(Metric::from_name),
                    name,
                    unit,
                    values: counts.0.into_iter().collect(),
                }
            })
            .collect();
        Ok((!metrics.is_empty()).then_some(metrics))
    }

    /// What the profiler says about sampling counters that failed, in its own words.
    ///
    /// # Errors
    ///
    /// Fails when its messages cannot be read.
    pub fn gpu_metrics_messages(&self) -> Result<Vec<String>> {
        let failed = |diagnostic: &Diagnostic| {
            let is_failure = matches!(diagnostic.severity, Severity::Warning | Severity::Error);
            diagnostic.text.contains(NO_PERMISSION)
                || (is_failure && diagnostic.text.to_ascii_lowercase().contains("gpu metrics"))
        };
        let mut messages = self.diagnostics()?;
        messages.retain(failed);
        Ok(messages.into_iter().map(|message| message.text).collect())
    }

    /// Names by type and metric: ids of metrics are not stable over captures.
    fn metric_names(&self) -> Result<BTreeMap<(i64, i64), Arc<str>>> {
        let columns = [
            Column::always("typeId"),
            Column::always("metricId"),
            Column::always("metricName"),
        ];
        let mut names = BTreeMap::new();
        self.for_each("TARGET_INFO_GPU_METRICS", &columns, |fields| {
            if let Some(name) = fields.text(2)? {
                names.insert((fields.get(0)?, fields.get(1)?), Arc::from(&*name));
            }
            Ok(())
        })?;
        Ok(names)
    }
}

//! The GPU work of every rank, told apart as far as the analyses need it.
//!
//! A rank is one device of one process. Of its work only merged intervals and the starts of kernels are kept, so that
//! millions of rows take a few dozen bytes each at most.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::taxonomy::Taxonomy;
use crate::busy::{Busy, GRAPH_TABLE, Interval, Intervals, IntervalsBuilder};
use crate::error::Result;
use crate::grouped::{Grouped, Merge};
use crate::ids::{DeviceKey, ProcessKey};
use crate::query::Window;
use crate::rows::{Column, Fields, Needed};
use crate::summary::{KERNEL_TABLE, MEMCPY_TABLE, MEMSET_TABLE};
use crate::trace::Trace;
use crate::units::Nanos;

/// The four tables of GPU work.
pub(super) const WORK_TABLES: [&str; 4] = [KERNEL_TABLE, GRAPH_TABLE, MEMCPY_TABLE, MEMSET_TABLE];

/// The work of one rank.
#[derive(Debug)]
pub(super) struct RankWork {
    pub(super) device: DeviceKey,
    /// When anything ran.
    pub(super) busy: Intervals,
    /// Graph launches, ascending by start.
    pub(super) replays: Vec<Replay>,
    /// Whether graphs were traced as a whole.
    pub(super) graph_level: bool,
    /// Starts of the kernels outside graphs, ascending.
    pub(super) eager: Vec<i64>,
    /// When anything outside graphs ran; kept only where there are graphs.
    pub(super) eager_busy: Intervals,
    /// When kernels that communicate ran.
    pub(super) communication: Intervals,
    /// When other kernels ran; kept only where kernels communicate.
    pub(super) compute: Intervals,
}

/// One launch of a CUDA graph as the GPU ran it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Replay {
    pub(super) start: i64,
    pub(super) end: i64,
    /// The id of the call that launched it.
    pub(super) correlation: i64,
    /// Which executable graph; `None` where the export does not say.
    pub(super) graph: Option<i64>,
}

/// A column of a pass over rows.
pub(super) const fn column(name: &'static str, needed: Needed) -> Column {
    Column { name, needed }
}

/// The position of the first column that [`work_columns`] was given.
pub(super) const OWN: usize = 4;

/// When and where a row of GPU work ran, for [`interval_of`] and [`device_of`], and further columns that may be missing.
pub(super) fn work_columns(own: &[&'static str]) -> Vec<Column> {
    let mut columns = vec![
        column("start", Needed::Always),
        column("end", Needed::Always),
        column("deviceId", Needed::Always),
        column("globalPid", Needed::IfThere),
    ];
    debug_assert_eq!(columns.len(), OWN);
    columns.extend(own.iter().map(|name| column(name, Needed::IfThere)));
    columns
}

/// The device of a row read by [`work_columns`].
pub(super) fn device_of(fields: &Fields<'_, '_>) -> Result<DeviceKey> {
    Ok(DeviceKey {
        process: ProcessKey::of(fields.get::<Option<i64>>(3)?.unwrap_or_default()),
        ordinal: fields.get(2)?,
    })
}

/// The interval of a row read by [`work_columns`], cut at the window's edges.
///
/// `None` outside the window, and for rows whose times are missing or reversed: they are counted by [`Trace::busy`].
pub(super) fn interval_of(fields: &Fields<'_, '_>, window: Window) -> Result<Option<Interval>> {
    let (start, end) = (Nanos(fields.get(0)?), Nanos(fields.get(1)?));
    let untimed = start == Nanos::ZERO && end == Nanos::ZERO;
    if untimed || end < start || !window.holds(start, end) {
        return Ok(None);
    }
    Ok(Some(Interval {
        start: start.max(window.from),
        end: end.min(window.to),
    }))
}

#[derive(Debug, Default)]
struct Collected {
    replays: Grouped<i64, Launch>,
    graph_level: bool,
    eager: Vec<i64>,
    eager_busy: IntervalsBuilder,
    communication: IntervalsBuilder,
    compute: IntervalsBuilder,
}

/// From the first work of one correlation id to the end of its last, and the graph it belongs to.
#[derive(Debug, Default)]
struct Launch(Option<(Interval, Option<i64>)>);

impl Launch {
    fn extend(&mut self, interval: Interval, graph: Option<i64>) {
        let (whole, _) = self.0.get_or_insert((interval, graph));
        whole.start = whole.start.min(interval.start);
        whole.end = whole.end.max(interval.end);
    }
}

impl Merge for Launch {
    fn merge(&mut self, other: Self) {
        if let Some((interval, graph)) = other.0 {
            self.extend(interval, graph);
        }
    }
}

impl Merge for Collected {
    fn merge(&mut self, other: Self) {
        for (correlation, launch) in other.replays.into_groups() {
            self.replays.entry(correlation).merge(launch);
        }
        self.graph_level |= other.graph_level;
        self.eager.extend(other.eager);
        self.eager_busy.append(other.eager_busy);
        self.communication.append(other.communication);
        self.compute.append(other.compute);
    }
}

/// The executable graph of an executed node: the high half of the node's id, as exports of 2025.3 show it.
fn executable_of_node(node: i64) -> i64 {
    node >> 32
}

/// Reads the work of all ranks, in the order of their devices.
pub(super) fn rank_work(
    trace: &Trace,
    window: Window,
    taxonomy: &Taxonomy,
    busy: &Busy,
) -> Result<Vec<RankWork>> {
    let Probe {
        communicating,
        has_graphs,
    } = Probe::new(trace, taxonomy)?;
    let columns = work_columns(&[
        "correlationId",
        "graphNodeId",
        "graphExecId",
        "demangledName",
    ]);
    let (correlation_at, node_at, executable_at, name_at) = (OWN, OWN + 1, OWN + 2, OWN + 3);
    let mut collected: BTreeMap<DeviceKey, Collected> = BTreeMap::new();
    for table in WORK_TABLES {
        let parts = trace.fold_parts(
            table,
            &columns,
            Grouped::<DeviceKey, Collected>::default,
            |devices, fields| {
                let Some(interval) = interval_of(fields, window)? else {
                    return Ok(());
                };
                let rank = devices.entry(device_of(fields)?);
                let correlation = fields
                    .get::<Option<i64>>(correlation_at)?
                    .unwrap_or_default();
                let node: Option<i64> = fields.get(node_at)?;
                if table == GRAPH_TABLE {
                    rank.graph_level = true;
                    let graph = fields.get(executable_at)?;
                    rank.replays.entry(correlation).extend(interval, graph);
                    return Ok(());
                }
                if let Some(node) = node {
                    let graph = Some(executable_of_node(node));
                    rank.replays.entry(correlation).extend(interval, graph);
                } else if has_graphs {
                    rank.eager_busy.push(interval);
                }
                if table == KERNEL_TABLE {
                    if node.is_none() {
                        rank.eager.push(interval.start.0);
                    }
                    let name = fields.get::<Option<i64>>(name_at)?;
                    if name.is_some_and(|name| communicating.contains_key(&name)) {
                        rank.communication.push(interval);
                    } else if !communicating.is_empty() {
                        rank.compute.push(interval);
                    }
                }
                Ok(())
            },
        )?;
        for (device, part) in Grouped::joined(parts.unwrap_or_default()).into_groups() {
            collected.entry(device).or_default().merge(part);
        }
    }
    let busy: BTreeMap<DeviceKey, &Intervals> = busy
        .devices
        .iter()
        .map(|device| (device.device, &device.busy))
        .collect();
    let ranks = collected.into_iter().map(|(device, mut rank)| {
        let mut replays: Vec<Replay> = rank
            .replays
            .into_groups()
            .filter_map(|(correlation, launch)| {
                let (interval, graph) = launch.0?;
                Some(Replay {
                    start: interval.start.0,
                    end: interval.end.0,
                    correlation,
                    graph,
                })
            })
            .collect();
        replays.sort_unstable();
        rank.eager.sort_unstable();
        RankWork {
            device,
            busy: busy.get(&device).copied().cloned().unwrap_or_default(),
            replays,
            graph_level: rank.graph_level,
            eager: rank.eager,
            eager_busy: rank.eager_busy.build(),
            communication: rank.communication.build(),
            compute: rank.compute.build(),
        }
    });
    Ok(ranks.collect())
}

/// What has to be known of the kernels before their pass.
pub(super) struct Probe {
    /// The names of kernels that communicate, by their string ids.
    pub(super) communicating: HashMap<i64, Arc<str>>,
    /// Whether any work belongs to a CUDA graph.
    has_graphs: bool,
}

impl Probe {
    pub(super) fn new(trace: &Trace, taxonomy: &Taxonomy) -> Result<Self> {
        let columns = [
            column("demangledName", Needed::IfThere),
            column("graphNodeId", Needed::IfThere),
        ];
        let parts = trace.fold_parts(
            KERNEL_TABLE,
            &columns,
            <(Grouped<i64, ()>, bool)>::default,
            |(names, any_node), fields| {
                if let Some(name) = fields.get::<Option<i64>>(0)? {
                    names.entry(name);
                }
                *any_node |= fields.get::<Option<i64>>(1)?.is_some();
                Ok(())
            },
        )?;
        let mut probe = Self {
            communicating: HashMap::new(),
            has_graphs: trace.has_table(GRAPH_TABLE),
        };
        for (names, any_node) in parts.unwrap_or_default() {
            probe.has_graphs |= any_node;
            for (name, ()) in names.iter() {
                let text = trace.name(Some(name))?;
                if taxonomy.classify(&text).is_communication() {
                    probe.communicating.insert(name, text);
                }
            }
        }
        Ok(probe)
    }
}

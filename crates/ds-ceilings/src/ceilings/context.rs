//! What the ceilings of one GPU are computed from.

use super::limit::Confidence;
use super::tensor;
use crate::gpu::{ComputeCap, GpuMatch, GpuSpec, GpuTable, Precision};
use crate::identity::GpuIdentity;

/// A machine's GPU beside the product it was recognised as.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) identity: &'a GpuIdentity,
    pub(super) table: &'a GpuTable,
    pub(super) found: GpuMatch<'a>,
}

impl<'a> Context<'a> {
    pub(super) fn new(identity: &'a GpuIdentity, table: &'a GpuTable) -> Self {
        Self {
            identity,
            table,
            found: table.find(&identity.query()),
        }
    }

    /// The product, if it was recognised.
    pub(super) fn spec(&self) -> Option<&'a GpuSpec> {
        self.found.found()
    }

    /// The compute capability, from the machine or the table.
    pub(super) fn compute_cap(&self) -> Option<ComputeCap> {
        self.identity
            .compute_cap
            .or_else(|| Some(self.spec()?.compute_cap))
    }

    /// The product, or the reason why its ceilings cannot be given.
    pub(super) fn whole_product(&self) -> Result<&'a GpuSpec, String> {
        match self.withheld() {
            Some(reason) => Err(reason),
            None => self.spec().ok_or_else(|| self.not_recognised()),
        }
    }

    /// Why nothing may be said although the product may be known.
    pub(super) fn withheld(&self) -> Option<String> {
        self.identity.is_vgpu().then(|| {
            "a guest does not see which share of the GPU its vGPU gets: run on the host to know"
                .to_owned()
        })
    }

    /// Why the product is not known.
    pub(super) fn not_recognised(&self) -> String {
        let name = &self.identity.name;
        match &self.found {
            GpuMatch::Found(spec) => format!("{} is known", spec.label()),
            GpuMatch::Ambiguous { candidates } => {
                let labels: Vec<&str> = candidates.iter().map(|spec| spec.label()).collect();
                format!(
                    "several products print `{name}`: {}; memory size or device-tree model tell",
                    labels.join(", ")
                )
            }
            GpuMatch::Unknown { similar } if similar.is_empty() => {
                format!("`{name}` is not in the table")
            }
            GpuMatch::Unknown { similar } => {
                format!(
                    "`{name}` is not in the table; similar names: {}",
                    similar.join(", ")
                )
            }
        }
    }

    /// Operations per clock and SM, how sure they are, and their source.
    ///
    /// For a product that the table lacks, the highest rate of any listed product of the same
    /// capability is a bound: the exceptions within a capability all lie below it.
    pub(super) fn rate(&self, precision: Precision) -> Result<(u32, Confidence, String), String> {
        if let Some(spec) = self.spec() {
            let ops = spec
                .ops_per_clk_sm(precision)
                .ok_or_else(|| tensor::no_rate(spec, precision))?;
            return Ok((ops, Confidence::High, spec.sources.join("; ")));
        }
        let cap = self.compute_cap().ok_or_else(|| self.not_recognised())?;
        let same = self
            .table
            .gpus()
            .iter()
            .filter(|spec| spec.compute_cap == cap);
        let ops = same.filter_map(|spec| spec.ops_per_clk_sm(precision)).max();
        let ops = ops.ok_or_else(|| {
            format!("no {precision} tensor rate of compute capability {cap} is known")
        })?;
        Ok((
            ops,
            Confidence::Low,
            format!("highest rate of the listed products of compute capability {cap}"),
        ))
    }
}

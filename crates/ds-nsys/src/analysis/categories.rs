//! Kernel time by category.

use std::collections::BTreeMap;

use super::names::NameFolding;
use super::taxonomy::{Category, Taxonomy};
use super::totals::{WorkKind, totals};
use crate::error::Result;
use crate::query::Window;
use crate::trace::Trace;
use crate::units::{Nanos, Share};

/// Which kernels are sorted into categories, and by which rules.
#[derive(Debug, Clone, Default)]
pub struct CategoryOptions {
    /// The part of the session.
    pub window: Window,
    /// The rules.
    pub taxonomy: Taxonomy,
    /// How kernel names are folded.
    pub folding: NameFolding,
}

/// Kernel time by category, over all ranks.
///
/// Shares are of the sum of kernel durations: kernels on several streams overlap, so the sum may exceed busy time. Kernels
/// inside graphs are among them only if the capture traced graph nodes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Categories {
    /// Which rules were used.
    pub taxonomy_version: String,
    /// The sum of all kernel durations.
    pub time: Nanos,
    /// Most time first.
    pub categories: Vec<CategoryTime>,
    /// The share that no rule knows.
    pub unclassified: Option<Share>,
}

impl Categories {
    /// More unclassified time than this is a finding: the rules do not fit the program.
    pub const UNCLASSIFIED_AT_MOST: Share = Share(0.1);

    /// Whether so much is unclassified that the split says little.
    #[must_use]
    pub fn is_mostly_known(&self) -> bool {
        self.unclassified
            .is_some_and(|share| share <= Self::UNCLASSIFIED_AT_MOST)
    }
}

/// The time of one category.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CategoryTime {
    /// The category.
    pub category: Category,
    /// The sum of its kernels' durations.
    pub time: Nanos,
    /// Its share of all kernels' durations.
    pub share: Option<Share>,
    /// Its kernels by folded name, most time first.
    pub kernels: Vec<KernelTime>,
    /// How many kernels it would be if all took the same time.
    pub effective_kernels: Option<EffectiveNumber>,
}

/// The time of the kernels of one folded name.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KernelTime {
    /// The folded name.
    pub name: String,
    /// How many ran.
    pub count: u64,
    /// The sum of their durations.
    pub time: Nanos,
    /// Their share of the category.
    pub share: Option<Share>,
}

/// One kernel or three: the number of equal parts that are as concentrated as the actual ones, 1 / Σp².
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct EffectiveNumber(pub f64);

impl EffectiveNumber {
    /// `None` without a part.
    pub(super) fn of(shares: impl IntoIterator<Item = Share>) -> Option<Self> {
        let concentration: f64 = shares.into_iter().map(|share| share.0.powi(2)).sum();
        (concentration > 0.0).then(|| Self(1.0 / concentration))
    }
}

impl Trace {
    /// Kernel time by category; `None` when the export has no kernels.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn categories(&self, options: &CategoryOptions) -> Result<Option<Categories>> {
        let ranks = totals(
            self,
            options.window,
            &options.taxonomy,
            options.folding,
            None,
        )?;
        let mut by_category: BTreeMap<Category, BTreeMap<String, (u64, Nanos)>> = BTreeMap::new();
        for (kind, total) in ranks.into_values().flatten() {
            if let WorkKind::Kernel { name, category } = kind {
                let kernels = by_category.entry(category).or_default();
                let kernel = kernels.entry(name).or_default();
                kernel.0 += total.count;
                kernel.1 += total.time;
            }
        }
        if by_category.is_empty() {
            return Ok(None);
        }
        let time_of = |kernels: &BTreeMap<String, (u64, Nanos)>| {
            kernels.values().map(|(_, time)| *time).sum()
        };
        let all: Nanos = by_category.values().map(time_of).sum();
        let mut categories: Vec<CategoryTime> = by_category
            .into_iter()
            .map(|(category, kernels)| {
                let time = time_of(&kernels);
                let mut kernels: Vec<KernelTime> = kernels
                    .into_iter()
                    .map(|(name, (count, of_kernel))| KernelTime {
                        name,
                        count,
                        time: of_kernel,
                        share: of_kernel.share_of(time),
                    })
                    .collect();
                // Stable: equal times keep the order of names.
                kernels.sort_by_key(|kernel| std::cmp::Reverse(kernel.time));
                CategoryTime {
                    category,
                    time,
                    share: time.share_of(all),
                    effective_kernels: EffectiveNumber::of(
                        kernels.iter().filter_map(|kernel| kernel.share),
                    ),
                    kernels,
                }
            })
            .collect();
        categories.sort_by_key(|category| std::cmp::Reverse(category.time));
        let unclassified: Nanos = categories
            .iter()
            .filter(|category| category.category.is_unclassified())
            .map(|category| category.time)
            .sum();
        Ok(Some(Categories {
            taxonomy_version: options.taxonomy.version().to_owned(),
            time: all,
            categories,
            unclassified: unclassified.share_of(all),
        }))
    }
}

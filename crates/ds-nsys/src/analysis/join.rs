//! Putting a trace beside a sampled profile of the same program.
//!
//! A sampling profiler runs for days and sees shares; a trace runs for seconds and sees durations. Both are sorted by the
//! same rules, so that a category means the same on both sides.

use std::collections::BTreeMap;

use super::categories::{Categories, CategoryOptions, EffectiveNumber, KernelTime};
use super::names::NameFolding;
use super::stats::share_of_count;
use super::taxonomy::{Category, Taxonomy};
use crate::error::{Error, Result};
use crate::trace::Trace;
use crate::units::Share;

/// What the text is called in an error message.
const WHAT: &str = "sampled profile";

/// A sampled profile: kernels, or whole categories, with how often each was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledProfile {
    entries: Vec<(String, u64)>,
    of: SampledItem,
}

/// What a sampled profile counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampledItem {
    /// Kernels by name.
    Kernel,
    /// Categories, under the names of this crate's rules or of another tool's.
    Category,
}

impl SampledProfile {
    /// Reads a table with a heading and two columns, `kernel` or `category` and `samples`, divided by tabs.
    ///
    /// # Errors
    ///
    /// Fails where the heading is another one, or a line has no number of samples.
    pub fn parse(tsv: &str) -> Result<Self> {
        let error = |line: usize, problem: String| Error::Input {
            what: WHAT,
            line: line + 1,
            problem,
        };
        let text = tsv.strip_prefix('\u{feff}').unwrap_or(tsv);
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let Some((at, heading)) = lines.next() else {
            return Err(error(0, "no heading".to_owned()));
        };
        let columns: Vec<String> = heading
            .split('\t')
            .map(|name| name.trim().to_lowercase())
            .collect();
        let position = |name: &str| columns.iter().position(|column| column == name);
        let (item, of) = match (position("kernel"), position("category")) {
            (Some(item), _) => (item, SampledItem::Kernel),
            (None, Some(item)) => (item, SampledItem::Category),
            (None, None) => {
                let problem = "no column `kernel` or `category`".to_owned();
                return Err(error(at, problem));
            }
        };
        let samples =
            position("samples").ok_or_else(|| error(at, "no column `samples`".to_owned()))?;
        let mut entries = Vec::new();
        for (at, line) in lines {
            let cells: Vec<&str> = line.split('\t').collect();
            let cell = |column: usize| {
                let cell = cells.get(column).map(|cell| cell.trim());
                cell.ok_or_else(|| {
                    error(at, format!("{} of {} columns", cells.len(), columns.len()))
                })
            };
            let count = cell(samples)?;
            let count = count
                .parse()
                .map_err(|_| error(at, format!("`{count}` is no number of samples")))?;
            entries.push((cell(item)?.to_owned(), count));
        }
        Ok(Self { entries, of })
    }

    /// What it counts.
    #[must_use]
    pub fn counts(&self) -> SampledItem {
        self.of
    }

    /// How many samples there are.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.entries
            .iter()
            .fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
    }
}

/// A trace and a sampled profile side by side.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Join {
    /// Which rules sorted both sides.
    pub taxonomy_version: String,
    /// How many samples the profile has.
    pub samples: u64,
    /// Every category of either side; the largest traced share first.
    pub rows: Vec<JoinRow>,
    /// Sampled items that the trace does not have: kernels by folded name, or categories under the profile's names.
    pub only_sampled: Vec<(String, Share)>,
    /// Traced kernels that the profile does not name; empty for a profile of categories.
    pub only_traced: Vec<(String, Share)>,
    /// The share of traced kernel time that no rule knows.
    pub unclassified: Option<Share>,
}

impl Join {
    /// A profile of fewer samples than this gives shares that chance moves by a point and more: the standard error of a
    /// share of one half is 1.6 points at 1,000 samples.
    pub const ENOUGH_SAMPLES: u64 = 1_000;

    /// Whether the profile is too small for its shares to be compared.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.samples < Self::ENOUGH_SAMPLES
    }
}

/// One category on both sides.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JoinRow {
    /// The category.
    pub category: Category,
    /// Its share of the samples; `None` where the profile does not have it.
    pub sampled: Option<Share>,
    /// Its share of the sum of kernel durations; `None` where the trace does not have it.
    pub traced: Option<Share>,
    /// Its kernels in the trace, most time first.
    pub kernels: Vec<KernelTime>,
    /// How many kernels of equal time they amount to.
    pub effective_kernels: Option<EffectiveNumber>,
}

impl JoinRow {
    /// How much larger the traced share is; a side that lacks the category counts as 0.
    #[must_use]
    pub fn difference(&self) -> Share {
        Share(self.traced.map_or(0.0, |share| share.0) - self.sampled.map_or(0.0, |share| share.0))
    }
}

impl Trace {
    /// Puts the trace beside a sampled profile; `None` when the export has no kernels.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn join(
        &self,
        sampled: &SampledProfile,
        options: &CategoryOptions,
    ) -> Result<Option<Join>> {
        let Some(traced) = self.categories(options)? else {
            return Ok(None);
        };
        Ok(Some(join(
            traced,
            sampled,
            &options.taxonomy,
            options.folding,
        )))
    }
}

fn join(
    traced: Categories,
    sampled: &SampledProfile,
    taxonomy: &Taxonomy,
    folding: NameFolding,
) -> Join {
    let samples = sampled.samples();
    let share = |count: u64| share_of_count(count, samples);
    let mut sampled_categories: BTreeMap<Category, u64> = BTreeMap::new();
    let mut sampled_kernels: BTreeMap<String, u64> = BTreeMap::new();
    let mut only_sampled = Vec::new();
    for (name, count) in &sampled.entries {
        let category = match sampled.of {
            SampledItem::Kernel => {
                let folded = sampled_kernels.entry(folding.fold(name)).or_default();
                *folded = folded.saturating_add(*count);
                taxonomy.classify(name)
            }
            SampledItem::Category => match taxonomy.category(name) {
                Some(category) => category,
                None => {
                    only_sampled.extend(share(*count).map(|share| (name.clone(), share)));
                    continue;
                }
            },
        };
        let of_category = sampled_categories.entry(category).or_default();
        *of_category = of_category.saturating_add(*count);
    }
    let mut only_traced = Vec::new();
    let mut rows = Vec::new();
    for of_trace in traced.categories {
        for kernel in &of_trace.kernels {
            let known = sampled_kernels.remove(&kernel.name).is_some();
            if !known && sampled.of == SampledItem::Kernel {
                let share = kernel.time.share_of(traced.time);
                only_traced.extend(share.map(|share| (kernel.name.clone(), share)));
            }
        }
        let of_profile = sampled_categories.remove(&of_trace.category);
        rows.push(JoinRow {
            category: of_trace.category,
            sampled: of_profile.and_then(share),
            traced: of_trace.share,
            kernels: of_trace.kernels,
            effective_kernels: of_trace.effective_kernels,
        });
    }
    let left = sampled_kernels.into_iter();
    only_sampled.extend(left.filter_map(|(name, count)| Some((name, share(count)?))));
    rows.extend(
        sampled_categories
            .into_iter()
            .map(|(category, count)| JoinRow {
                category,
                sampled: share(count),
                traced: None,
                kernels: Vec::new(),
                effective_kernels: None,
            }),
    );
    for unmatched in [&mut only_sampled, &mut only_traced] {
        // Stable: equal shares keep the order in which they were met.
        unmatched.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    }
    Join {
        taxonomy_version: traced.taxonomy_version,
        samples,
        rows,
        only_sampled,
        only_traced,
        unclassified: traced.unclassified,
    }
}

//! From the name that nvidia-smi prints to a product.

use super::spec::GpuSpec;
use super::table::GpuTable;
use crate::units::Bytes;

/// nvidia-smi's `memory.total` may differ from the nominal size by carve-outs below it (a 64 GB
/// Orin reports 61.3 GiB) or ECC; sizes of one name differ by a factor of 1.2 (10 and 12 GB) or
/// more, so a tenth on either side is safe.
const MEMORY_TOLERANCE: f64 = 0.1;

/// What is known about the GPU to be found.
#[derive(Clone, Copy, Debug, Default)]
pub struct GpuQuery<'a> {
    /// The printed name, or a label of the table.
    pub name: &'a str,
    /// The memory size, from `memory.total` or the `RAM` figure of tegrastats.
    pub memory: Option<Bytes>,
    /// Number of streaming multiprocessors.
    pub sm_count: Option<u32>,
    /// Memory bus width in bits.
    pub bus_bits: Option<u32>,
    /// The text of `/proc/device-tree/model`.
    pub device_tree: Option<&'a str>,
}

impl<'a> GpuQuery<'a> {
    /// A query by name alone.
    #[must_use]
    pub fn by_name(name: &'a str) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub enum GpuMatch<'a> {
    /// Exactly one product fits.
    Found(&'a GpuSpec),
    /// Several products carry this name and nothing given tells them apart, or none of them fits
    /// what was given.
    Ambiguous {
        /// The products of this name.
        candidates: Vec<&'a GpuSpec>,
    },
    /// No product carries this name.
    Unknown {
        /// Labels that contain the given text, for a hint.
        similar: Vec<&'a str>,
    },
}

impl<'a> GpuMatch<'a> {
    /// The product, if exactly one fits.
    #[must_use]
    pub fn found(&self) -> Option<&'a GpuSpec> {
        match self {
            Self::Found(spec) => Some(spec),
            Self::Ambiguous { .. } | Self::Unknown { .. } => None,
        }
    }
}

impl GpuTable {
    /// Finds a product.
    ///
    /// The name matches with and without `NVIDIA` or `Tesla` in front and in any letter case. A
    /// Jetson is found by its device-tree model even where the name is missing.
    #[must_use]
    pub fn find<'t>(&'t self, query: &GpuQuery<'_>) -> GpuMatch<'t> {
        let wanted = normal_form(query.name);
        let mut candidates: Vec<&GpuSpec> = self
            .gpus()
            .iter()
            .filter(|spec| answers_to(spec, &wanted))
            .collect();
        if candidates.is_empty()
            && let Some(model) = query.device_tree
        {
            candidates = self
                .gpus()
                .iter()
                .filter(|spec| named_in_device_tree(spec, model) == Some(true))
                .collect();
        }
        let fitting: Vec<&GpuSpec> = candidates
            .iter()
            .copied()
            .filter(|spec| fits(spec, query))
            .collect();
        match (fitting.as_slice(), candidates.is_empty()) {
            ([spec], _) => GpuMatch::Found(spec),
            (_, true) => GpuMatch::Unknown {
                similar: self.similar(&wanted),
            },
            ([], false) => GpuMatch::Ambiguous { candidates },
            (_, false) => GpuMatch::Ambiguous {
                candidates: fitting,
            },
        }
    }

    /// Labels that contain every word of the text.
    fn similar(&self, wanted: &str) -> Vec<&str> {
        let words: Vec<&str> = wanted.split(' ').filter(|word| !word.is_empty()).collect();
        self.names()
            .filter(|label| {
                let label = normal_form(label);
                !words.is_empty() && words.iter().all(|word| label.contains(word))
            })
            .collect()
    }
}

/// Lower case, single blanks, without the maker's and the brand's name: `Tesla T4`, `NVIDIA T4` and
/// `t4` are one.
fn normal_form(name: &str) -> String {
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    let skip = words
        .iter()
        .take_while(|word| matches!(word.as_str(), "nvidia" | "tesla"))
        .count();
    words[skip..].join(" ")
}

fn answers_to(spec: &GpuSpec, wanted: &str) -> bool {
    let names = [spec.name.as_str(), spec.label()];
    names
        .into_iter()
        .chain(spec.aliases.iter().map(String::as_str))
        .any(|name| normal_form(name) == *wanted)
}

/// Whether the device-tree model names this product; `None` if the product has none.
fn named_in_device_tree(spec: &GpuSpec, model: &str) -> Option<bool> {
    spec.select
        .device_tree
        .as_deref()
        .map(|part| model.to_lowercase().contains(&part.to_lowercase()))
}

/// Whether nothing that is known speaks against this product.
fn fits(spec: &GpuSpec, query: &GpuQuery<'_>) -> bool {
    // A label says which variant is meant; nothing else may overrule it.
    if spec.label() != spec.name && normal_form(spec.label()) == normal_form(query.name) {
        return true;
    }
    let model = query
        .device_tree
        .and_then(|model| named_in_device_tree(spec, model))
        .unwrap_or(true);
    let memory = match (spec.select.memory(), query.memory) {
        (Some(nominal), Some(seen)) => {
            let ratio = seen.get() as f64 / nominal.get() as f64;
            (1.0 - MEMORY_TOLERANCE..=1.0 + MEMORY_TOLERANCE).contains(&ratio)
        }
        _ => true,
    };
    // Counts decide only between products of one name: a part with fewer SMs than the table says is
    // still that part.
    let is_variant = spec.select.memory_mib.is_some() || spec.select.device_tree.is_some();
    let differs =
        |table: Option<u32>, seen: Option<u32>| table.zip(seen).is_some_and(|(a, b)| a != b);
    let counts =
        differs(spec.sm_count, query.sm_count) || differs(spec.memory.bus_bits, query.bus_bits);
    model && memory && !(is_variant && counts)
}

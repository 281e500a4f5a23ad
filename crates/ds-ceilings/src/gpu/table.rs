//! The data files, read once.

use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::compute_cap::ComputeCap;
use super::decoder::{DecoderEngine, JetsonModule};
use super::spec::{GpuSpec, optional_gib};
use crate::units::Bytes;

/// The product files, in the order in which listings show them.
const GPU_FILES: [&str; 7] = [
    include_str!("../../data/gpus/blackwell.toml"),
    include_str!("../../data/gpus/hopper.toml"),
    include_str!("../../data/gpus/ada.toml"),
    include_str!("../../data/gpus/ampere.toml"),
    include_str!("../../data/gpus/turing.toml"),
    include_str!("../../data/gpus/pascal_volta.toml"),
    include_str!("../../data/gpus/jetson.toml"),
];

/// What the crate knows about products, decoders and MIG profiles.
#[derive(Clone, Debug)]
pub struct GpuTable {
    gpus: Vec<GpuSpec>,
    engines: Vec<DecoderEngine>,
    modules: Vec<JetsonModule>,
    profiles: Vec<MigProfile>,
}

impl GpuTable {
    /// The table that ships with the crate.
    #[must_use]
    pub fn built_in() -> &'static Self {
        static TABLE: LazyLock<GpuTable> = LazyLock::new(|| {
            GpuTable::load().expect("the data files are part of the crate and a test reads them")
        });
        &TABLE
    }

    fn load() -> Result<Self, toml_edit::de::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Gpus {
            gpu: Vec<GpuSpec>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Nvdec {
            engine: Vec<DecoderEngine>,
            module: Vec<JetsonModule>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Mig {
            profile: Vec<MigProfile>,
        }

        let mut gpus = Vec::new();
        for text in GPU_FILES {
            gpus.extend(read::<Gpus>(text)?.gpu);
        }
        let nvdec: Nvdec = read(include_str!("../../data/nvdec.toml"))?;
        let mig: Mig = read(include_str!("../../data/mig.toml"))?;
        Ok(Self {
            gpus,
            engines: nvdec.engine,
            modules: nvdec.module,
            profiles: mig.profile,
        })
    }

    /// Every product, newest architecture first, Jetson last.
    #[must_use]
    pub fn gpus(&self) -> &[GpuSpec] {
        &self.gpus
    }

    /// The labels of all products, in the same order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.gpus.iter().map(GpuSpec::label)
    }

    /// The decoder engine of a compute capability; `None` if no document describes it.
    #[must_use]
    pub fn engine(&self, compute_cap: ComputeCap) -> Option<&DecoderEngine> {
        self.engines.iter().find(|engine| engine.is_in(compute_cap))
    }

    /// What NVIDIA prints for a whole Jetson module, by the label of the product.
    #[must_use]
    pub fn module(&self, label: &str) -> Option<&JetsonModule> {
        self.modules.iter().find(|module| module.name == label)
    }

    /// Every MIG profile.
    #[must_use]
    pub fn mig_profiles(&self) -> &[MigProfile] {
        &self.profiles
    }

    /// A MIG profile by the printed name of its GPU and its own name, such as `3g.71gb`. Outputs of
    /// real machines come before unverified entries of the same name.
    #[must_use]
    pub fn mig_profile(&self, gpu: &str, profile: &str) -> Option<&MigProfile> {
        self.profiles
            .iter()
            .filter(|candidate| candidate.gpu == gpu && candidate.name == profile)
            .min_by_key(|candidate| candidate.basis)
    }
}

/// How well a MIG profile is known; the better comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileBasis {
    /// nvidia-smi printed it.
    Output,
    /// The MIG User Guide prints it.
    Official,
    /// A test fixture says it.
    Unverified,
}

/// What one instance of a MIG profile gets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MigProfile {
    /// The printed name of the GPU.
    pub gpu: String,
    /// The name of the profile, such as `3g.71gb`.
    pub name: String,
    /// Its streaming multiprocessors.
    pub sm_count: u32,
    /// Its engines.
    pub engines: ProfileEngines,
    /// Its memory.
    #[serde(rename = "memory_gib", default, deserialize_with = "optional_gib")]
    pub memory: Option<Bytes>,
    /// How many instances of it fit on the GPU.
    pub max_instances: Option<u32>,
    /// How well it is known.
    pub basis: ProfileBasis,
    /// What else a reader should know.
    pub notes: Option<String>,
    /// Where the values come from.
    pub source: String,
}

/// The engines of a MIG profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProfileEngines {
    /// Video decoders. Zero is a value.
    pub nvdec: u32,
    /// Video encoders.
    pub nvenc: Option<u32>,
    /// Copy engines.
    pub copy: Option<u32>,
    /// JPEG decoders.
    pub jpeg: Option<u32>,
    /// Optical-flow engines.
    pub ofa: Option<u32>,
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, toml_edit::de::Error> {
    toml_edit::de::from_str(text)
}

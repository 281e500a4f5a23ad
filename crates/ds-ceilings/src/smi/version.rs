//! `nvidia-smi --version`.

use crate::error::{Error, Output, SmiFailure};

/// The versions that nvidia-smi prints about itself and the driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SmiVersion {
    /// Of the program.
    pub smi: Option<String>,
    /// Of the management library.
    pub nvml: Option<String>,
    /// Of the kernel driver.
    pub driver: Option<String>,
    /// The highest CUDA version of the driver.
    pub cuda: Option<String>,
}

impl SmiVersion {
    /// Reads the four to six lines. From driver 610 on, the old names of driver and CUDA carry a
    /// remark instead of a version, and new names carry the version.
    ///
    /// # Errors
    ///
    /// If the text is an error of nvidia-smi or names no version.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if let Some(failure) = SmiFailure::from_text(text) {
            return Err(failure.into());
        }
        let mut versions = Self::default();
        for (name, value) in text.lines().filter_map(|line| line.split_once(" : ")) {
            let Some(value) = is_version(value).then(|| value.trim().to_owned()) else {
                continue;
            };
            match name.trim().to_lowercase().as_str() {
                "nvidia-smi version" => versions.smi = Some(value),
                "nvml version" => versions.nvml = Some(value),
                "driver version" | "kmd version" => versions.driver = Some(value),
                "cuda version" | "cuda umd version" => versions.cuda = Some(value),
                _ => {}
            }
        }
        if versions == Self::default() {
            return Err(Error::Missing {
                output: Output::Version,
                what: "version",
            });
        }
        Ok(versions)
    }
}

fn is_version(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

//! What machines reached beside what bounds them.

use std::sync::LazyLock;

use serde::Deserialize;

/// One measured value, to be set against the ceiling of the same id.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measurement {
    /// The printed name of the GPU.
    pub gpu: String,
    /// The driver.
    pub driver: String,
    /// The day, as `2026-11-30`.
    pub date: String,
    /// The program, and what it did.
    pub how: String,
    /// The id of the ceiling, as in [`CeilingRow::id`](super::CeilingRow::id), where there are two
    /// that of the published one.
    pub id: String,
    /// In the unit of that ceiling.
    pub value: f64,
}

/// Every measurement that ships with the crate, by run.
#[must_use]
pub fn measurements() -> &'static [Measurement] {
    static ALL: LazyLock<Vec<Measurement>> =
        LazyLock::new(|| load().expect("the data file is part of the crate and a test reads it"));
    &ALL
}

fn load() -> Result<Vec<Measurement>, toml_edit::de::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        run: Vec<Run>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Run {
        gpu: String,
        driver: String,
        date: String,
        how: String,
        values: Vec<Value>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Value {
        id: String,
        value: f64,
    }

    let file: File = toml_edit::de::from_str(include_str!("../../data/measured.toml"))?;
    let mut all = Vec::new();
    for run in file.run {
        for Value { id, value } in run.values {
            all.push(Measurement {
                gpu: run.gpu.clone(),
                driver: run.driver.clone(),
                date: run.date.clone(),
                how: run.how.clone(),
                id,
                value,
            });
        }
    }
    Ok(all)
}

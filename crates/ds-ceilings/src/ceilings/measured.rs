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
    /// What ran.
    pub how: String,
    /// The id of the ceiling, as in [`CeilingRow::id`](super::CeilingRow::id).
    pub id: String,
    /// In the unit of that ceiling.
    pub value: f64,
    /// What bounded the measurement, where it was not the hardware.
    pub limit: Option<String>,
}

/// Every measurement that ships with the crate.
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
        how: String,
        values: Vec<Value>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Value {
        id: String,
        value: f64,
        limit: Option<String>,
    }

    let file: File = toml_edit::de::from_str(include_str!("../../data/measured.toml"))?;
    let mut all = Vec::new();
    for run in file.run {
        for Value { id, value, limit } in run.values {
            let (gpu, driver, how) = (run.gpu.clone(), run.driver.clone(), run.how.clone());
            all.push(Measurement {
                gpu,
                driver,
                how,
                id,
                value,
                limit,
            });
        }
    }
    Ok(all)
}

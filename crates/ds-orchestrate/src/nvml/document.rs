//! `hw/nvml.json`.

use serde::{Deserialize, Serialize};

use super::{NvmlAnswer, NvmlError, NvmlGpu};

/// The place of the reading below the root of a bundle.
pub const NVML_FILE: &str = "hw/nvml.json";

/// The format of that file; raised when a reader of the old one would misread the new one.
pub const NVML_SCHEMA: &str = "dsprof.nvml/1";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    answer: Answer,
}

/// A failure is part of the recording: a replay then says what the run said.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Gpus(Vec<NvmlGpu>),
    Failure(NvmlError),
}

/// The file as text.
///
/// # Errors
///
/// When it cannot be put into JSON.
pub(crate) fn render(answer: &NvmlAnswer) -> Result<String, serde_json::Error> {
    let answer = match answer {
        Ok(gpus) => Answer::Gpus(gpus.clone()),
        Err(error) => Answer::Failure(error.clone()),
    };
    let document = Document {
        schema: NVML_SCHEMA.to_owned(),
        answer,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Reads the file.
///
/// # Errors
///
/// What is wrong with it, in words.
pub(crate) fn parse(bytes: &[u8]) -> Result<NvmlAnswer, String> {
    let value: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let schema = value.get("schema").and_then(serde_json::Value::as_str);
    if schema != Some(NVML_SCHEMA) {
        let found = schema.unwrap_or("(none)");
        return Err(format!(
            "its schema is `{found}`, this dsprof reads `{NVML_SCHEMA}`"
        ));
    }
    let document: Document = serde_json::from_value(value).map_err(|error| error.to_string())?;
    Ok(match document.answer {
        Answer::Gpus(gpus) => Ok(gpus),
        Answer::Failure(error) => Err(error),
    })
}

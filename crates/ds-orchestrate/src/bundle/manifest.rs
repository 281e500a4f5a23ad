//! `bundle.json`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::BundleError;

/// The format of the bundle directory; raised when a reader of the old one would misread the new one.
pub const SCHEMA: &str = "dsprof.bundle/1";

/// What `bundle.json` holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of the dsprof that wrote the bundle.
    pub dsprof: String,
    /// What the run was asked to do.
    pub inputs: Inputs,
    /// The stages in their order with their state.
    pub stages: Vec<StageRecord>,
    /// SHA-256 of every file of the bundle by its relative path, `bundle.json` and the lock apart.
    pub files: BTreeMap<String, String>,
}

/// What a run was asked to do: everything that decides which commands run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// The subcommand.
    pub command: String,
    /// The pipeline file as it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    /// SHA-256 of the pipeline and of every file it refers to that was read, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pipeline_files: BTreeMap<String, String>,
    /// Arguments by name, as text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, String>,
    /// Who measured what: a sentence for the report where a stand-in ran in place of the pipeline's own program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<String>,
}

/// The stages that can be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageName {
    /// Stage 1: read the pipeline.
    Inspect,
    /// Stage 2: identity and ceilings.
    Hw,
    /// Stage 3: the batch sweep.
    Sweep,
    /// Stage 4: the rules.
    Derive,
    /// Stage 5: capture and clean run.
    Profile,
    /// The report.
    Report,
    /// Exports of reports that nsys wrote elsewhere.
    Export,
}

impl fmt::Display for StageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inspect => "inspect",
            Self::Hw => "hw",
            Self::Sweep => "sweep",
            Self::Derive => "derive",
            Self::Profile => "profile",
            Self::Report => "report",
            Self::Export => "export",
        })
    }
}

/// How far a stage came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageState {
    /// It began and did not end.
    Started,
    /// It did its work.
    Finished,
    /// It ended with this error.
    Failed(String),
}

/// A stage and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageRecord {
    /// Which stage.
    pub name: StageName,
    /// How far it came.
    pub state: StageState,
}

impl Manifest {
    /// The manifest of a new bundle.
    pub fn new(inputs: Inputs) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            dsprof: env!("CARGO_PKG_VERSION").to_owned(),
            inputs,
            stages: Vec::new(),
            files: BTreeMap::new(),
        }
    }

    /// Reads `bundle.json` of the bundle in `root`.
    ///
    /// # Errors
    ///
    /// When it is absent, malformed, or of a schema that this dsprof does not know.
    pub fn read(root: &Path) -> Result<Self, BundleError> {
        let path = root.join("bundle.json");
        let bytes = fs::read(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => BundleError::NotABundle {
                path: root.to_owned(),
            },
            _ => BundleError::io("read", &path, source),
        })?;
        let malformed = |reason: String| BundleError::Malformed {
            path: path.clone(),
            reason,
        };
        let value: serde_json::Value =
            serde_json::from_slice(&bytes).map_err(|e| malformed(e.to_string()))?;
        let schema = value
            .get("schema")
            .and_then(|s| s.as_str())
            .unwrap_or("(none)");
        if schema != SCHEMA {
            return Err(BundleError::Schema {
                path: root.to_owned(),
                found: schema.to_owned(),
            });
        }
        let manifest: Self = serde_json::from_value(value).map_err(|e| malformed(e.to_string()))?;
        // A bundle may come from somebody else, and what it names is copied and removed.
        match manifest.files.keys().find(|file| !lies_inside(file)) {
            Some(file) => Err(malformed(format!("`{file}` lies outside the bundle"))),
            None => Ok(manifest),
        }
    }

    /// The first item in which `inputs` or this dsprof differ from what the bundle was made with: item, recorded, now.
    pub fn difference(&self, inputs: &Inputs) -> Option<(String, String, String)> {
        let version = env!("CARGO_PKG_VERSION");
        let own = &self.inputs;
        let none = || "(none)".to_owned();
        let single = [
            ("dsprof version", self.dsprof.clone(), version.to_owned()),
            ("command", own.command.clone(), inputs.command.clone()),
            (
                "pipeline",
                own.pipeline.clone().unwrap_or_else(none),
                inputs.pipeline.clone().unwrap_or_else(none),
            ),
        ];
        if let Some((item, recorded, now)) = single
            .into_iter()
            .find(|(_, recorded, now)| recorded != now)
        {
            return Some((item.to_owned(), recorded, now));
        }
        let maps = [
            ("", &own.arguments, &inputs.arguments),
            ("SHA-256 of ", &own.pipeline_files, &inputs.pipeline_files),
        ];
        let by_key = maps.into_iter().find_map(|(prefix, recorded, now)| {
            recorded.keys().chain(now.keys()).find_map(|key| {
                let (recorded, now) = (recorded.get(key), now.get(key));
                (recorded != now).then(|| {
                    let text = |value: Option<&String>| value.cloned().unwrap_or_else(none);
                    (format!("{prefix}{key}"), text(recorded), text(now))
                })
            })
        });
        let provenance = || {
            let (recorded, now) = (own.provenance.clone(), inputs.provenance.clone());
            (recorded != now).then(|| {
                let text = |value: Option<String>| value.unwrap_or_else(none);
                ("provenance".to_owned(), text(recorded), text(now))
            })
        };
        by_key.or_else(provenance)
    }

    /// The state of `stage`, `None` when it never began.
    pub fn stage(&self, stage: StageName) -> Option<&StageState> {
        self.stages
            .iter()
            .find(|s| s.name == stage)
            .map(|s| &s.state)
    }

    /// The stages that did their work.
    pub fn finished(&self) -> Vec<StageName> {
        let finished = |stage: &&StageRecord| stage.state == StageState::Finished;
        self.stages
            .iter()
            .filter(finished)
            .map(|stage| stage.name)
            .collect()
    }

    pub(super) fn set_stage(&mut self, name: StageName, state: StageState) {
        match self.stages.iter_mut().find(|s| s.name == name) {
            Some(stage) => stage.state = state,
            None => self.stages.push(StageRecord { name, state }),
        }
    }
}

/// Whether a relative path leads to a file below the directory that it is relative to.
fn lies_inside(file: &str) -> bool {
    let mut components = Path::new(file).components().peekable();
    components.peek().is_some() && components.all(|c| matches!(c, Component::Normal(_)))
}

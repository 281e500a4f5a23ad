//! Groups and keys, whether they stand in a key file or in YAML.

use crate::error::Error;
use crate::ini::IniType;
use crate::line_index::Place;
use crate::model::{Document, Knob, KnobValue, Locator, Reading, Site, SourceFile, read};

/// A file of groups and keys.
#[derive(Clone, Copy)]
pub(super) struct Keyed<'a> {
    file: &'a SourceFile,
}

impl<'a> Keyed<'a> {
    pub(super) fn new(file: &'a SourceFile) -> Self {
        Self { file }
    }

    /// The groups in the order of the file, each once.
    pub(super) fn groups(self) -> Vec<String> {
        match &self.file.document {
            Document::Ini(document) => document
                .groups()
                .into_iter()
                .map(|name| name.into_owned())
                .collect(),
            Document::Yaml(document) => {
                let mut names: Vec<String> = Vec::new();
                for (key, _) in document.groups() {
                    let name = key.text_lossy().unwrap_or_default().into_owned();
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                names
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn has(self, group: &str) -> bool {
        match &self.file.document {
            Document::Ini(document) => document.has_group(group),
            Document::Yaml(document) => document.group(group).is_some(),
            _ => false,
        }
    }

    /// Where a group begins.
    pub(super) fn place(self, group: &str) -> Place {
        let place = match &self.file.document {
            Document::Ini(document) => document.group_place(group),
            Document::Yaml(document) => document
                .groups()
                .find(|(key, _)| key.text() == Some(group))
                .map(|(key, _)| key.place()),
            _ => None,
        };
        place.unwrap_or_else(|| self.file.place(0))
    }

    /// A whole number, as the program's integer getter reads it; an error where it refuses it.
    pub(super) fn integer(self, group: &str, key: &'static str) -> Result<Option<i64>, Error> {
        let value = self.peek(group, key, IniType::Integer, Knob::MuxBatchSize)?;
        Ok(value.as_ref().and_then(KnobValue::integer))
    }

    /// A text.
    pub(super) fn text(self, group: &str, key: &'static str) -> Option<String> {
        let value = self
            .peek(group, key, IniType::String, Knob::MuxConfigFile)
            .ok()??;
        value.text().map(str::to_owned)
    }

    /// A flag, as `key` is read in this form; an error where the program refuses it.
    pub(super) fn flag(
        self,
        group: &str,
        key: &'static str,
        read_as: IniType,
    ) -> Result<Option<bool>, Error> {
        let value = self.peek(group, key, read_as, Knob::SinkSync)?;
        Ok(value.as_ref().and_then(KnobValue::flag))
    }

    /// A list of texts with `;` between.
    pub(super) fn list(self, group: &str, key: &'static str) -> Option<Vec<String>> {
        match &self.file.document {
            Document::Ini(document) => document.get(group, key)?.string_list().ok(),
            _ => Some(
                self.text(group, key)?
                    .split(';')
                    .map(str::to_owned)
                    .collect(),
            ),
        }
    }

    /// Reads a key in the way in which `like` is read.
    fn peek(
        self,
        group: &str,
        key: &'static str,
        read_as: IniType,
        like: Knob,
    ) -> Result<Option<KnobValue>, Error> {
        match read(self.file, &self.locator(group, key, read_as), like) {
            Reading::Value { value, .. } => Ok(Some(value)),
            Reading::Invalid { error, .. } => Err(error),
            Reading::Absent | Reading::Computed { .. } => Ok(None),
        }
    }

    /// The place of a key.
    pub(super) fn locator(self, group: &str, key: &'static str, read_as: IniType) -> Locator {
        let group = group.to_owned();
        match self.file.document {
            Document::Yaml(_) => Locator::Yaml { group, key },
            _ => Locator::Ini {
                group,
                key,
                read_as,
            },
        }
    }
}

/// The place of a key of one of the files.
pub(super) fn site(
    keyed: Keyed<'_>,
    file: usize,
    group: &str,
    key: &'static str,
    read_as: IniType,
) -> Site {
    Site {
        file,
        locator: keyed.locator(group, key, read_as),
    }
}

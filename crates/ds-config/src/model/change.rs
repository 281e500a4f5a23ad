//! Changes of knobs, as edits of the files where they stand.

use super::Pipeline;
use super::element::FilePlace;
use super::knob::KnobValue;
use super::setting::{KnobSetting, Target};
use super::site::{self, Write};
use crate::error::{Error, ErrorKind};
use crate::text_edit::TextEdit;

/// The edit of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The path as the caller's [`FileSource`](crate::FileSource) knows it.
    pub path: String,
    /// The edit, made against the bytes that were read.
    pub edit: TextEdit,
}

/// What a change of knobs does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The edits, one a file, in the order in which the files were read. Files that stay as they
    /// are have none.
    pub files: Vec<FileEdit>,
    /// The knobs that change, in the order in which they were given. A knob that has its value
    /// already is not among them.
    pub knobs: Vec<KnobChange>,
}

/// One knob that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnobChange {
    /// Which knob of which element.
    pub target: Target,
    /// The value before; `None` where no place gave one.
    pub old: Option<KnobValue>,
    /// The value after.
    pub new: KnobValue,
    /// Where the value stands; for one that is added, where its element stands or else the start of
    /// the file.
    pub place: FilePlace,
    /// The properties that went away with the old element, since the new one lacks them.
    pub dropped: Vec<String>,
}

impl Pipeline {
    /// The edit that gives one knob its value. See [`Pipeline::set_all`].
    ///
    /// # Errors
    ///
    /// As [`Pipeline::set_all`].
    pub fn set(&self, target: Target, value: impl Into<KnobValue>) -> Result<Change, Error> {
        self.set_all(&[(target, value.into())])
    }

    /// The edits that give knobs their values, each at the place that wins.
    ///
    /// A value that stands there already needs no edit, so that setting twice is setting once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] for a knob that the element does not have in this form,
    /// [`ErrorKind::NotEditable`] with the place and the value to write there by hand where a
    /// program or the shell computes the value, [`ErrorKind::InvalidValue`] for a value of another
    /// kind, [`ErrorKind::Conflict`] for a knob given twice, and for two knobs that share a place and
    /// are given different values.
    pub fn set_all(&self, values: &[(Target, KnobValue)]) -> Result<Change, Error> {
        let mut planned: Vec<(usize, Write<'_>, usize)> = Vec::new();
        let mut change = Change::default();
        let coerced = self.coerce(values)?;
        for (setting, value) in &coerced {
            if setting.value.as_ref() == Some(value) {
                continue;
            }
            let site = setting
                .chosen
                .filter(|_| setting.not_editable.is_none())
                .and_then(|chosen| setting.sites.get(chosen))
                .ok_or_else(|| self.not_editable(setting, value))?;
            let write = Write {
                locator: &site.locator,
                knob: setting.target.knob,
                value,
            };
            let rival = planned
                .iter()
                .find(|(file, held, _)| *file == site.file && held.locator == write.locator);
            match rival {
                // Two elements may share a file, and with it the place of a knob.
                Some((_, held, _)) if held.value == write.value => {}
                Some((_, held, _)) => return Err(conflict(setting, held.value, value)),
                None => planned.push((site.file, write, change.knobs.len())),
            }
            change.knobs.push(KnobChange {
                target: setting.target,
                old: setting.value.clone(),
                new: value.clone(),
                place: setting
                    .place
                    .clone()
                    .unwrap_or_else(|| self.place_to_add(setting.target, site.file)),
                dropped: Vec::new(),
            });
        }
        planned.sort_by_key(|(file, _, order)| (*file, *order));
        for group in planned.chunk_by(|a, b| a.0 == b.0) {
            let file = &self.files[group[0].0];
            let writes: Vec<Write<'_>> = group.iter().map(|(_, write, _)| *write).collect();
            let (edit, dropped) =
                site::write(file, &writes).map_err(|error| error.in_file(&file.path))?;
            for ((_, _, order), dropped) in group.iter().zip(dropped) {
                change.knobs[*order].dropped = dropped;
            }
            if !edit.is_empty() {
                change.files.push(FileEdit {
                    path: file.path.clone(),
                    edit,
                });
            }
        }
        Ok(change)
    }

    /// Finds the settings, and brings the values into the kinds that the knobs take.
    fn coerce(
        &self,
        values: &[(Target, KnobValue)],
    ) -> Result<Vec<(&KnobSetting, KnobValue)>, Error> {
        let mut out: Vec<(&KnobSetting, KnobValue)> = Vec::new();
        for (target, value) in values {
            let key = target.knob.key();
            let setting = self.knob(*target).ok_or_else(|| {
                let message = format!("the element has no `{key}` in this form");
                Error::new(ErrorKind::NotFound, message)
            })?;
            let value = value.coerced(target.knob.kind()).ok_or_else(|| {
                let message = format!("`{value}` is no value for `{key}`");
                Error::new(ErrorKind::InvalidValue, message)
            })?;
            if out.iter().any(|(other, _)| other.target == *target) {
                return Err(Error::new(
                    ErrorKind::Conflict,
                    format!("`{key}` is set twice"),
                ));
            }
            out.push((setting, value));
        }
        Ok(out)
    }

    /// Why a knob cannot be changed, with the place and the value to write there by hand.
    fn not_editable(&self, setting: &KnobSetting, value: &KnobValue) -> Error {
        let reason = setting
            .not_editable
            .as_deref()
            .unwrap_or("no file of the pipeline can hold it");
        let message = format!(
            "{reason}; `{}` should be {value}",
            setting.target.knob.key()
        );
        let error = Error::new(ErrorKind::NotEditable, message);
        let element = self.element(setting.target.element);
        match setting
            .place
            .as_ref()
            .or(element.map(|element| &element.place))
        {
            Some(place) => error.at(place.place).in_file(&place.path),
            None => error,
        }
    }

    /// The place to name for a value that is added to a file.
    fn place_to_add(&self, target: Target, file: usize) -> FilePlace {
        let file = &self.files[file];
        match self.element(target.element) {
            Some(element) if element.place.path == file.path => element.place.clone(),
            _ => FilePlace {
                path: file.path.clone(),
                place: file.place(0),
            },
        }
    }
}

/// Two elements that share a place ask for different values.
fn conflict(setting: &KnobSetting, one: &KnobValue, other: &KnobValue) -> Error {
    let key = setting.target.knob.key();
    let message = format!("two elements share `{key}`, and it is to be {one} and {other}");
    Error::new(ErrorKind::Conflict, message)
}

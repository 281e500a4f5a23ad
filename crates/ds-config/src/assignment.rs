//! A value for a property of an element, in whichever language the element is made.

use crate::error::{Error, ErrorKind};
use crate::line_index::Place;
use crate::text_edit::TextEdit;

/// A value to be given to a property of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PropertyAssignment<'a> {
    /// The number of the element, in the order of the text.
    pub element: usize,
    /// The property.
    pub name: &'a str,
    /// The value as the element is to get it.
    pub value: &'a str,
}

/// The edit that makes assignments and that reads back.
///
/// `attempt` gives the edit of some assignments, and whether the text after it reads as asked. They
/// are tried all at once, since reading a large text takes its time; if that fails, one by one, for
/// the error to name the one that is at fault.
pub(crate) fn made_sure(
    assignments: &[PropertyAssignment<'_>],
    not_taken: impl Fn(&PropertyAssignment<'_>) -> Error,
    attempt: impl Fn(&[PropertyAssignment<'_>]) -> Result<(TextEdit, bool), Error>,
) -> Result<TextEdit, Error> {
    let (edit, is_taken) = attempt(assignments)?;
    if is_taken {
        return Ok(edit);
    }
    for one in assignments {
        if let (_, false) = attempt(&[*one])? {
            return Err(not_taken(one));
        }
    }
    Err(assignments.first().map_or_else(
        || Error::new(ErrorKind::NotEditable, "the text cannot be edited"),
        not_taken,
    ))
}

/// The refusal of an assignment after which the text would not read as asked.
pub(crate) fn not_taken_at(place: Place) -> impl Fn(&PropertyAssignment<'_>) -> Error {
    move |assignment| {
        let PropertyAssignment { name, value, .. } = assignment;
        let message = format!("`{name}` cannot be written here: set it to `{value}` by hand");
        Error::new(ErrorKind::NotEditable, message).at(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assign(name: &str) -> PropertyAssignment<'_> {
        PropertyAssignment {
            element: 0,
            name,
            value: "1",
        }
    }

    /// Tries assignments of which those called `bad` do not read back.
    fn outcome(names: &[&str]) -> Result<TextEdit, Error> {
        let assignments: Vec<_> = names.iter().map(|name| assign(name)).collect();
        let place = Place { line: 1, column: 1 };
        made_sure(&assignments, not_taken_at(place), |tried| {
            let all_good = tried.iter().all(|one| one.name != "bad");
            Ok((TextEdit::insert(tried.len(), "x"), all_good))
        })
    }

    #[test]
    fn good_assignments_are_made_at_once() {
        assert_eq!(outcome(&["a", "b"]), Ok(TextEdit::insert(2, "x")));
    }

    #[test]
    fn the_one_at_fault_is_named() {
        let error = outcome(&["a", "bad", "b"]).expect_err("one does not read back");
        assert_eq!(error.kind(), ErrorKind::NotEditable);
        assert_eq!(
            error.to_string(),
            "1:1: `bad` cannot be written here: set it to `1` by hand"
        );
    }

    #[test]
    fn a_failure_that_none_has_alone_names_the_first() {
        let place = Place { line: 1, column: 1 };
        let error = made_sure(&[assign("a"), assign("b")], not_taken_at(place), |tried| {
            Ok((TextEdit::empty(), tried.len() == 1))
        });
        let error = error.expect_err("both together do not read back");
        assert!(error.message().starts_with("`a` cannot"), "{error}");
    }
}

//! Typed rows: which columns a summary reads, declared once.

use rusqlite::types::ValueRef;

use super::Fields;
use crate::error::Result;

/// Whether rows mean anything without a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needed {
    /// Without it the table cannot be read.
    Always,
    /// A release that lacks it has no such information: the field is `None`.
    IfThere,
}

/// One column of a [`Record`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) needed: Needed,
}

impl Column {
    /// A column without which the table cannot be read.
    pub(crate) const fn always(name: &'static str) -> Self {
        Self {
            name,
            needed: Needed::Always,
        }
    }

    /// A column that some releases lack; its field is then `None`.
    pub(crate) const fn if_there(name: &'static str) -> Self {
        Self {
            name,
            needed: Needed::IfThere,
        }
    }
}

/// A Rust type that a column can be read into.
pub(crate) trait Field: Sized {
    /// Whether the column must exist.
    const NEEDED: Needed;
    /// What the schema promises, for the error message.
    const WANTED: &'static str;

    /// `None` when the value has another type.
    fn from_value(value: ValueRef<'_>) -> Option<Self>;
}

impl Field for i64 {
    const NEEDED: Needed = Needed::Always;
    const WANTED: &'static str = "an integer";

    fn from_value(value: ValueRef<'_>) -> Option<Self> {
        match value {
            ValueRef::Integer(value) => Some(value),
            _ => None,
        }
    }
}

impl Field for Option<i64> {
    const NEEDED: Needed = Needed::IfThere;
    const WANTED: &'static str = "an integer or NULL";

    fn from_value(value: ValueRef<'_>) -> Option<Self> {
        match value {
            ValueRef::Integer(value) => Some(Some(value)),
            ValueRef::Null => Some(None),
            _ => None,
        }
    }
}

/// A row of one table, as far as one summary needs it.
pub(crate) trait Record: Sized {
    /// The table.
    const TABLE: &'static str;
    /// The columns, in the order in which [`Record::read`] asks for them.
    const COLUMNS: &'static [Column];

    /// Takes the fields out of the current row.
    fn read(fields: &Fields<'_, '_>) -> Result<Self>;
}

/// Declares records: `struct Name: "TABLE" { field: type = "column", … }`.
macro_rules! records {
    ($($(#[$meta:meta])* struct $name:ident: $table:literal {
        $($(#[$field_meta:meta])* $field:ident: $kind:ty = $column:literal),+ $(,)?
    })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        struct $name { $($(#[$field_meta])* $field: $kind),+ }

        impl $crate::rows::Record for $name {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [$crate::rows::Column] = &[$($crate::rows::Column {
                name: $column,
                needed: <$kind as $crate::rows::Field>::NEEDED,
            }),+];

            fn read(fields: &$crate::rows::Fields<'_, '_>) -> $crate::error::Result<Self> {
                let mut position = 0..;
                $(let $field = fields.next(&mut position)?;)+
                Ok(Self { $($field),+ })
            }
        }
    )+};
}
pub(crate) use records;

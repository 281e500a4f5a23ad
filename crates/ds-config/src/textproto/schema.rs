//! What a message may hold: text protobuf cannot be read without knowing it.

/// The fields of one kind of message.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtoMessage {
    fields: &'static [ProtoField],
}

impl ProtoMessage {
    /// A message with these fields. Messages must not contain themselves.
    #[must_use]
    pub const fn new(fields: &'static [ProtoField]) -> Self {
        Self { fields }
    }

    /// The fields in the order of their declaration.
    #[must_use]
    pub fn fields(&self) -> &'static [ProtoField] {
        self.fields
    }

    /// The field of this name; names are case-sensitive.
    #[must_use]
    pub fn field(&self, name: &[u8]) -> Option<&'static ProtoField> {
        self.fields
            .iter()
            .find(|field| field.name.as_bytes() == name)
    }
}

/// One field of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProtoField {
    name: &'static str,
    kind: ProtoKind,
    label: ProtoLabel,
}

impl ProtoField {
    /// A field that may be given once.
    #[must_use]
    pub const fn singular(name: &'static str, kind: ProtoKind) -> Self {
        Self {
            name,
            kind,
            label: ProtoLabel::Singular,
        }
    }

    /// A field that may be given any number of times, or as a list in brackets. A `map` is one: its
    /// entries are messages with a `key` and a `value`.
    #[must_use]
    pub const fn repeated(name: &'static str, kind: ProtoKind) -> Self {
        Self {
            name,
            kind,
            label: ProtoLabel::Repeated,
        }
    }

    /// A member of a `oneof`: of the fields with the same group name one may be given.
    #[must_use]
    pub const fn one_of(group: &'static str, name: &'static str, kind: ProtoKind) -> Self {
        Self {
            name,
            kind,
            label: ProtoLabel::OneOf(group),
        }
    }

    /// The name as it stands in a file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What its value is.
    #[must_use]
    pub fn kind(&self) -> ProtoKind {
        self.kind
    }

    /// How often it may be given.
    #[must_use]
    pub fn label(&self) -> ProtoLabel {
        self.label
    }
}

/// How often a field may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtoLabel {
    /// Once.
    Singular,
    /// Any number of times.
    Repeated,
    /// Once, and no other member of the named group beside it.
    OneOf(&'static str),
}

/// The type of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtoKind {
    /// A whole number in 32 bits.
    Int32,
    /// A whole number in 64 bits.
    Int64,
    /// A whole number in 32 bits, not negative.
    Uint32,
    /// A whole number in 64 bits, not negative.
    Uint64,
    /// A number with a fraction.
    Float,
    /// A flag.
    Bool,
    /// A text in quotes.
    String,
    /// One of some names with their numbers; a number may be written too.
    Enum(&'static [(&'static str, i32)]),
    /// A message.
    Message(&'static ProtoMessage),
}

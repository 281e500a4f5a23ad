//! The model of this process.

use std::sync::OnceLock;

use crate::model::{Model, ModelError};

/// The model that the environment describes, read once.
pub(super) fn model() -> Result<&'static Model, &'static ModelError> {
    static MODEL: OnceLock<Result<Model, ModelError>> = OnceLock::new();
    MODEL.get_or_init(Model::from_env).as_ref()
}

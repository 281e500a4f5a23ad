//! The lint rules.

mod corpus;
mod file_rules;
mod files;
mod reports;
mod rules;
mod world;

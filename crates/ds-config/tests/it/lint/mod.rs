//! The lint rules.

mod corpus;
mod files;
mod reports;
mod rules;
mod world;

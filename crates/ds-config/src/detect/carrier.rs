//! Texts that can carry a pipeline, and that this crate does not read.

use std::fmt;

/// A recognised text that is declined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Carrier {
    /// A C or C++ program.
    C,
    /// A Rust program.
    Rust,
    /// A Jupyter notebook.
    Notebook,
    /// A Jinja, Helm or Go template.
    Template,
    /// A Dockerfile.
    Dockerfile,
    /// A shell script that writes a configuration from a here-document.
    HereDocument,
    /// A Kubernetes manifest.
    Kubernetes,
    /// A module file of Savant.
    Savant,
    /// A ds3d pipeline.
    Ds3d,
    /// A description for inference_builder.
    InferenceBuilder,
    /// A graph of Graph Composer.
    GraphComposer,
    /// A key file of another program or plugin.
    OtherKeyFile,
    /// A YAML file of another schema.
    OtherYaml,
    /// A TOML file.
    Toml,
}

impl Carrier {
    /// What a person can do instead, as a sentence.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::C | Self::Rust => {
                "set the properties in the program by hand, and give the nvinfer file to dsprof by itself"
            }
            Self::Notebook => "export the cells as a Python script and give that to dsprof",
            Self::Template => {
                "render the template, and carry the values that dsprof writes back to it by hand"
            }
            Self::Dockerfile | Self::HereDocument => {
                "build or run it, and give the configuration that it writes to dsprof"
            }
            Self::Kubernetes => "put the file that it holds beside it, and give that to dsprof",
            Self::Savant => {
                "set the batch in the module's `parameters` by hand, and give the nvinfer file to dsprof"
            }
            Self::Ds3d | Self::InferenceBuilder | Self::GraphComposer => {
                "set the values in that program's own format by hand"
            }
            Self::OtherKeyFile | Self::OtherYaml | Self::Toml => {
                "give dsprof the deepstream-app file, the nvinfer file, the script or the Python program that uses it"
            }
        }
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::C => "C or C++ program",
            Self::Rust => "Rust program",
            Self::Notebook => "notebook",
            Self::Template => "template",
            Self::Dockerfile => "Dockerfile",
            Self::HereDocument => "script with a here-document",
            Self::Kubernetes => "Kubernetes manifest",
            Self::Savant => "Savant module",
            Self::Ds3d => "ds3d pipeline",
            Self::InferenceBuilder => "inference_builder description",
            Self::GraphComposer => "Graph Composer graph",
            Self::OtherKeyFile => "key file of another program",
            Self::OtherYaml => "YAML of another schema",
            Self::Toml => "TOML file",
        })
    }
}

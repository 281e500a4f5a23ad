//! Where nsys is.

use std::time::Duration;

use super::version::NsysVersion;
use crate::error::Error;
use crate::process::{CommandSpec, RunError};
use crate::stages::Session;

/// An nsys that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::stages) struct Nsys {
    /// Its name or path.
    pub(in crate::stages) program: String,
    /// Its release; `None` where it does not say it.
    pub(in crate::stages) version: Option<NsysVersion>,
    /// Why it is not the one that was named.
    pub(in crate::stages) instead: Option<String>,
}

/// How long `nsys --version` may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The folders below which NVIDIA's installers put nsys: `/opt/nvidia/nsight-systems/2025.3.2/bin` and the same for the
/// package of the command line alone, `/usr/local/cuda-12.8/bin` for the CUDA toolkit.
const FOLDERS: [&str; 2] = ["/opt/nvidia", "/usr/local"];

/// The nsys that the session names, else one in a folder of NVIDIA's installers: missing on the path, or too old there.
/// The inner error says why there is none.
///
/// # Errors
///
/// When the run is interrupted, or a replay does not hold the command.
pub(in crate::stages) fn find(session: &Session<'_>) -> Result<Result<Nsys, String>, Error> {
    let named = session.nsys.clone();
    let reason = match look_at(session, "profile/nsys-version", &named)? {
        Ok(version) => {
            return Ok(Ok(Nsys {
                program: named,
                version,
                instead: None,
            }));
        }
        Err(reason) => reason,
    };
    // A path was meant; another nsys than that one would surprise.
    if named.contains('/') {
        return Ok(Err(reason));
    }
    for (index, program) in elsewhere(session)?.into_iter().enumerate() {
        let purpose = format!("profile/nsys-version-{}", index + 2);
        if let Ok(version) = look_at(session, &purpose, &program)? {
            return Ok(Ok(Nsys {
                program,
                version,
                instead: Some(reason),
            }));
        }
    }
    Ok(Err(format!(
        "{reason}; none that can be used lies below {} either: name one with `--nsys`",
        FOLDERS.join(" or ")
    )))
}

/// The release of an nsys; inside, why it is not used.
fn look_at(
    session: &Session<'_>,
    purpose: &str,
    program: &str,
) -> Result<Result<Option<NsysVersion>, String>, Error> {
    let spec = CommandSpec::new(purpose, program, ["--version"]).timeout(PATIENCE);
    match session.runner.run_quietly(&spec) {
        Ok(outcome) => {
            let version = NsysVersion::parse(&outcome.stdout_text());
            Ok(match version.and_then(NsysVersion::unfit) {
                Some(why) => Err(why),
                None => Ok(version),
            })
        }
        Err(RunError::NotFound { program }) => Ok(Err(format!("`{program}` was not found"))),
        Err(RunError::Io { program, source }) => {
            Ok(Err(format!("could not run `{program}`: {source}")))
        }
        Err(error) => Err(error.into()),
    }
}

/// What lies in the folders of NVIDIA's installers, the newest first.
fn elsewhere(session: &Session<'_>) -> Result<Vec<String>, Error> {
    let tests = ["-maxdepth", "4", "-path", "*/bin/nsys"];
    let spec = CommandSpec::new(
        "profile/find-nsys",
        "find",
        FOLDERS.into_iter().chain(tests),
    )
    .timeout(PATIENCE);
    // A folder that is not there makes `find` end with status 1 and hides nothing of the other.
    let found = match session.ask_newly(&spec) {
        Ok(Some(outcome)) => outcome.stdout_text(),
        Ok(None) | Err(RunError::NotFound { .. } | RunError::Io { .. }) => String::new(),
        Err(error) => return Err(error.into()),
    };
    let mut paths: Vec<String> = found
        .lines()
        .filter(|line| line.ends_with("/bin/nsys"))
        .map(str::to_owned)
        .collect();
    paths.sort_by_key(|path| std::cmp::Reverse(numbers(path)));
    Ok(paths)
}

/// The numbers in a path, which order folders by the release in their names.
fn numbers(path: &str) -> Vec<u32> {
    path.split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn the_newest_folder_is_tried_first() {
        let older = "/opt/nvidia/nsight-systems/2024.6.2/bin/nsys";
        let newer = "/opt/nvidia/nsight-systems/2024.10.1/bin/nsys";
        assert!(numbers(newer) > numbers(older));
        assert!(numbers(older) > numbers("/usr/local/cuda-12.8/bin/nsys"));
    }
}

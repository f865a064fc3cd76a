//! `syntagma-fuzz TARGET… [--seconds N] [--seed N]`: random input for the named targets, or for all of them.
//! `syntagma-fuzz TARGET --file FILE`: one input again.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use syntagma_fuzz::files;
use syntagma_fuzz::mutate::mutate;
use syntagma_fuzz::noise::Noise;
use syntagma_fuzz::targets::{TARGETS, Target};
use syntagma_fuzz::usage::{peak_memory, processor_time};

/// Memory that the process may take, in KiB.
const MEMORY: u64 = 500 << 10;
/// Processor time after which an input counts as one that hangs. A grammar is read, written in two languages, read again
/// from both and compiled, and each of these is to take less than a second; how much less is the machine's affair, so the
/// slowest time is printed and only a multiple of it is a finding.
const HANG: Duration = Duration::from_secs(10);
/// The stack of a thread, as Rust's standard library makes them.
const STACK: usize = 2 << 20;
/// Inputs that are kept.
const KEPT: usize = 4_000;

fn main() -> ExitCode {
    let (mut seconds, mut seed, mut chosen, mut file) = (60, 0, Vec::new(), None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = |next: Option<String>| next.and_then(|text| text.parse().ok());
        match argument.as_str() {
            "--seconds" => seconds = value(arguments.next()).unwrap_or(seconds),
            "--file" => file = arguments.next(),
            "--seed" => seed = value(arguments.next()).unwrap_or(seed),
            name => {
                let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
                    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
                    eprintln!("no target {name:?}; there are {}", names.join(" "));
                    return ExitCode::from(2);
                };
                chosen.push(*target);
            }
        }
    }
    if chosen.is_empty() {
        chosen.extend(TARGETS);
    }
    if let (Some(file), [target]) = (file, &chosen[..]) {
        return again(target, &file);
    }
    for target in chosen {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let run = thread.spawn(move || fuzz(target, Duration::from_secs(seconds), seed));
        if !run.is_ok_and(|thread| thread.join().is_ok_and(|clean| clean)) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Runs one input and says how long it took.
fn again(target: &Target, file: &str) -> ExitCode {
    let input = match std::fs::read(file) {
        Ok(input) => input,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::from(2);
        }
    };
    let started = processor_time();
    (target.run)(&input);
    println!("{:?}", processor_time().saturating_sub(started));
    ExitCode::SUCCESS
}

/// Whether nothing was found.
fn fuzz(target: Target, duration: Duration, seed: u64) -> bool {
    let current = scratch(&format!("{}.current", target.name));
    let mut kept: Vec<Vec<u8>> = Vec::new();
    let mut reached: HashSet<u64> = HashSet::new();
    let mut noise = Noise::new(seed);
    let begin = Instant::now();
    let mut waiting: Vec<Vec<u8>> = match files(target.name) {
        Ok(files) => files
            .iter()
            .filter_map(|file| std::fs::read(file).ok())
            .collect(),
        Err(error) => {
            eprintln!("{}: the corpus cannot be read: {error}", target.name);
            return false;
        }
    };
    let mut runs = 0u64;
    let mut slowest = Duration::ZERO;
    loop {
        let input = waiting.pop().unwrap_or_else(|| {
            let mut input = kept
                .get(noise.below(kept.len()))
                .cloned()
                .unwrap_or_default();
            let other = kept
                .get(noise.below(kept.len()))
                .map_or(&[][..], Vec::as_slice);
            mutate(&mut input, target.words, other, &mut noise);
            input
        });
        // Should the process die, this is what it died of.
        let _ = std::fs::write(&current, &input);
        let started = processor_time();
        let answer = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
        let time = processor_time().saturating_sub(started);
        runs += 1;
        slowest = slowest.max(time);
        let finding = match &answer {
            Err(_) => Some("a panic".to_owned()),
            Ok(_) if time > HANG => Some(format!("{time:?}")),
            Ok(_) if peak_memory() > MEMORY => Some(format!("{} MiB", peak_memory() >> 10)),
            Ok(_) => None,
        };
        if let Some(finding) = finding {
            let file = scratch(&format!("{}-{runs}", target.name));
            let _ = std::fs::write(&file, &input);
            eprintln!("{}: {finding}: {}", target.name, file.display());
            return false;
        }
        let mut new = false;
        for (position, feature) in answer.unwrap_or_default().into_iter().enumerate() {
            new |= reached.insert(feature.rotate_left(position as u32));
        }
        if new && kept.len() < KEPT {
            kept.push(input);
        }
        if begin.elapsed() >= duration {
            break;
        }
    }
    let _ = std::fs::remove_file(&current);
    println!(
        "{}: {runs} inputs, {} kept, the slowest took {slowest:.1?}, memory {} MiB",
        target.name,
        kept.len(),
        peak_memory() >> 10
    );
    true
}

/// A file beside what the build makes.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fuzz");
    let _ = std::fs::create_dir_all(&folder);
    folder.join(name)
}

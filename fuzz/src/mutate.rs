//! Small changes to an input.

use crate::noise::Noise;

/// Inputs grow no longer than this, except by repetition.
const LENGTH: usize = 4 << 10;
/// A span is repeated up to so many bytes: deep nesting and long lists come from here.
const REPEATED: usize = 64 << 10;

/// Changes `input` in one to six places. `words` mean something to the target, `other` is an input that was kept.
pub fn mutate(input: &mut Vec<u8>, words: &[&str], other: &[u8], noise: &mut Noise) {
    for _ in 0..=noise.below(6) {
        let at = noise.below(input.len() + 1);
        let most = 1 << noise.below(8);
        let length = noise.below(1 + most.min(input.len() - at));
        match noise.below(10) {
            0 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << noise.below(8);
                }
            }
            1 => input.insert(at, noise.any() as u8),
            2 | 3 => {
                input.drain(at..at + length);
            }
            4 | 5 if !words.is_empty() => {
                input.splice(at..at, noise.one(words).bytes());
            }
            6 => {
                let span = input[at..at + length].to_vec();
                let to = noise.below(input.len() + 1);
                input.splice(to..to, span);
            }
            7 => {
                let from = noise.below(other.len() + 1);
                let taken = noise.below(other.len() - from + 1);
                input.splice(at..at + length, other[from..from + taken].iter().copied());
            }
            8 => {
                let number = [
                    0,
                    1,
                    2,
                    255,
                    256,
                    1_000_000,
                    u64::from(u32::MAX),
                    noise.any(),
                ];
                let digits = number[noise.below(number.len())].to_string();
                input.splice(at..at, digits.into_bytes());
            }
            _ if length > 0 && noise.below(16) == 0 => {
                let times = noise.below(REPEATED / length);
                let span = input[at..at + length].repeat(times);
                input.splice(at..at, span);
            }
            _ => input.truncate(at),
        }
        if input.len() > REPEATED * 2 {
            input.truncate(LENGTH);
        }
    }
}

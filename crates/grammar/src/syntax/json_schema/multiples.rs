//! Multiples of a number, between bounds: an automaton that reads digits, whose states are the remainder and how what was
//! read compares with each bound. Each state is a rule.

use std::cmp::Ordering;

use super::decimal::Decimal;
use super::demands::Demands;
use super::keywords::Types;
use super::lower::Lowering;
use super::number::Bound;
use crate::error::Error;
use crate::ir::{ByteSet, Expr, ExprId, Regex, RuleId};
use crate::maps::IdMap;
use crate::tuning::{
    MARKS_PER_UNIT, MAX_EXCLUDED_NUMBERS, MAX_MULTIPLE_EDGES, MAX_MULTIPLE_STATES, MAX_REMAINDER,
    UNITS_PER_MULTIPLE_STATE,
};

/// What is left of a remainder where all digits that count are read: a multiple of what it should be of, and of nothing else.
const MULTIPLE: u64 = u64::MAX - 1;
const OTHER: u64 = u64::MAX - 2;
/// After the last digit that any multiple has stood one that is not zero.
const BEYOND: u64 = u64::MAX;

/// A number that what is read is compared with, by size.
struct Mark {
    int: Vec<u8>,
    frac: Vec<u8>,
    /// Outcomes of the comparison that are allowed.
    allowed: fn(Ordering) -> bool,
}

/// What is asked of the size of a number.
struct Reader {
    modulus: u64,
    /// (factor, negated), times `10^places`.
    factors: Vec<(u64, bool)>,
    places: usize,
    /// What the sizes of numbers without and with a minus are compared with.
    marks: [Vec<Mark>; 2],
    types: Types,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    Start,
    /// The integer part is the digit zero.
    Zero,
    Int,
    Point,
    /// This number of digits after the point.
    Frac(usize),
    /// More digits after the point than any multiple has.
    Beyond,
}

/// How what was read compares with a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Compared {
    order: Ordering,
    digits: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct DigitState {
    phase: Phase,
    remainder: u64,
    /// Whether a digit after the point is no zero.
    fraction: bool,
    /// Whether there is a minus; forgotten with the marks.
    negative: bool,
    /// One for each mark; none once no digit can make a difference to any of them.
    compared: Vec<Compared>,
}

impl Reader {
    fn start(&self, negative: bool) -> DigitState {
        let equal = Compared {
            order: Ordering::Equal,
            digits: 0,
        };
        DigitState {
            phase: Phase::Start,
            remainder: 0,
            fraction: false,
            negative,
            compared: vec![equal; self.marks[usize::from(negative)].len()],
        }
    }

    fn marks(&self, state: &DigitState) -> &[Mark] {
        &self.marks[usize::from(state.negative)]
    }

    /// What follows a digit; None where none may.
    fn digit(&self, state: &DigitState, digit: u8) -> Option<DigitState> {
        let mut next = state.clone();
        next.phase = match state.phase {
            Phase::Start if digit == b'0' => Phase::Zero,
            Phase::Start | Phase::Int => Phase::Int,
            Phase::Zero => return None,
            Phase::Point => self.after_point(1),
            Phase::Frac(count) => self.after_point(count + 1),
            Phase::Beyond => Phase::Beyond,
        };
        let inside = matches!(next.phase, Phase::Zero | Phase::Int);
        if next.phase == Phase::Beyond {
            // Not a multiple of anything any more.
            if digit != b'0' && self.factors.iter().any(|(_, negated)| !negated) {
                return None;
            }
            if digit != b'0' {
                next.remainder = BEYOND;
            }
        } else {
            next.remainder = (state.remainder * 10 + u64::from(digit - b'0')) % self.modulus;
        }
        next.fraction |= !inside && digit != b'0';
        for (compared, mark) in next.compared.iter_mut().zip(self.marks(state)) {
            let digits = if inside { &mark.int } else { &mark.frac };
            let other = digits.get(compared.digits);
            if compared.order == Ordering::Equal {
                let other = other.copied().unwrap_or(b'0');
                if inside || compared.digits < digits.len() || digit != b'0' {
                    compared.order = digit.cmp(&other);
                }
            }
            compared.digits = if inside {
                (compared.digits + 1).min(digits.len() + 1)
            } else if compared.order == Ordering::Equal {
                (compared.digits + 1).min(digits.len())
            } else {
                0
            };
            if inside && compared.digits > digits.len() {
                compared.order = Ordering::Greater;
            }
        }
        self.settled(next)
    }

    /// The state without what no digit can change any more; None where no number can end.
    fn settled(&self, mut state: DigitState) -> Option<DigitState> {
        let read = match state.phase {
            Phase::Point => Some(0),
            Phase::Frac(count) => Some(count),
            _ => None,
        };
        if read == Some(self.places) && state.remainder < self.modulus {
            let fits = self.divides(state.remainder, 0);
            state.remainder = if fits { MULTIPLE } else { OTHER };
        }
        let inside = matches!(state.phase, Phase::Zero | Phase::Int);
        let mut open = false;
        for (compared, mark) in state.compared.iter().zip(self.marks(&state)) {
            let decided = if inside {
                compared.order == Ordering::Greater && compared.digits >= mark.int.len()
            } else {
                compared.order != Ordering::Equal
            };
            if decided && !(mark.allowed)(compared.order) {
                return None;
            }
            open |= !decided;
        }
        if !open {
            state.compared = Vec::new();
            state.negative = false;
        }
        Some(state)
    }

    fn after_point(&self, count: usize) -> Phase {
        if count <= self.places {
            Phase::Frac(count)
        } else {
            Phase::Beyond
        }
    }

    /// What follows a point; None where none may.
    fn point(&self, state: &DigitState) -> Option<DigitState> {
        let inside = matches!(state.phase, Phase::Zero | Phase::Int);
        if !inside || !self.types.has(Types::FRACTION) {
            return None;
        }
        let mut next = state.clone();
        next.phase = Phase::Point;
        for (compared, mark) in next.compared.iter_mut().zip(self.marks(state)) {
            *compared = Compared {
                order: int_order(*compared, mark),
                digits: 0,
            };
        }
        self.settled(next)
    }

    /// Whether a number may end here.
    fn accepts(&self, state: &DigitState) -> bool {
        let read = match state.phase {
            Phase::Start | Phase::Point => return false,
            Phase::Zero | Phase::Int => 0,
            Phase::Frac(count) => count,
            Phase::Beyond => self.places,
        };
        let kind = if state.fraction {
            Types::FRACTION
        } else {
            Types::INTEGER
        };
        let inside = matches!(state.phase, Phase::Zero | Phase::Int);
        self.types.has(kind)
            && state
                .compared
                .iter()
                .zip(self.marks(state))
                .all(|(compared, mark)| {
                    let order = if inside {
                        int_order(*compared, mark)
                    } else {
                        compared.order
                    };
                    let rest = if inside { 0 } else { compared.digits };
                    let order = if order == Ordering::Equal && rest < mark.frac.len() {
                        Ordering::Less
                    } else {
                        order
                    };
                    (mark.allowed)(order)
                })
            && self.divides(state.remainder, self.places - read)
    }

    fn divides(&self, remainder: u64, missing: usize) -> bool {
        if matches!(remainder, MULTIPLE | OTHER) {
            return remainder == MULTIPLE;
        }
        let remainder = (remainder != BEYOND)
            .then(|| (0..missing).fold(remainder, |remainder, _| remainder * 10 % self.modulus));
        self.factors
            .iter()
            .all(|(factor, negated)| remainder.is_some_and(|rest| rest % factor == 0) != *negated)
    }
}

/// How an integer part that ends here compares.
fn int_order(compared: Compared, mark: &Mark) -> Ordering {
    match compared.digits.cmp(&mark.int.len()) {
        Ordering::Equal => compared.order,
        order => order,
    }
}

impl Lowering<'_> {
    /// Numbers by their multiples; None where that takes too many states.
    pub(super) fn multiples(&mut self, demands: &Demands) -> Result<Option<ExprId>, Error> {
        let places = demands
            .multiples
            .iter()
            .map(|multiple| multiple.factor.frac.len())
            .max()
            .unwrap_or(0);
        let mut factors = Vec::new();
        let mut modulus = 1u64;
        for multiple in &demands.multiples {
            let Some(factor) = multiple.factor.scaled(places) else {
                return Ok(None);
            };
            modulus = modulus / common(modulus, factor) * factor.min(MAX_REMAINDER + 1);
            if factor > MAX_REMAINDER || modulus > MAX_REMAINDER {
                return Ok(None);
            }
            factors.push((factor, multiple.negated));
        }
        // What is no multiple anyway need not be excluded.
        let excluded: Vec<Decimal> = demands
            .excluded
            .iter()
            .filter(|value| value.is_number())
            .filter_map(|value| Decimal::parse(&value.to_string()))
            .filter(|value| {
                demands.multiples.iter().all(|multiple| {
                    let is_one = value.is_multiple_of(&multiple.factor);
                    is_one.is_none_or(|is_one| is_one != multiple.negated)
                })
            })
            .collect();
        if excluded.len() > MAX_EXCLUDED_NUMBERS {
            return Ok(None);
        }
        let [positive, negative] =
            [false, true].map(|negative| marks(demands, &excluded, negative));
        let signs: Vec<bool> = [(&positive, false), (&negative, true)]
            .into_iter()
            .filter_map(|(marks, sign)| marks.is_some().then_some(sign))
            .collect();
        let reader = Reader {
            modulus,
            factors,
            places,
            marks: [positive.unwrap_or_default(), negative.unwrap_or_default()],
            types: demands.types,
        };
        let Some(sizes) = self.automaton(&reader, &signs)? else {
            return Ok(None);
        };
        let mut parts = Vec::with_capacity(signs.len());
        for (negative, size) in signs.into_iter().zip(sizes) {
            parts.push(if negative {
                let minus = self.builder.literal(b"-");
                self.builder.seq(vec![minus, size])
            } else {
                size
            });
        }
        Ok(Some(self.builder.alt(parts)))
    }

    /// One rule a state from which a number can still end; the size of a number of each sign.
    fn automaton(&mut self, reader: &Reader, signs: &[bool]) -> Result<Option<Vec<ExprId>>, Error> {
        let mut states: Vec<DigitState> = signs.iter().map(|&sign| reader.start(sign)).collect();
        let mut numbers: IdMap<DigitState, usize> = states.iter().cloned().zip(0..).collect();
        let mut edges: Vec<Vec<(usize, ByteSet)>> = Vec::new();
        while let Some(state) = states.get(edges.len()).cloned() {
            self.spend(UNITS_PER_MULTIPLE_STATE + 11 * state.compared.len() / MARKS_PER_UNIT)?;
            if states.len() > MAX_MULTIPLE_STATES || self.digits > MAX_MULTIPLE_EDGES {
                return Ok(None);
            }
            let digits = (b'0'..=b'9').map(|digit| (digit, reader.digit(&state, digit)));
            let point = (b'.', reader.point(&state));
            let mut own: Vec<(usize, ByteSet)> = Vec::new();
            for (byte, to) in digits.chain([point]) {
                let Some(to) = to else { continue };
                let to = *numbers.entry(to.clone()).or_insert_with(|| {
                    states.push(to);
                    states.len() - 1
                });
                match own.iter_mut().find(|(known, _)| *known == to) {
                    Some((_, set)) => set.insert(byte),
                    None => own.push((to, ByteSet::byte(byte))),
                }
            }
            self.digits += own.len();
            edges.push(own);
        }
        let ends: Vec<bool> = states.iter().map(|state| reader.accepts(state)).collect();
        let live = live(&edges, &ends);
        let rules: Vec<RuleId> = states.iter().map(|_| self.fresh("digits")).collect();
        for (at, own) in edges.iter().enumerate() {
            let mut parts = Vec::with_capacity(own.len() + 1);
            for &(to, set) in own.iter().filter(|&&(to, _)| live[to]) {
                let byte = self.builder.regex(Regex::Class(set));
                let to = self.builder.reference(rules[to]);
                parts.push(self.builder.seq(vec![byte, to]));
            }
            if ends[at] {
                parts.push(self.builder.add(Expr::Empty));
            }
            let body = self.builder.alt(parts);
            self.builder.define(rules[at], body);
        }
        let starts = rules.iter().take(signs.len());
        Ok(Some(
            starts.map(|&rule| self.builder.reference(rule)).collect(),
        ))
    }
}

/// From which states one that ends can be reached.
fn live(edges: &[Vec<(usize, ByteSet)>], ends: &[bool]) -> Vec<bool> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for (from, own) in edges.iter().enumerate() {
        for &(to, _) in own {
            before[to].push(from);
        }
    }
    let mut live = ends.to_vec();
    let mut work: Vec<usize> = (0..ends.len()).filter(|&at| ends[at]).collect();
    while let Some(at) = work.pop() {
        for &from in &before[at] {
            if !live[from] {
                live[from] = true;
                work.push(from);
            }
        }
    }
    live
}

fn common(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left.max(1)
}

/// What the sizes of all numbers of one sign are compared with; None where there are none.
fn marks(demands: &Demands, excluded: &[Decimal], negative: bool) -> Option<Vec<Mark>> {
    let mark = |value: &Decimal, allowed: fn(Ordering) -> bool| Mark {
        int: if value.int.is_empty() {
            b"0".to_vec()
        } else {
            value.int.clone()
        },
        frac: value.frac.clone(),
        allowed,
    };
    let mut marks = Vec::new();
    let zero = Decimal::default();
    if negative {
        // Zero is written without a sign.
        marks.push(mark(&zero, Ordering::is_gt));
    }
    let (near, far) = if negative {
        (&demands.maximum, &demands.minimum)
    } else {
        (&demands.minimum, &demands.maximum)
    };
    let on_side = |bound: &Bound| bound.value.negative == negative || bound.value.is_zero();
    if let Some(near) = near.as_ref().filter(|bound| on_side(bound)) {
        let allowed = if near.exclusive {
            Ordering::is_gt
        } else {
            Ordering::is_ge
        };
        marks.push(mark(&near.value, allowed));
    }
    if let Some(far) = far {
        if !on_side(far) {
            return None;
        }
        let allowed = if far.exclusive {
            Ordering::is_lt
        } else {
            Ordering::is_le
        };
        marks.push(mark(&far.value, allowed));
    }
    for value in excluded {
        if value.negative == negative {
            marks.push(mark(value, Ordering::is_ne));
        }
    }
    Some(marks)
}

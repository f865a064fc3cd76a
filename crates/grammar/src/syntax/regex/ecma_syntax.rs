//! What ECMA-262 refuses and Rust's syntax takes: quantifiers without something to repeat, group names that come twice,
//! flags that are none, properties of other names (ECMA-262, sections 22.2.1 and B.1.2).

/// Why a pattern cannot be translated.
pub(super) struct Failure {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) offset: usize,
}

impl Failure {
    pub(super) fn syntax(offset: usize, message: impl Into<String>) -> Self {
        Self {
            code: "E-REGEX-SYNTAX",
            message: message.into(),
            offset,
        }
    }

    pub(super) fn unsupported(offset: usize, message: impl Into<String>) -> Self {
        Self {
            code: "E-REGEX-UNSUPPORTED",
            message: message.into(),
            offset,
        }
    }
}

/// How far a pattern has been read, as far as it decides what may come next.
pub(super) struct Syntax<'p> {
    /// Whether something stands before that a quantifier may repeat.
    repeatable: bool,
    groups: Vec<Group>,
    /// How many groups were opened.
    opened: usize,
    names: Vec<(&'p str, Vec<Alternative>)>,
}

/// A group that is open; the pattern itself is the outermost.
struct Group {
    alternative: Alternative,
    repeatable: bool,
}

/// A group's number, and which of its alternatives.
#[derive(Clone, Copy)]
struct Alternative {
    group: usize,
    number: usize,
}

impl<'p> Syntax<'p> {
    pub(super) fn new() -> Self {
        let mut syntax = Self {
            repeatable: false,
            groups: Vec::new(),
            opened: 0,
            names: Vec::new(),
        };
        syntax.open(false);
        syntax
    }

    /// A character, a class or an escape that stands for characters.
    pub(super) fn atom(&mut self) {
        self.repeatable = true;
    }

    /// An edge of the text or of a word.
    pub(super) fn edge(&mut self) {
        self.repeatable = false;
    }

    /// A group; `repeatable` says whether a quantifier may follow it.
    pub(super) fn open(&mut self, repeatable: bool) {
        let alternative = Alternative {
            group: self.opened,
            number: 0,
        };
        self.groups.push(Group {
            alternative,
            repeatable,
        });
        self.opened += 1;
        self.repeatable = false;
    }

    /// The group is over. One that was never opened is found by who reads the translation.
    pub(super) fn close(&mut self) {
        if self.groups.len() > 1 {
            let group = self.groups.pop();
            self.repeatable = group.is_some_and(|group| group.repeatable);
        }
    }

    /// The next alternative of the innermost group begins.
    pub(super) fn bar(&mut self) {
        if let Some(group) = self.groups.last_mut() {
            group.alternative.number += 1;
        }
        self.repeatable = false;
    }

    /// A quantifier, with the `?` that may follow it.
    pub(super) fn quantifier(&mut self, at: usize) -> Result<(), Failure> {
        if !std::mem::take(&mut self.repeatable) {
            return Err(Failure::syntax(
                at,
                "there is nothing here that a quantifier can repeat",
            ));
        }
        Ok(())
    }

    /// The name of the group that is opened next: it may come again only where one of both cannot match.
    pub(super) fn name(&mut self, at: usize, name: &'p str) -> Result<(), Failure> {
        let letter = |c: char| c.is_alphabetic() || matches!(c, '_' | '$');
        if !name.starts_with(letter) || !name.chars().all(|c| letter(c) || c.is_alphanumeric()) {
            return Err(Failure::syntax(
                at,
                format!("{name:?} cannot be the name of a group"),
            ));
        }
        let path: Vec<Alternative> = self.groups.iter().map(|group| group.alternative).collect();
        let beside = |other: &[Alternative]| {
            let pairs = other.iter().zip(&path);
            pairs
                .take_while(|(left, right)| left.group == right.group)
                .any(|(left, right)| left.number != right.number)
        };
        let mut same = self.names.iter().filter(|(known, _)| *known == name);
        if !same.all(|(_, other)| beside(other)) {
            return Err(Failure::syntax(
                at,
                format!("two groups have the name {name:?}"),
            ));
        }
        self.names.push((name, path));
        Ok(())
    }
}

/// Whether `(?flags:` opens a group: `i`, `m`, `s`, each at most once, some of them after a hyphen.
pub(super) fn are_flags(text: &str) -> bool {
    let letters: String = text.chars().filter(|&c| c != '-').collect();
    let once = |c: char| "ims".contains(c) && letters.matches(c).count() == 1;
    !letters.is_empty() && letters.chars().all(once) && text.matches('-').count() <= 1
}

/// Whether `\p{name}` is a property; `name=value` is looked up by who reads the translation.
pub(super) fn is_property(name: &str) -> bool {
    match name.split_once('=') {
        Some((key, _)) => [
            "General_Category",
            "gc",
            "Script",
            "sc",
            "Script_Extensions",
            "scx",
        ]
        .contains(&key),
        None => PROPERTIES.split_whitespace().any(|known| known == name),
    }
}

/// General categories and binary properties (ECMA-262, tables 'Binary Unicode property aliases' and 'Value aliases and
/// canonical values for the Unicode property `General_Category`').
const PROPERTIES: &str = "
    Cased_Letter LC Close_Punctuation Pe Connector_Punctuation Pc Control Cc cntrl Currency_Symbol Sc Dash_Punctuation Pd
    Decimal_Number Nd digit Enclosing_Mark Me Final_Punctuation Pf Format Cf Initial_Punctuation Pi Letter L
    Letter_Number Nl Line_Separator Zl Lowercase_Letter Ll Mark M Combining_Mark Math_Symbol Sm Modifier_Letter Lm
    Modifier_Symbol Sk Nonspacing_Mark Mn Number N Open_Punctuation Ps Other C Other_Letter Lo Other_Number No
    Other_Punctuation Po Other_Symbol So Paragraph_Separator Zp Private_Use Co Punctuation P punct Separator Z
    Space_Separator Zs Spacing_Mark Mc Surrogate Cs Symbol S Titlecase_Letter Lt Unassigned Cn Uppercase_Letter Lu

    ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Assigned Bidi_Control Bidi_C Bidi_Mirrored Bidi_M Case_Ignorable CI
    Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM Changes_When_Lowercased CWL
    Changes_When_NFKC_Casefolded CWKCF Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash
    Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia Emoji Emoji_Component EComp Emoji_Modifier EMod
    Emoji_Modifier_Base EBase Emoji_Presentation EPres Extended_Pictographic ExtPict Extender Ext Grapheme_Base Gr_Base
    Grapheme_Extend Gr_Ext Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC ID_Start IDS
    Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower Math Noncharacter_Code_Point NChar
    Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS Quotation_Mark QMark Radical Regional_Indicator RI
    Sentence_Terminal STerm Soft_Dotted SD Terminal_Punctuation Term Unified_Ideograph UIdeo Uppercase Upper
    Variation_Selector VS White_Space space XID_Continue XIDC XID_Start XIDS
";

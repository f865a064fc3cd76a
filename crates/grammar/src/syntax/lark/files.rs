//! Grammars in several files. What is imported is written behind what imports it, each name with its file behind a space,
//! so that all else reads one source. No file is opened here: whoever calls gives the texts.

use super::expand::{Statement, statements};
use super::lexer::{self, Kind, Token, unsupported};
use crate::error::{Diagnostic, Error, SourceLocation};
use crate::limits::Limits;
use crate::maps::SeededIndexMap;
use crate::syntax::rules::check_size;

/// Aliases of aliases that are followed.
const MAX_ALIASES: usize = 100;

/// Texts that may be imported, by the names of their files with points between folders.
pub type Files<'a> = [(&'a str, &'a str)];

/// An import of names out of a file.
struct Import {
    /// The file, with points between folders; empty folders before it are left out.
    file: String,
    /// (name there, name here, offset)
    names: Vec<(String, String, usize)>,
}

/// What `%import` says, where it can be read.
fn import(body: &[Token], folder: &str) -> Option<Import> {
    let mut path: Vec<&str> = Vec::new();
    let is_relative = body.first()?.kind == Kind::Sign('.');
    let mut at = usize::from(is_relative);
    loop {
        let Kind::Name(part) = &body.get(at)?.kind else {
            return None;
        };
        path.push(part);
        at += 1;
        match body.get(at).map(|token| &token.kind) {
            Some(Kind::Sign('.')) => at += 1,
            _ => break,
        }
    }
    let mut names = Vec::new();
    if let Some(Kind::Sign('(')) = body.get(at).map(|token| &token.kind) {
        let pairs = body[at + 1..].chunks(2);
        let last = pairs.len().checked_sub(1)?;
        for (number, pair) in pairs.enumerate() {
            let sign = Kind::Sign(if number == last { ')' } else { ',' });
            let Kind::Name(name) = &pair[0].kind else {
                return None;
            };
            if pair.get(1)?.kind != sign {
                return None;
            }
            names.push((name.clone(), name.clone(), pair[0].offset));
        }
    } else {
        let name = path.pop()?.to_owned();
        let alias = match &body[at..] {
            [] => name.clone(),
            [arrow, alias] if arrow.kind == Kind::Arrow => match &alias.kind {
                Kind::Name(alias) => alias.clone(),
                _ => return None,
            },
            _ => return None,
        };
        names.push((name, alias, body[at - 1].offset));
    }
    let file = path.join(".");
    if file.is_empty() {
        return None;
    }
    let file = if is_relative {
        format!("{folder}{file}")
    } else {
        file
    };
    Some(Import { file, names })
}

fn imports_of(statement: &Statement, folder: &str) -> Option<Import> {
    let (first, body) = statement.tokens.split_first()?;
    let is_import = matches!(&first.kind, Kind::Directive(name) if name == "import");
    is_import.then(|| import(body, folder)).flatten()
}

/// The files that a grammar imports, `file` being its own name if it is imported itself; only those that are named
/// relative to it.
///
/// # Errors
/// As [`super::parse`].
pub fn imported_files(text: &str, file: &str) -> Result<Vec<String>, Error> {
    let tokens = lexer::tokens(text)?;
    let mut found = Vec::new();
    for statement in statements(text, &tokens)? {
        let is_relative = statement
            .tokens
            .get(1)
            .is_some_and(|token| token.kind == Kind::Sign('.'));
        found.extend(
            imports_of(&statement, folder(file))
                .filter(|_| is_relative)
                .map(|import| import.file),
        );
    }
    Ok(found)
}

/// A name with its folders, up to the last point.
fn folder(file: &str) -> &str {
    file.rfind('.').map_or("", |at| &file[..=at])
}

struct File {
    name: String,
    /// Where its text begins.
    start: usize,
    statements: Vec<Statement>,
    /// By the name in this file: the file and the name there.
    imported: SeededIndexMap<String, (usize, String, usize)>,
}

/// A source with all that it imports.
pub(super) struct Joined {
    pub(super) text: String,
    pub(super) tokens: Vec<Token>,
    files: Vec<(String, usize)>,
}

impl Joined {
    /// A source alone.
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            tokens: Vec::new(),
            files: vec![(String::new(), 0)],
        }
    }

    /// Reads the source and all that it imports. The places of errors are those of the whole.
    pub(super) fn read(&mut self, given: &Files<'_>, limits: &Limits) -> Result<(), Error> {
        let mut tokens = lexer::tokens(&self.text)?;
        if !(tokens.windows(2)).any(|two| is_foreign(&two[0].kind, &two[1].kind)) {
            self.tokens = tokens;
            return Ok(());
        }
        let mut files: Vec<File> = Vec::new();
        loop {
            let (name, start) = self.files[files.len()].clone();
            let mut file = File {
                statements: statements(&self.text, &tokens)?,
                name,
                start,
                imported: SeededIndexMap::default(),
            };
            for statement in &file.statements {
                let import = imports_of(statement, folder(&file.name));
                let Some(import) = import.filter(|import| import.file != "common") else {
                    continue;
                };
                let known = self.files.iter().position(|(name, _)| *name == import.file);
                let number = match known {
                    Some(number) => number,
                    None => self.add(&import.file, given, statement.tokens[0].offset, limits)?,
                };
                for (there, here, offset) in import.names {
                    file.imported.insert(here, (number, there, offset));
                }
            }
            files.push(file);
            let Some(&(_, start)) = self.files.get(files.len()) else {
                break;
            };
            let next = self.files.get(files.len() + 1);
            let end = next.map_or(self.text.len(), |&(_, next)| next);
            tokens = lexer::tokens_between(&self.text, start, end)?;
        }
        self.tokens = renamed(&self.text, &files)?;
        Ok(())
    }

    /// Adds the text of a file.
    fn add(
        &mut self,
        name: &str,
        given: &Files<'_>,
        offset: usize,
        limits: &Limits,
    ) -> Result<usize, Error> {
        let Some((_, text)) = given.iter().find(|(known, _)| *known == name) else {
            return Err(unsupported(&self.text, offset, &format!("an import of {name:?}, whose text is not given, is"))
                .with_hint(format!("give it: imports={{{name:?}: …}}; only what is read from a file finds files beside it")));
        };
        self.text.push('\n');
        let start = self.text.len();
        self.text.push_str(text);
        check_size(&self.text, limits)?;
        self.files.push((name.to_owned(), start));
        Ok(self.files.len() - 1)
    }

    /// A place in its file, and what that is called if it is imported.
    fn place(&self, offset: usize) -> Option<(SourceLocation, &str)> {
        let number = self
            .files
            .partition_point(|&(_, start)| start <= offset)
            .checked_sub(1)?;
        let (name, start) = self.files.get(number).filter(|_| number > 0)?;
        let end = self
            .files
            .get(number + 1)
            .map_or(self.text.len(), |&(_, next)| next - 1);
        let inside = (offset - start).min(end - start);
        Some((
            SourceLocation::in_text(&self.text[*start..end], inside),
            name,
        ))
    }

    /// An error, with its place in its file.
    pub(super) fn placed(&self, error: Error) -> Error {
        let Some(&SourceLocation::Text { offset, .. }) = error.location() else {
            return error;
        };
        match self.place(offset) {
            None if self.files.len() > 1 => {
                let end = self.files[1].1 - 1;
                error.at(SourceLocation::in_text(&self.text[..end], offset.min(end)))
            }
            None => error,
            Some((place, name)) => error.in_file(name).at(place),
        }
    }

    /// A warning, with its place in its file.
    pub(super) fn noted(&self, warning: Diagnostic) -> Diagnostic {
        let Some(&SourceLocation::Text { offset, .. }) = warning.location() else {
            return warning;
        };
        match self.place(offset) {
            None => warning,
            Some((place, name)) => warning.in_file(name).at(place),
        }
    }

    /// Whether something is imported.
    pub(super) fn is_several(&self) -> bool {
        self.files.len() > 1
    }
}

/// Whether an import is not of the common library.
fn is_foreign(directive: &Kind, next: &Kind) -> bool {
    matches!(directive, Kind::Directive(name) if name == "import")
        && !matches!(next, Kind::Name(library) if library == "common")
}

/// The tokens of all files, with the names that they have in the whole.
fn renamed(text: &str, files: &[File]) -> Result<Vec<Token>, Error> {
    let mut tokens = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let mut names: SeededIndexMap<&str, String> = SeededIndexMap::default();
        for statement in &file.statements {
            if let Some(import) = imports_of(statement, "").filter(|import| import.file == "common")
            {
                for (name, alias, offset) in import.names {
                    let alias = in_file(&alias, file);
                    tokens.extend(common(statement.tokens[0].clone(), name, alias, offset));
                }
            }
        }
        for (here, _) in defined(file) {
            names.insert(here, in_file(here, file));
        }
        for (here, &(_, _, offset)) in &file.imported {
            if defined(file).any(|(name, _)| name == here) {
                return Err(Error::grammar(
                    "E-GRAMMAR-DUPLICATE",
                    format!("the name {here:?} is defined and imported"),
                )
                .at(SourceLocation::in_text(text, offset))
                .with_hint("import it under another name: %import .file.NAME -> OTHER"));
            }
            names.insert(here, whole_name(text, files, number, here)?);
        }
        for statement in &file.statements {
            let directive = match &statement.tokens[0].kind {
                Kind::Directive(name) => name.as_str(),
                _ => "",
            };
            // What is ignored, and options, are those of the first file.
            let is_read = directive == "import" && imports_of(statement, "").is_some();
            if is_read || number > 0 && matches!(directive, "ignore" | "llguidance") {
                continue;
            }
            rename(statement, &names, &mut tokens);
        }
    }
    Ok(tokens)
}

fn in_file(name: &str, file: &File) -> String {
    if file.start == 0 {
        name.to_owned()
    } else {
        format!("{name} {}", file.name)
    }
}

/// Names that a file defines or takes from the common library, each with its offset.
fn defined(file: &File) -> impl Iterator<Item = (&str, usize)> {
    let is_definition = |statement: &&Statement| {
        !statement.name.is_empty() && !matches!(statement.tokens[0].kind, Kind::Directive(_))
    };
    let rules = (file.statements.iter().filter(is_definition)).map(|statement| {
        (
            statement.name.as_str(),
            statement.tokens[statement.at].offset,
        )
    });
    let common = file.statements.iter().flat_map(common_names);
    let declared = (file.statements.iter())
        .filter(|statement| matches!(&statement.tokens[0].kind, Kind::Directive(name) if name == "declare"))
        .flat_map(|statement| &statement.tokens)
        .filter_map(|token| match &token.kind {
            Kind::Name(name) => Some((name.as_str(), token.offset)),
            _ => None,
        });
    rules.chain(common).chain(declared)
}

/// The names that an import of the common library gives a file.
fn common_names(statement: &Statement) -> Vec<(&str, usize)> {
    let Some(import) = imports_of(statement, "").filter(|import| import.file == "common") else {
        return Vec::new();
    };
    let is_alias = |token: &&Token| matches!(&token.kind, Kind::Name(name) if import.names.iter().any(|(_, here, _)| here == name));
    (statement.tokens.iter().filter(is_alias))
        .filter_map(|token| match &token.kind {
            Kind::Name(name) => Some((name.as_str(), token.offset)),
            _ => None,
        })
        .collect()
}

/// `%import common.NAME -> alias`
fn common(directive: Token, name: String, alias: String, offset: usize) -> [Token; 6] {
    let token = |kind| Token {
        kind,
        offset,
        first: false,
    };
    [
        directive,
        token(Kind::Name("common".to_owned())),
        token(Kind::Sign('.')),
        token(Kind::Name(name)),
        token(Kind::Arrow),
        token(Kind::Name(alias)),
    ]
}

/// What an imported name is called in the whole.
fn whole_name(text: &str, files: &[File], file: usize, name: &str) -> Result<String, Error> {
    let (mut at, mut name, offset) = (file, name, files[file].imported[name].2);
    for _ in 0..MAX_ALIASES {
        match files[at].imported.get(name) {
            Some((number, there, _)) => (at, name) = (*number, there),
            None if defined(&files[at]).any(|(known, _)| known == name) => {
                return Ok(in_file(name, &files[at]));
            }
            None => break,
        }
    }
    Err(Error::grammar(
        "E-GRAMMAR-UNDEFINED",
        format!(
            "the file {:?} has no rule or terminal {name:?}",
            files[at].name
        ),
    )
    .at(SourceLocation::in_text(text, offset))
    .with_hint("a name is imported as it is written there: %import .file.NAME"))
}

/// Writes a statement with other names. Labels and the names of options and parameters stay.
fn rename(statement: &Statement, names: &SeededIndexMap<&str, String>, tokens: &mut Vec<Token>) {
    let colon = statement
        .tokens
        .iter()
        .position(|token| token.kind == Kind::Sign(':'));
    let parameters = statement.parameters();
    for (at, token) in statement.tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| &statement.tokens[at].kind);
        let in_head = colon.is_some_and(|colon| at < colon) && at > statement.at;
        let kept = before == Some(&Kind::Arrow) || in_head && before != Some(&Kind::Sign('='));
        let mut token = token.clone();
        if let Kind::Name(name) = &mut token.kind
            && !kept
            && !parameters.contains(name)
            && let Some(other) = names.get(name.as_str())
        {
            name.clone_from(other);
        }
        tokens.push(token);
    }
}

// The playground: compiles the grammar, reads the text, and says where it breaks. The address keeps what is written.
import { Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo } from "../../js/src/index.js";

const TOKENIZER = new URL("../../python/syntagma/embedded/data/tokenizer.json", import.meta.url);
const SHOWN = 200; // tokens that are listed
const FIRST = {
  notation: "json_schema",
  grammar: `{
  "type": "object",
  "properties": {
    "city": {"enum": ["Oslo", "Lima"]},
    "days": {"type": "integer", "minimum": 1, "maximum": 14}
  },
  "required": ["city"]
}`,
  text: '{"city": "Oslo", "days": 15}',
};

const at = (id) => document.getElementById(id);
const fields = ["notation", "grammar", "text"];
const decoder = new TextDecoder();
let compiler;
let made = { key: undefined };

function show(id, text, kind = "") {
  at(id).textContent = text;
  at(id).className = kind;
}

function told(error) {
  const where = error.line
    ? ` in line ${error.line}, column ${error.column}`
    : error.pointer
      ? ` at ${error.pointer}`
      : "";
  const reasons = Object.entries(error.pointers ?? {}).map(([pointer, reason]) => `${pointer}: ${reason}`);
  const parts = [`${error.code ?? error.name}${where}: ${error.message}`, error.excerpt, error.hint, ...reasons];
  return parts.filter(Boolean).join("\n");
}

/** The matcher of the grammar as it is written; the last one, if nothing has changed. */
async function matcherOf(notation, source) {
  const key = JSON.stringify([notation, source]);
  if (made.key !== key) {
    made.matcher?.dispose();
    made.compiled?.dispose();
    made = { key };
    const times = [performance.now()];
    const options = notation === "json_schema" ? { allow_widened: true } : {};
    const grammar = await Grammar.read(notation, source, options);
    times.push(performance.now());
    made.compiled = await compiler.compileGrammar(grammar);
    times.push(performance.now());
    made.matcher = await GrammarMatcher.createGrammarMatcher(made.compiled);
    made.matcher.nextTokenBitmask();
    times.push(performance.now());
    const [read, compile, mask] = times.slice(1).map((time, index) => `${(time - times[index]).toFixed(2)} ms`);
    const { status, pointers, warnings } = grammar.report();
    const said = Object.entries(pointers).map(([pointer, reason]) => `${pointer || "/"}: ${reason}`);
    made.cost = [
      `read in ${read}, compiled in ${compile}, first mask in ${mask}`,
      status === "exact" ? "all of it is enforced" : "more than the schema says is allowed:",
      ...said,
      ...warnings.map(told),
    ].join("\n");
    grammar.dispose();
  }
  return made;
}

/** How many characters of the text the matcher takes; it stands behind them then. */
function accepted(matcher, text) {
  matcher.reset();
  if (matcher.acceptText(text)) {
    return text.length;
  }
  let taken = 0;
  for (const character of text) {
    if (!matcher.acceptText(character)) {
      break;
    }
    taken += character.length;
  }
  return taken;
}

function showPlace(text, taken) {
  const place = at("place");
  place.replaceChildren();
  if (taken < text.length) {
    const [wrong] = text.slice(taken);
    const mark = Object.assign(document.createElement("mark"), { textContent: wrong === "\n" ? "⏎\n" : wrong });
    place.append(text.slice(0, taken), mark, text.slice(taken + wrong.length));
  }
}

/** The tokens that may come next; one that is chosen goes on behind what was taken of the text. */
function showTokens(matcher, info, taken) {
  const ids = matcher.isTerminated() ? [] : matcher.allowedTokens();
  show("count", `(${ids.length} of ${matcher.getVocabSize()})`);
  const buttons = Array.from(ids.slice(0, SHOWN), (id) => {
    const ends = info.stopTokenIds.includes(id);
    const text = decoder.decode(info.tokenBytes(id));
    const button = document.createElement("button");
    button.textContent = ends ? "the end" : JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
    button.disabled = ends || text.includes("\ufffd");
    button.onclick = () => {
      at("text").value = taken + text;
      run();
    };
    return button;
  });
  at("tokens").replaceChildren(...buttons, ids.length > SHOWN ? `and ${ids.length - SHOWN} more` : "");
}

async function run() {
  const [notation, grammar, text] = fields.map((id) => at(id).value);
  history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify({ notation, grammar, text }))}`);
  for (const id of ["cost", "verdict", "place", "count", "tokens"]) {
    show(id, "");
  }
  try {
    const { matcher, cost } = await matcherOf(notation, grammar);
    show("cost", cost);
    const taken = accepted(matcher, text);
    const { expected, accepting } = matcher.explain();
    if (taken < text.length) {
      const before = text.slice(0, taken).split("\n");
      const symbols = expected.map(({ rule, symbol }) => `${symbol}  (in ${rule})`);
      const said = [`breaks in line ${before.length}, column ${before.at(-1).length + 1}; may come instead:`];
      show("verdict", [...said, ...(accepting ? ["the end"] : []), ...symbols].join("\n"), "wrong");
    } else {
      show("verdict", accepting ? "all of it is allowed, and the text may end here" : "allowed so far", "right");
    }
    showPlace(text, taken);
    showTokens(matcher, made.compiled.tokenizerInfo(), text.slice(0, taken));
  } catch (error) {
    show("cost", told(error), "wrong");
    made = { key: undefined };
  }
  document.body.dataset.state = "done";
}

async function begin() {
  let given = FIRST;
  try {
    given = { ...FIRST, ...JSON.parse(decodeURIComponent(location.hash.slice(1))) };
  } catch {
    // The address says nothing, or nothing that was written here.
  }
  for (const id of fields) {
    at(id).value = given[id];
  }
  try {
    const tokenizer = await (await fetch(TOKENIZER)).text();
    compiler = await GrammarCompiler.createGrammarCompiler(await TokenizerInfo.fromTokenizerJson(tokenizer));
  } catch (error) {
    show("cost", `${told(error)}\n\nThe engine is not part of this site: \`make wasm site\` builds both.`, "wrong");
    document.body.dataset.state = "done";
    return;
  }
  for (const id of fields) {
    at(id).oninput = run;
  }
  await run();
}

begin();

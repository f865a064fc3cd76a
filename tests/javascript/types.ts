// A use of every kind of value, as code for web-xgrammar writes it: only compiled.
import * as xgr from "@syntagma/grammar";

async function decode(table: string[], schema: string): Promise<number[]> {
  const info: xgr.TokenizerInfo = await xgr.TokenizerInfo.createTokenizerInfo(table, "byte_level", false, 128, [2]);
  const compiler: xgr.GrammarCompiler = await xgr.GrammarCompiler.createGrammarCompiler(info);
  const compiled: xgr.CompiledGrammar = await compiler.compileJSONSchema(schema, true, 2, [",", ":"], false, 4);
  const matcher: xgr.GrammarMatcher = await xgr.GrammarMatcher.createGrammarMatcher(compiled, [1], false, -1);
  const mask: Int32Array = await matcher.getNextTokenBitmask();
  const denied: Int32Array = await xgr.Testings.debugGetMaskedTokensFromBitmask(mask, info.getVocabSize(), 0);
  const taken: boolean = matcher.acceptToken(denied[0] ?? 0, true);
  const jump: string = matcher.findJumpForwardString();
  matcher.rollBack(taken ? 1 : 0);
  compiled.dispose();
  return matcher.shortestClose(jump.length) ?? [];
}

async function tag(): Promise<string> {
  const content: xgr.StructuralTagFormat = { type: "json_schema", json_schema: { type: "object" } };
  const whole: xgr.StructuralTag = { format: { type: "tag", begin: "<a>", content, end: "</a>" } };
  const items = [new xgr.StructuralTagItem("<a>", { type: "object" }, "</a>")];
  const grammars = [await xgr.Grammar.fromStructuralTag(whole), await xgr.Grammar.fromStructuralTag(items, ["<a"])];
  const report: xgr.Report = grammars[0]!.report();
  try {
    await xgr.default.Grammar.fromEBNF("root ::=");
  } catch (error) {
    return error instanceof xgr.SyntagmaError ? `${error.code} ${error.line} ${error.hint}` : report.status;
  }
  return String(grammars[1]);
}

export { decode, tag };

import { deniedTokens } from "./bitmask.js";
import { check, checkWhole } from "./errors.js";

/** What tests ask for; nothing here is fast. */
export class Testings {
  static async debugGetMaskedTokensFromBitmask(bitmask, vocabSize, index = 0) {
    check("bitmask", bitmask, bitmask instanceof Int32Array, "an Int32Array");
    const words = Math.ceil(checkWhole("vocabSize", vocabSize) / 32);
    const first = checkWhole("index", index) * words;
    return deniedTokens(bitmask.subarray(first, first + words), vocabSize);
  }
}

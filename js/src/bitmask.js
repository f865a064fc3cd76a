/** The tokens of a bitmask row whose bit is `bit`, ascending. */
function tokensOf(row, vocabSize, bit) {
  const found = [];
  for (let id = 0; id < vocabSize; id++) {
    if (((row[id >> 5] >>> (id & 31)) & 1) === bit) {
      found.push(id);
    }
  }
  return Int32Array.from(found);
}

/** The ids that a row allows. */
export const allowedTokens = (row, vocabSize) => tokensOf(row, vocabSize, 1);

/** The ids that a row denies. */
export const deniedTokens = (row, vocabSize) => tokensOf(row, vocabSize, 0);

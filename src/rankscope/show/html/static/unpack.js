// Unpacks what a page carries compressed (zlib; RFC 1950 and 1951). Browsers can do so, too, but only later, and paper does not wait.
(() => {
  "use strict";
  const rankscope = window.rankscope;
  const DAMAGED = "the file is damaged";
  const pairs = (last) => Array.from({ length: last + 2 }, (_, i) => (i < 2 ? [0, 0] : [i - 1, i - 1])).flat();

  // a code for a length or a distance says where its values begin, and further bits which of them it is
  const DISTANCE_BITS = pairs(13);
  const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
  const begins = (bits, first) => bits.map((_, i) => bits.slice(0, i).reduce((sum, each) => sum + 2 ** each, first));
  const DISTANCES = begins(DISTANCE_BITS, 1);
  const LENGTHS = [...begins(LENGTH_BITS, 3).slice(0, 28), 258];
  const LENGTHS_OF_CODES = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]; // the order in which they are told

  /** A Huffman code: how many symbols there are of each length in bits, and the symbols, those of the shortest first. */
  function codeOf(lengths) {
    const counts = new Array(16).fill(0);
    lengths.forEach((length) => counts[length]++);
    const symbols = lengths.map((_, symbol) => symbol).filter((symbol) => lengths[symbol]);
    counts[0] = 0;
    return { counts, symbols: symbols.sort((a, b) => lengths[a] - lengths[b] || a - b) };
  }
  const usual = Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8));
  const USUAL = [codeOf(usual), codeOf(new Array(30).fill(5))];

  /** The bytes that were packed, `size` of them. */
  rankscope.unpacked = (packed, size) => {
    const bytes = new Uint8Array(size);
    let [filled, at, bit] = [0, 2, 0]; // the first two bytes tell how it was packed

    function number(bits) {
      let found = 0;
      for (let i = 0; i < bits; i++) {
        if (at >= packed.length) throw new Error(DAMAGED);
        found |= ((packed[at] >> bit) & 1) << i;
        bit = (bit + 1) % 8;
        if (!bit) at++;
      }
      return found;
    }

    function symbol({ counts, symbols }) {
      let [code, first, before] = [0, 0, 0];
      for (let length = 1; length < 16; length++) {
        code = 2 * code + number(1);
        first *= 2;
        if (code - first < counts[length]) return symbols[before + code - first];
        before += counts[length];
        first += counts[length];
      }
      throw new Error(DAMAGED);
    }

    function ownCodes() {
      const [most, distances, told] = [number(5) + 257, number(5) + 1, number(4) + 4];
      const short = new Array(19).fill(0);
      for (let i = 0; i < told; i++) short[LENGTHS_OF_CODES[i]] = number(3);
      const [code, lengths] = [codeOf(short), []];
      while (lengths.length < most + distances) {
        const found = symbol(code);
        if (found < 16) lengths.push(found);
        else {
          const length = found === 16 ? lengths.at(-1) : 0;
          const times = found === 16 ? number(2) + 3 : found === 17 ? number(3) + 3 : number(7) + 11;
          for (let i = 0; i < times; i++) lengths.push(length);
        }
      }
      return [codeOf(lengths.slice(0, most)), codeOf(lengths.slice(most))];
    }

    function coded([signs, distances]) {
      for (let found = symbol(signs); found !== 256; found = symbol(signs)) {
        if (found < 256) bytes[filled++] = found;
        else {
          const length = LENGTHS[found - 257] + number(LENGTH_BITS[found - 257]);
          const code = symbol(distances);
          const back = DISTANCES[code] + number(DISTANCE_BITS[code]);
          for (let i = 0; i < length; i++, filled++) bytes[filled] = bytes[filled - back];
        }
      }
    }

    function plain() {
      if (bit) [at, bit] = [at + 1, 0];
      const length = packed[at] + 256 * packed[at + 1];
      if (!(filled + length <= size)) throw new Error(DAMAGED);
      bytes.set(packed.subarray(at + 4, at + 4 + length), filled);
      [at, filled] = [at + 4 + length, filled + length];
    }

    for (let last = 0; !last; ) {
      if (filled > size) throw new Error(DAMAGED);
      last = number(1);
      const kind = number(2);
      if (kind) coded(kind === 1 ? USUAL : ownCodes());
      else plain();
    }
    if (filled !== size) throw new Error(DAMAGED);
    return bytes;
  };

  /** The text in an element whose content was packed and written as base64. */
  rankscope.packedText = (element) => {
    const packed = Uint8Array.from(atob(element.textContent), (sign) => sign.charCodeAt(0));
    return new TextDecoder().decode(rankscope.unpacked(packed, Number(element.dataset.size)));
  };
})();

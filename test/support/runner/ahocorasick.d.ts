declare module 'ahocorasick' {
  /** Finds all keywords in one pass, as substrings: it knows no words. */
  export default class AhoCorasick {
    constructor(keywords: readonly string[]);
    /** For each place where keywords end: the index of their last character, and the keywords. */
    search(text: string): [end: number, keywords: string[]][];
  }
}

/** Where reading resumes after a restart, in milliseconds since 1970: what the forum dates before is known. */
export interface GroupPosition {
  /** Of groups with short intervals, and of communities that were left out lately. */
  groups: { names: readonly string[]; at: number }[];
  /** Of all others; absent while nothing was read. */
  rest?: number | undefined;
  /** Of slow groups. */
  slow?: number | undefined;
}

/** The position, and what is saved apart from it, when groups are formed. */
export interface SavedReading extends GroupPosition {
  /** The communities of all groups that were not slow; undefined: not known. */
  prompt?: ReadonlySet<string> | undefined;
}

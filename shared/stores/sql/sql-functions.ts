/**
 * The functions that a customer's statement may call, in lower case. The list is exact: a function is on it only if it
 * computes its result from its arguments, and does not make much out of little (`range`, `repeat`), since the engine
 * cannot be interrupted inside one call. A test compares the names with those of the engine.
 */
const names = (list: string): string[] => list.trim().toLowerCase().split(/\s+/);

/** What the parser makes of operators and clauses. */
const OPERATORS = names(`
  and or xor not equals notEquals less greater lessOrEquals greaterOrEquals plus minus multiply divide intDiv modulo
  negate concat in notIn like notLike ilike notILike isNull isNotNull if multiIf array tuple map arrayElement
  tupleElement lambda cast _cast exists isNotDistinctFrom`);

const NUMBERS = names(`
  abs sign round roundBankers floor ceil trunc sqrt exp ln log2 log10 pow greatest least intDivOrZero moduloOrZero
  isNaN isFinite ifNotFinite`);

const CONDITIONAL = names('ifNull nullIf coalesce assumeNotNull toNullable transform');

const STRINGS = names(`
  length lengthUTF8 empty notEmpty lower upper lowerUTF8 upperUTF8 substring substringUTF8 left right leftUTF8 rightUTF8
  position positionCaseInsensitive positionUTF8 positionCaseInsensitiveUTF8 startsWith endsWith trimBoth trimLeft
  trimRight reverse reverseUTF8 match extract replaceOne replaceAll replaceRegexpOne replaceRegexpAll
  countSubstrings countSubstringsCaseInsensitive countSubstringsCaseInsensitiveUTF8 splitByChar splitByString
  splitByWhitespace splitByNonAlpha hasToken hasTokenCaseInsensitive domain domainWithoutWWW path topLevelDomain
  concatWithSeparator toString`);

const TYPES = names(`
  toInt8 toInt16 toInt32 toInt64 toUInt8 toUInt16 toUInt32 toUInt64 toFloat32 toFloat64 toDate toDate32 toDateTime
  toDateTime64 toBool toInt64OrNull toInt64OrZero toFloat64OrNull toFloat64OrZero toDateOrNull toDateTimeOrNull
  parseDateTimeBestEffort parseDateTimeBestEffortOrNull parseDateTime64BestEffort parseDateTime64BestEffortOrNull
  toTypeName accurateCastOrNull`);

const TIMES = names(`
  now now64 today yesterday toYear toQuarter toMonth toDayOfMonth toDayOfWeek toDayOfYear toHour toMinute toSecond
  toISOWeek toISOYear toWeek toYYYYMM toYYYYMMDD toYYYYMMDDhhmmss toStartOfYear toStartOfQuarter toStartOfMonth
  toStartOfWeek toStartOfDay toStartOfHour toStartOfMinute toStartOfFiveMinutes toStartOfTenMinutes
  toStartOfFifteenMinutes toStartOfInterval toMonday toLastDayOfMonth toTimeZone dateDiff dateTrunc date_trunc
  dateAdd dateSub addSeconds addMinutes addHours addDays addWeeks addMonths addYears subtractSeconds subtractMinutes
  subtractHours subtractDays subtractWeeks subtractMonths subtractYears toUnixTimestamp toUnixTimestamp64Milli
  fromUnixTimestamp fromUnixTimestamp64Milli formatDateTime timeSlot monthName dateName toIntervalSecond
  toIntervalMinute toIntervalHour toIntervalDay toIntervalWeek toIntervalMonth toIntervalQuarter toIntervalYear`);

const ARRAYS = names(`
  has hasAll hasAny hasSubstr indexOf arrayJoin arrayMap arrayFilter arrayExists arrayAll arrayCount arrayFirst
  arrayLast arrayFirstIndex arraySum arrayAvg arrayMin arrayMax arraySort arrayReverseSort arrayReverse arrayDistinct
  arrayUniq arrayConcat arraySlice arrayZip arrayEnumerate arrayStringConcat arrayCompact arrayDifference
  arrayCumSum arrayIntersect mapKeys mapValues mapContains`);

const WINDOW = names(`
  row_number rank dense_rank percent_rank cume_dist ntile lag lead lagInFrame leadInFrame first_value last_value
  nth_value`);

/** These also with the suffixes of COMBINATORS. */
const AGGREGATES = names(`
  count sum avg min max any anyLast argMin argMax median quantile quantiles quantileExact quantilesExact
  quantileExactLow quantileExactHigh quantileTDigest uniq uniqExact uniqCombined uniqHLL12 groupArray groupUniqArray
  topK topKWeighted stddevPop stddevSamp varPop varSamp corr covarPop covarSamp skewPop kurtPop entropy
  simpleLinearRegression sumWithOverflow groupBitOr groupBitAnd`);
const COMBINATORS = ['if', 'distinct', 'ornull', 'ordefault', 'array'];

/** All names that the list says in full. */
export const LISTED_FUNCTIONS: readonly string[] = [
  ...OPERATORS,
  ...NUMBERS,
  ...CONDITIONAL,
  ...STRINGS,
  ...TYPES,
  ...TIMES,
  ...ARRAYS,
  ...WINDOW,
  ...AGGREGATES,
];

const LISTED = new Set(LISTED_FUNCTIONS);
const COMBINED = new Set(AGGREGATES.flatMap((name) => COMBINATORS.map((suffix) => name + suffix)));

/** Whether a customer's statement may call the function. @param name in any case */
export function isAllowedFunction(name: string): boolean {
  const lower = name.toLowerCase();
  return LISTED.has(lower) || COMBINED.has(lower);
}

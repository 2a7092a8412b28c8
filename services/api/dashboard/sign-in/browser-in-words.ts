/** The order matters: browsers name others in their User-Agent to be served like them. */
const BROWSERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** A browser by its User-Agent header, for people: "Firefox on Linux". It is what the browser says of itself. */
export function browserInWords(userAgent: string): string {
  const browser = nameIn(BROWSERS, userAgent) ?? 'An unknown browser';
  const system = nameIn(SYSTEMS, userAgent);
  return system === undefined ? browser : `${browser} on ${system}`;
}

function nameIn(names: typeof BROWSERS, userAgent: string): string | undefined {
  return names.find(([pattern]) => pattern.test(userAgent))?.[1];
}

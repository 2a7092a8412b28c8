/** The language of a text that is too short, or whose language is not clear. Not an ISO 639-1 code. */
export const UNDECIDED_LANGUAGE = 'und';

/**
 * The languages that are told apart, as ISO 639-1 codes in alphabetical order. A test compares them with those of the
 * detector (`shared/language`).
 */
export const ITEM_LANGUAGES: readonly string[] = (
  'am ar az be bg bn ca cs da de el en es et eu fa fi fr gu he hi hr hu hy is it ja ka kn ko ku lo lt lv ml mr ms nl ' +
  'no or pa pl pt ro ru sk sl sq sr sv ta te th tl tr uk ur vi yo zh'
).split(' ');

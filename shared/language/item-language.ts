import { UNDECIDED_LANGUAGE } from '../../schemas/messages/item-languages.ts';
import type { ForumItem } from '../../schemas/messages/forum-item.ts';
import type { LanguageDetector } from './load-language-detector.ts';

/**
 * The item with its language: that of a post's title and text, or of a comment's text.
 *
 * @param onFailure receives what the detector throws; the item then has the language `und`
 */
export function withLanguage(
  item: ForumItem,
  detectLanguage: LanguageDetector,
  onFailure: (error: unknown) => void,
): ForumItem {
  try {
    return { ...item, language: detectLanguage(item.kind === 'post' ? [item.title, item.body] : [item.body]) };
  } catch (error) {
    onFailure(error);
    return { ...item, language: UNDECIDED_LANGUAGE };
  }
}

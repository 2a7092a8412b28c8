import type { Theme } from './communities.ts';

/** Words that examples and tests watch for. Each occurs as a whole word in at least 1 % of posts and of comments. */
export const WATCHED_WORDS = ['rust', 'coffee', 'python', 'release', 'update'] as const;
export type WatchedWord = (typeof WATCHED_WORDS)[number];

/** Sentences with a watched word. {w} becomes the word, plain or in one of the shapes below. */
export const WATCHED_SENTENCES: Record<WatchedWord, readonly string[]> = {
  rust: [
    'We moved the slow part to {w} and kept the rest as it was.',
    'My first week with {w} went to arguing with the compiler, and the compiler was right.',
    'Does {w} make sense for a job that runs once a night?',
    'There is {w} on the lower hinge, nothing a wire brush cannot fix.',
    'A thin coat of oil keeps {w} away for about a season.',
    'The parser is in {w}, the glue around it is not.',
    'I would not rewrite it in {w} just because it is fashionable.',
    'Found {w} under the paint again, third winter in a row.',
  ],
  coffee: [
    'I plan these things over {w} and forget them by noon.',
    'Decent {w} starts with the water, not with the machine.',
    'Spilled {w} on the keyboard; the keyboard won.',
    'The place on the corner does filter {w} for less than the chain.',
    'One more {w} and then the second half.',
    'Weigh your {w} for a week and you will never guess again.',
    'They closed the {w} corner and moved the shelves there.',
    'Cold {w} with orange peel, do not knock it before you try it.',
  ],
  python: [
    'A dozen lines of {w} did in a minute what took me a Sunday by hand.',
    'The {w} script still runs every morning and nobody dares to touch it.',
    'Is there a {w} library for this that somebody still maintains?',
    'She keeps a ball {w} in the spare room, which explains the lamp.',
    'I learned {w} to rename holiday pictures and it got out of hand.',
    'Our tests are in {w} even though the product is not.',
    'For a first language {w} is still what I would pick.',
    'The {w} version is slower and I can read it, so it stays.',
  ],
  release: [
    'The new {w} fixes the crash but moves every button.',
    'They promised a {w} before summer and did not say which summer.',
    'Press the {w} slowly and the picture stays sharp.',
    'I read the {w} notes twice and still do not know what changed.',
    'Wait for the next {w} unless you enjoy surprises.',
    'The {w} date slipped again, this time by a fortnight.',
    'We tag a {w} on Thursdays so that Friday stays quiet.',
    'The catch and {w} rule applies to the whole lake now.',
  ],
  update: [
    'Small {w}: the second attempt held.',
    'Since the last {w} it forgets my settings every night.',
    'Will post an {w} when the parts arrive.',
    'No {w} from the shop since Tuesday.',
    'The {w} took two minutes and the backup before it two hours.',
    'Please {w} the list at the side, half the links are dead.',
    'Thanks for the {w}, I had wondered how it ended.',
    'I refuse to {w} anything on a Friday.',
  ],
};

/** How a word appears in real text. {w} keeps its case, {W} is upper case, {C} capitalised. All are whole words. */
export const SHAPES: readonly string[] = [
  ...['{w}', '{w}', '{w}', '{w}', '{w}', '{w}', '{w}', '{w}', '{C}', '{C}', '{W}'],
  ...['**{w}**', '*{w}*', '"{w}"', '({w})', '\\#{w}', '{w}-based', "{w}'s", '{C}’s', '{w}/whatever', '`{w}`', '{w}🦀'],
  ...['~~{w}~~', '[{w}](https://example.com/{w}-guide)', '{w}…', '_{w}_', '&#39;{w}&#39;'],
];

/** Words that contain or resemble a watched word, but must not match. */
export const DECOYS: readonly string[] = [
  'I do not trust a rusty hinge, and neither should you.',
  'Crusty bread, frustrated baker.',
  'The coffeehouse closed, the coffeemaker is for sale.',
  'Pythonic or not, it works; the pythons next door agree.',
  'Early releases come and go, released or unreleased.',
  'It was updated, then the updates were rolled back by the updater.',
  'The variable is called rust\\_level and the file release_notes_final2.',
  'cof­fee with a soft hyphen, ｒｕｓｔ in wide letters, 𝗽𝘆𝘁𝗵𝗼𝗻 in bold ones.',
  'AT&T, R&D and <b>not html</b>: does 3 < 4 && 5 > 2 survive?',
  'Objective C, C++ and C# walk into a bar; .NET and node.js hold the door.',
];

/** The vocabulary of each theme. */
export const THINGS: Record<Theme, readonly string[]> = {
  code: [
    'parser',
    'scheduler',
    'cache',
    'login page',
    'build server',
    'test suite',
    'queue',
    'keyboard',
    'router',
    'index',
  ],
  kitchen: [
    'grinder',
    'sourdough',
    'cast iron pan',
    'kettle',
    'pepper mill',
    'oven',
    'stock pot',
    'chef knife',
    'scale',
  ],
  outdoors: [
    'rear wheel',
    'tent',
    'tomato bed',
    'trail map',
    'rain jacket',
    'feeder',
    'compost',
    'saddle',
    'binoculars',
  ],
  home: [
    'boiler',
    'kitchen tap',
    'bookshelf',
    'scratching post',
    'gate',
    'window seal',
    'lamp',
    'floor board',
    'dog bed',
  ],
  science: ['telescope', 'barometer', 'paper', 'sample', 'lens', 'rain gauge', 'model', 'eclipse', 'data set'],
  play: [
    'rule book',
    'opening',
    'expansion',
    'level editor',
    'boss fight',
    'demo',
    'dice tower',
    'end game',
    'save file',
  ],
  money: [
    'invoice',
    'budget',
    'lease',
    'spreadsheet',
    'receipt',
    'phone contract',
    'price list',
    'supplier',
    'tax form',
  ],
  culture: [
    'second chapter',
    'film stock',
    'filter knob',
    'old camera',
    'library card',
    'soundtrack',
    'translation',
    'zine',
  ],
};

export const PLACES = [
  ...[
    'the harbour',
    'my sister’s flat',
    'the old depot',
    'Lisbon',
    'the second floor',
    'a car park',
    'the night train',
  ],
  ...['Tampere', 'our allotment', 'the museum shop', 'Valparaíso', 'the lab', 'the north side', 'a very small kitchen'],
] as const;

export const TIMES = [
  ...['last week', 'in March', 'two winters ago', 'this morning', 'since the move', 'over the holidays', 'at 3 a.m.'],
  ...['every Tuesday', 'before the storm', 'the day after', 'for a month now', 'on the way home'],
] as const;

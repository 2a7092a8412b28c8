import type { Theme, Language } from './community-directory.ts';

/** English sentences. {t} and {u} become things of the community's theme, {p} a place, {d} a time, {n} a number. */
export const TITLES: readonly string[] = [
  'How do you keep your {t} alive {d}?',
  'My {t} and my {u} disagree, who wins?',
  'Is a {t} from {p} worth {n} euros?',
  'After {n} tries the {t} finally works',
  'What I learned about the {t} {d}',
  'Looking for a second opinion on this {t}',
  'Found a {t} near {p}',
  'The {t} nobody talks about',
  'Unpopular opinion: the {u} matters more than the {t}',
  'Weekly questions: {t}, {u} and everything between',
];

export const BODY_SENTENCES: readonly string[] = [
  'I bought the {t} {d} and it has been in {p} ever since.',
  'The manual has {n} pages and none of them mentions the {u}.',
  'A friend from {p} swears by doing it the other way round.',
  'Things I tried so far: turning it, cleaning it, ignoring it for {n} days.',
  'It only happens {d}, which makes no sense to me.',
  'Pictures follow once the light is better.',
  'Budget is about {n}, less would be nicer.',
  'If this has been asked before, I could not find it.',
  'The {t} itself is fine; the {u} is what worries me.',
  'I kept notes for {n} days and the pattern is plain.',
];

export const COMMENT_SENTENCES: readonly string[] = [
  'Had the same with my {t} {d}, it was the {u} in the end.',
  'This is the answer.',
  'Not sure I agree, the {u} has little to do with it.',
  'Take it back to {p} and ask for the older model.',
  'How long did you wait before you touched the {t}?',
  'I have done this {n} times and it never gets easier.',
  'Came here to say exactly that.',
  'You could also leave the {t} alone for a day.',
  'Source? I looked {d} and found nothing.',
  'My {u} has {n} years on it and still runs.',
  'Lovely. What did you use for the {u}?',
  'Please do not do that to a {t}.',
  'It depends on where you live; in {p} it is the other way round.',
  'Saving this for later.',
  '> the {t} is fine\n\nIt is not, look at the corner.',
  'Steps that worked for me:\n\n1. unplug the {u}\n2. wait {n} minutes\n3. try the {t} again',
  'Try `check --{u}` and post what it prints.',
  '¯\\\\\\_(ツ)\\_/¯',
  'Relevant: [an old thread about the {t}](https://example.com/thread?id={n}&ref=forum)',
];

/** Words that examples and tests watch for. Each occurs as a whole word in at least 1 % of posts and of comments. */
export const WATCHED_WORDS = ['rust', 'coffee', 'python', 'release', 'update'] as const;
type WatchedWord = (typeof WATCHED_WORDS)[number];

/** Sentences with a watched word. {w} becomes the word, plain or in one of the shapes below. */
export const WATCHED_SENTENCES: Record<WatchedWord, readonly string[]> = {
  rust: [
    'We moved the slow part to {w} and kept the rest as it was.',
    'My first week with {w} went to arguing with the compiler, and the compiler was right.',
    'Does {w} make sense for a job that runs once a night?',
    'There is {w} on the lower hinge, nothing a wire brush cannot fix.',
  ],
  coffee: [
    'I plan these things over {w} and forget them by noon.',
    'Decent {w} starts with the water, not with the machine.',
    'Spilled {w} on the keyboard; the keyboard won.',
    'The place on the corner does filter {w} for less than the chain.',
  ],
  python: [
    'A dozen lines of {w} did in a minute what took me a Sunday by hand.',
    'The {w} script still runs every morning and nobody dares to touch it.',
    'Is there a {w} library for this that somebody still maintains?',
    'She keeps a ball {w} in the spare room, which explains the lamp.',
  ],
  release: [
    'The new {w} fixes the crash but moves every button.',
    'They promised a {w} before summer and did not say which summer.',
    'Press the {w} slowly and the picture stays sharp.',
    'I read the {w} notes twice and still do not know what changed.',
  ],
  update: [
    'Small {w}: the second attempt held.',
    'Since the last {w} it forgets my settings every night.',
    'Will post an {w} when the parts arrive.',
    'No {w} from the shop since Tuesday.',
  ],
};

/** Sentences with a word that is rare enough for a monitor of a newcomer to stay below its daily cap for an hour. */
export const RARE_SENTENCES: readonly string[] = [
  'An espresso first, then we talk about the {t}.',
  'For the price of an Espresso you get the {u} and a spare.',
  'The "espresso" in {p} tastes of the {t}.',
  'ESPRESSO IS NOT A PERSONALITY, said the man with four grinders.',
  'Pulled an espresso while it compiled; it still compiles.',
];

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
  code: ['parser', 'scheduler', 'cache', 'login page', 'build server', 'test suite', 'queue', 'keyboard', 'router'],
  kitchen: ['grinder', 'sourdough', 'cast iron pan', 'kettle', 'pepper mill', 'oven', 'stock pot', 'chef knife'],
  outdoors: ['rear wheel', 'tent', 'tomato bed', 'trail map', 'rain jacket', 'feeder', 'compost', 'binoculars'],
  home: ['boiler', 'kitchen tap', 'bookshelf', 'scratching post', 'gate', 'window seal', 'lamp', 'floor board'],
  science: ['telescope', 'barometer', 'paper', 'sample', 'lens', 'rain gauge', 'model', 'eclipse', 'data set'],
  play: ['rule book', 'opening', 'expansion', 'level editor', 'boss fight', 'demo', 'dice tower', 'save file'],
  money: ['invoice', 'budget', 'lease', 'spreadsheet', 'receipt', 'phone contract', 'price list', 'tax form'],
  culture: ['second chapter', 'film stock', 'filter knob', 'old camera', 'library card', 'soundtrack', 'zine'],
};

export const PLACES = [
  'the harbour',
  'my sister’s flat',
  'the old depot',
  'Lisbon',
  'a car park',
  'Tampere',
  'the lab',
];

export const TIMES = ['last week', 'in March', 'two winters ago', 'this morning', 'at 3 a.m.', 'every Tuesday'];

interface Phrasebook {
  titles: readonly string[];
  sentences: readonly string[];
  /** Sentences with the words that examples watch for: coffee in the three scripts without spaces, and loan words. */
  watched: readonly string[];
}

/** Every language but English. {n} is a number. */
export const PHRASEBOOKS: Record<Exclude<Language, 'en'>, Phrasebook> = {
  zh: {
    titles: ['大家周末都做什么？', '新手求推荐一本好书', '今天在图书馆看到的'],
    sentences: [
      '我也遇到过，等了{n}天才好。',
      '谢谢分享，收藏了。',
      '说得有道理，不过我还是不太同意。',
      '请问是在哪里买的？',
    ],
    watched: [
      '早上一杯手冲咖啡，什么都好说。',
      '公司楼下的咖啡涨到{n}块了。',
      '有人喝咖啡加盐吗？',
      '这家咖啡馆可以带猫进去。',
      '新版本今天发布，更新以后速度快多了。',
      '我用Rust写了一个小工具，Python版本慢一些。',
    ],
  },
  ja: {
    titles: ['週末の過ごし方を教えてください', '初心者です、よろしくお願いします', '駅前で見つけたもの'],
    sentences: [
      'わかります、うちも同じでした。',
      'ありがとうございます、助かりました。',
      'それは少し違うと思います。',
      '{n}回試してやっと動きました。',
    ],
    watched: [
      '朝はコーヒーがないと始まりません。',
      '駅前のコーヒー屋さんが{n}円も値上げした。',
      '深煎りのコーヒーに牛乳を入れる派です。',
      '自家焙煎コーヒーを始めて{n}か月です。',
      '新しいリリースが出たので更新しました。',
      '仕事ではPythonとRustを半分ずつ使っています。',
    ],
  },
  ko: {
    titles: ['주말에 뭐 하세요?', '초보자 질문 있습니다', '도서관에서 본 것'],
    sentences: [
      '저도 똑같은 경험을 했어요.',
      '좋은 정보 감사합니다.',
      '{n}번 해 보고 겨우 됐습니다.',
      '그건 조금 다르다고 생각해요.',
    ],
    watched: [
      '아침에는 커피가 꼭 필요해요.',
      '회사 앞 커피값이 {n}원 올랐어요.',
      '커피를 끊은 지 {n}일 됐습니다.',
      '집에서 볶은 커피라서 향이 좋아요.',
      '새 버전이 출시돼서 업데이트했습니다.',
      'Python으로 시작해서 지금은 Rust를 씁니다.',
    ],
  },
  de: {
    titles: ['Was macht ihr am Wochenende?', 'Lohnt sich das für {n} Euro?', 'Frage zur Größe der Straßenbahn'],
    sentences: ['Bei mir genauso, seit {n} Jahren.', 'Danke, das hat geholfen!', 'Da muss ich widersprechen.'],
    watched: [
      'Ohne Kaffee geht hier gar nichts.',
      'Das Update hat {n} Minuten gedauert.',
      'Python reicht dafür völlig.',
    ],
  },
  fr: {
    titles: ['Vous faites quoi ce week-end ?', 'Ça vaut vraiment {n} euros ?', 'Trouvé à la brocante hier'],
    sentences: ['Pareil chez moi depuis {n} ans.', 'Merci, c’est noté !', 'Je ne suis pas d’accord.'],
    watched: [
      'Un café et on en reparle.',
      'La nouvelle release règle le problème.',
      'Python suffit largement pour ça.',
    ],
  },
  es: {
    titles: ['¿Qué hacéis este fin de semana?', '¿Vale la pena por {n} euros?', 'Lo encontré en el mercado'],
    sentences: ['A mí me pasó lo mismo.', '¡Gracias, me sirvió mucho!', 'No estoy de acuerdo.'],
    watched: ['Sin café no soy persona.', 'El update tardó {n} minutos.', 'Con Python se hace en una tarde.'],
  },
  pt: {
    titles: ['O que fazem no fim de semana?', 'Vale a pena por {n} reais?', 'Achei isto na feira'],
    sentences: ['Comigo foi igual.', 'Obrigado, ajudou muito!', 'Discordo um pouco.'],
    watched: ['Primeiro o café, depois a conversa.', 'O update demorou {n} minutos.', 'Em Python são dez linhas.'],
  },
  ru: {
    titles: ['Что делаете на выходных?', 'Стоит ли брать за {n} рублей?', 'Нашёл на чердаке'],
    sentences: ['У меня было то же самое.', 'Спасибо, очень помогло!', 'Не соглашусь.'],
    watched: ['Без кофе ничего не начинается.', 'После обновления всё стало быстрее.', 'На Python это десять строк.'],
  },
  th: {
    titles: ['วันหยุดนี้ทำอะไรกันบ้าง', 'ราคานี้คุ้มไหม', 'มือใหม่ขอถามหน่อย'],
    sentences: ['ของฉันก็เป็นเหมือนกัน', 'ขอบคุณมากนะ', 'ลองมา {n} ครั้งแล้ว'],
    watched: ['เช้านี้ยังไม่ได้ดื่มกาแฟเลย', 'อัปเดตแล้วเร็วขึ้นมาก'],
  },
  ar: {
    titles: ['ماذا تفعلون في نهاية الأسبوع؟', 'هل يستحق السعر؟', 'سؤال من مبتدئ'],
    sentences: ['حدث معي الشيء نفسه.', 'شكرا جزيلا!', 'جربت {n} مرات.'],
    watched: ['لا شيء يبدأ قبل القهوة.', 'التحديث الجديد أسرع بكثير.'],
  },
};

import type { TermCase } from './term-case.ts';

export const FOLDING_CASES: readonly TermCase[] = [
  // Rule 1: HTML entities and Markdown escapes are decoded once.
  {
    rule: '1 entities and markdown escapes are decoded once',
    keyword: 'AT&T',
    matches: ['AT&T', 'AT&amp;T', 'at&#38;t', 'at&#x26;t', 'at&#X26;T up', '(AT&amp;T)'],
    misses: ['AT&amp;amp;T', 'AT &amp; T', 'AT T', 'ATT', 'AT&ampT', 'AT&lt;T'],
  },
  {
    rule: '1 the result of an entity is not decoded again',
    keyword: 'a&lt;b',
    matches: ['a<b', 'a&lt;b', 'A&#60;B', 'x a<b x', 'a&#x3c;b'],
    misses: ['a&amp;lt;b', 'a>b', 'a b', 'a< b', 'ab'],
  },
  {
    rule: '1 a number that is not a character becomes the replacement character',
    keyword: 'a\ufffdb',
    matches: ['a\ufffdb', 'a&#0;b', 'a&#xD800;b', 'a&#x110000;b', 'a&#65533;b', 'A&#xdfff;B'],
    misses: ['ab', 'a b', 'a&#12345678;b', 'a&#32;b', 'a&#xFFFE;b'],
  },
  {
    rule: '1 non-breaking and zero-width entities',
    keyword: 'new york',
    matches: ['new&nbsp;york', 'new&#160;york', 'new &#x200B;york', 'new&#32;york', 'new&#x2010;york'],
    misses: ['new&amp;nbsp;york', 'new&nbspyork', 'new&#x200B;york', 'new&quot;york', 'new&gt;york'],
  },
  {
    rule: '1 escaped underscore',
    keyword: 'rust_lang',
    matches: ['rust\\_lang', 'rust_lang', '(rust\\_lang)', '\\_rust\\_lang\\_', 'u/rust\\_lang'],
    misses: ['rust\\\\lang', 'rust\\lang', 'rust\\ _lang', 'rust \\_lang', 'rust\\-lang'],
  },
  {
    rule: '1 every escape of the list',
    keyword: 'x*{}[]()#+-.!:|&<>/^~`x',
    matches: [
      ...['x*{}[]()#+-.!:|&<>/^~`x', 'x\\*\\{\\}\\[\\]\\(\\)\\#\\+\\-\\.\\!\\:\\|\\&\\<\\>\\/\\^\\~\\`x'],
      ...['x\\*{\\}[]()#+\\-.!:\\|&amp;\\<>/^~`x', 'a x*{}[]()#+-.!:|&\\<\\>/\\^~\\`x b'],
    ],
    misses: ['x\\\\*{}[]()#+-.!:|&<>/^~`x', 'x*{}[]()#+-.!:|&<>/^~`xx', 'x*{}[]()#+-.!:|\\\\&<>/^~`x'],
  },
  {
    rule: '1 symbols of names are escaped too',
    keyword: 'C++',
    matches: ['C\\+\\+', 'C\\++ and C', 'c+\\+.', '(C\\+\\+17)', '**C\\+\\+**', '> C\\+\\+', 'C&#43;\\+'],
    misses: ['C\\\\+\\\\+', 'C\\+', 'C\\+\\+\\+', 'C\\ ++', '\\C\\+'],
  },
  {
    rule: '1 a slash and an ampersand',
    keyword: 'AT&T/7',
    matches: ['AT\\&T\\/7', 'AT&T\\/7', 'at\\&t/7', 'AT&amp;T\\/7', 'AT\\&T/7!'],
    misses: ['AT\\&amp;T/7', 'AT\\\\&T/7', 'AT&T\\\\/7', 'AT&T\\7', 'AT\\T/7'],
  },
  {
    rule: '1 a backslash in code stays',
    keyword: 'rust_lang',
    matches: [
      ...['a `b` rust\\_lang `c`', '\\`rust\\_lang\\`', '`rust\\_lang', '`` ` rust\\_lang', '`a\n\nrust\\_lang`'],
      ...[
        '\n- a\n\n    rust\\_lang',
        'a\n    rust\\_lang',
        '\n```\na\n```\nrust\\_lang',
        '    a\n\nrust\\_lang',
        '`rust_lang`',
      ],
    ],
    misses: [
      ...[
        '`rust\\_lang`',
        'a ``rust\\_lang`` b',
        '`a\nrust\\_lang`',
        '`` ` rust\\_lang ` ``',
        '    rust\\_lang',
        '\trust\\_lang',
      ],
      ...[
        'a\n\n    rust\\_lang',
        'a\n```\nrust\\_lang\n```\nb',
        '~~~\nrust\\_lang',
        '    a\n    rust\\_lang',
        '`a\\` rust_langs `',
      ],
    ],
  },
  {
    rule: '1 &lt;',
    keyword: '<3',
    matches: ['<3', '&lt;3', 'I &lt;3 you', '&#60;3', '&#x3C;3', 'love you all &lt;3!', '&lt;3&lt;3'],
    misses: ['&amp;lt;3', '&lt; 3', '&lt;&lt;3', 'i&lt;3', '&lt;33', '&lt3', '&gt;3', '3'],
  },
  {
    rule: '1 &gt; at the beginning of a quoted line',
    keyword: 'rust',
    matches: ['&gt; rust is fine', '&gt;rust is fine\n\nIt is not.', '&gt;&gt; Rust', '\\&gt; rust'],
    misses: ['&gt;trust', '&gt; rusty', '&gt; ru\n&gt; st', '&gt; crust', '&gt;rust_lang'],
  },
  {
    rule: '1 &quot; around a keyword is dropped',
    keyword: '&quot;hello world&quot;',
    matches: ['hello world', '&quot;hello world&quot;', 'Hello-World!', '"hello world"'],
    misses: ['hello "world"', 'hello&quot; world', 'helloworld', 'world hello', 'hello worlds', 'quot'],
  },
  {
    rule: '1 &#39; and other spellings of an apostrophe',
    keyword: "can't stop",
    matches: [
      'can&#39;t stop',
      'can&#039;t stop',
      'Can&#x27;t stop',
      'can&#x2019;t-stop',
      'can&rsquo;t stop',
      'can&apos;t stop',
    ],
    misses: ['cant stop', 'can&amp;#39;t stop', 'can&#39t stop', 'can&quot;t stop', 'can&#8220;t stop'],
  },
  {
    rule: '1 &#39; before a possessive s',
    keyword: 'rust',
    matches: ['rust&#39;s', 'Rust&#8217;s', '&#39;rust&#39;', 'RUST&#x27;S', 'the rust&#x2019;s end'],
    misses: ['rust&#39;n', 'o&#39;rust', 'rust&#39;st', 'rust&#39;ll', 'trust&#39;s'],
  },
  {
    rule: '1 decimal numbers',
    keyword: 'rust',
    matches: ['&#114;&#117;&#115;&#116;', '&#82;ust', 'rus&#116;', 'r&#0117;st', '&#120319;ust'],
    misses: ['t&#114;ust', 'rust&#121;', 'ru&#32;st', 'rust&#95;lang', '&#114 ust', '&amp;#114;ust'],
  },
  {
    rule: '1 numbers above the basic plane',
    keyword: '\u{1f980}\u{20bb7}',
    matches: ['&#129408;&#134071;', '&#x1F980;&#x20BB7;', 'a\u{1f980}\u{20bb7}b', '&#x1f980;\u{20bb7}'],
    misses: ['&#xD83E;&#xDD80;\u{20bb7}', '&#x1F980; &#x20BB7;', '&#x1F981;&#x20BB7;', '&#129408;'],
  },
  {
    rule: '1 a number may become a combining mark',
    keyword: 'caf\u00e9',
    matches: ['cafe&#769;', 'cafe&#x301;', 'caf&#233;', 'CAF&#xC9;', '&#99;afe\u0301'],
    misses: ['cafe&#768;', 'cafe&#x302;', 'caf&#232;', 'cafe', 'cafe &#769;', 'cafe&amp;#769;'],
  },
  {
    rule: '1 the names of HTML 4',
    keyword: 'caf\u00e9 \u03a9\u20ac\u2026',
    matches: [
      'caf&eacute; &Omega;&euro;&hellip;',
      'CAF&Eacute;&nbsp;&omega;&#8364;\u2026',
      'caf&eacute; \u03a9&euro;&hellip;',
    ],
    misses: [
      'caf&egrave; &Omega;&euro;&hellip;',
      'caf&amp;eacute; &Omega;&euro;&hellip;',
      'caf&eacute &Omega;&euro;&hellip;',
    ],
  },
  {
    rule: '1 names of invisible characters, and of spaces',
    keyword: 'new york',
    matches: ['new&ensp;york', 'n&shy;ew y&zwj;ork', 'new&thinsp;&emsp;york', '&lrm;new york', 'new york&middot;'],
    misses: ['new&mdash;york', 'new&middot;york', 'new&zwnj;york', 'new&ENSP;york', 'new york&eacute;'],
  },
  {
    rule: '1 other names are not entities',
    keyword: 'star',
    matches: ['&star;', 'wait&star;', '&amp;star;', 'star', 'a &star; b', '&starf; star'],
    misses: ['\u2606', '&#9734;', '&stars;', '&st ar;', 'xstar'],
  },
  {
    rule: '1 \\_ around and inside a word',
    keyword: 'rust',
    matches: ['\\_rust\\_', '\\_\\_rust\\_\\_', 'rust\\_', '(\\_Rust)', '\\_rust\\_ and \\_go\\_'],
    misses: ['rust\\_lang', 'my\\_rust', 'a\\_\\_rust', 'rust\\_\\_b', '\\_rust\\_x\\_', '\\_rust\\_2'],
  },
  {
    rule: '1 \\# after a letter',
    keyword: 'C#',
    matches: ['C\\#', 'in c\\#.', 'C&#35;', 'C&#x23;', '(C\\#)', 'C\uff03', 'C\\#/F\\#'],
    misses: ['C\\#\\#', 'C#\\#', 'C', 'vc\\#', 'C \\#', 'C\\\\#', 'C&amp;#35;'],
  },
  {
    rule: '1 a backslash before anything else stays',
    keyword: 'C++',
    matches: ['C++', 'c++\\', '\\C++', 'C++\\a', '\\(C++\\)'],
    misses: ['C\\a++', 'C\\=++', 'C+\\ +', 'C\\\\+\\\\+', 'C\\#'],
  },

  // Rule 2: different encodings of a letter are equal. Of the compatibility forms only full width, half-width kana,
  // ligatures and mathematical letters are folded.
  {
    rule: '2 composed and decomposed letters are one',
    keyword: 'caf\u00e9',
    matches: ['caf\u00e9', 'cafe\u0301', 'CAF\u00c9', 'CAFE\u0301', 'cafe\u200d\u0301'],
    misses: ['cafe', 'caf\u00e8', 'cafe\u0300', 'cafe \u0301', 'caf\u00e9s'],
  },
  {
    rule: '2 letters that compose only when small',
    keyword: '\u1e96at',
    matches: ['\u1e96at', 'h\u0331at', 'H\u0331AT', 'H\u0331at', '(\u1e96AT)'],
    misses: ['hat', 'HAT', 'h\u0332at', '\u1e25at', '\u1e96 at'],
  },
  {
    rule: '2 width, ligatures, mathematical letters',
    keyword: 'office',
    matches: ['\uff4f\uff46\uff46\uff49\uff43\uff45', '\uff2f\uff26\uff26\uff29\uff23\uff25'],
    misses: ['o\ufb04ce', 'o\ufb01ce', '\u24de\u24d5\u24d5\u24d8\u24d2\u24d4', 'offic\u2091'],
  },
  {
    rule: '2 half-width kana',
    keyword: 'ガッツ',
    matches: ['ガッツ', '\uff76\uff9e\uff6f\uff82', 'カ\u3099ッツ', '\uff76\uff9eッ\uff82だ', '今日もガッツ'],
    misses: ['\uff76\uff6f\uff82', 'カッツ', 'ガツツ', 'がっつ', 'ガ ッツ'],
  },
  {
    rule: '2 no further compatibility',
    keyword: 'x2',
    matches: ['x2', 'X2', '\uff58\uff12', '\u{1d465}\u{1d7d0}', '(x2)'],
    misses: ['x\u00b2', 'x\u2082', 'x\u2461', '\u2093\u00b2', 'x 2', 'x\u00bd'],
  },
  {
    rule: '2 trademark signs separate',
    keyword: 'acme',
    matches: ['Acme\u2122', 'Acme\u00ae', '\u00a9Acme', 'ACME\u2122 tools', 'by acme\u00a9 2020'],
    misses: ['Acmetm', 'acme\u1d57\u1d50', 'acmes\u2122', 'tmacme', 'a\u2122cme'],
  },
  {
    rule: '2 letters that NFC maps to other letters: \u00c5ngstr\u00f6m and ohm',
    keyword: '\u00e5\u03c9x',
    matches: ['\u00e5\u03c9x', '\u212b\u2126x', '\u00c5\u03a9X', 'A\u030a\u2126x', 'a\u030a\u03c9x'],
    misses: ['a\u03c9x', 'A\u2126x', '\u00e5wx', '\u00e5ox', '\u00e4\u03c9x'],
  },
  {
    rule: '2 letters that NFC decomposes',
    keyword: '\u0958\u0932\u092e',
    matches: ['\u0958\u0932\u092e', '\u0915\u093c\u0932\u092e', '(\u0958\u0932\u092e)'],
    misses: ['\u0915\u0932\u092e', '\u0959\u0932\u092e', '\u0958\u0932', '\u0958\u0932\u092e\u093e'],
  },
  {
    rule: '2 an accent on a full-width, mathematical or ligature letter',
    keyword: 'caf\u00e9',
    matches: ['caf\uff45\u0301', '\uff43\uff41\uff46\uff45\u0301', '\uff23\uff21\uff26\uff25\u0301'],
    misses: ['caf\uff45', 'caf\uff45\u0300', 'caf\u{1d41e}', '\uff43\uff41\uff46\uff45'],
  },
  {
    rule: '2 full-width punctuation',
    keyword: 'a!"#$%&()*+,-./:;<=>?@[]^`{|}~b',
    matches: [
      'a!"#$%&()*+,-./:;<=>?@[]^`{|}~b',
      '\uff41\uff01\uff02\uff03\uff04\uff05\uff06\uff08\uff09\uff0a\uff0b\uff0c\uff0d\uff0e\uff0f\uff1a\uff1b\uff1c\uff1d\uff1e\uff1f\uff20\uff3b\uff3d\uff3e\uff40\uff5b\uff5c\uff5d\uff5e\uff42',
    ],
    misses: [
      '\uff41\uff01\uff02\uff03\uff04\uff05\uff06\uff08\uff09\uff0a\uff0b\uff0c\uff0d\uff0e\uff0f\uff1a\uff1b\uff1c\uff1d\uff1e\uff1f\uff20\uff3b\uff3d\uff3e\uff40\uff5b\uff5c\uff5d\uff5e\uff42\uff42',
      '\uff41\uff41\uff01\uff02\uff03\uff04\uff05\uff06\uff08\uff09\uff0a\uff0b\uff0c\uff0d\uff0e\uff0f\uff1a\uff1b\uff1c\uff1d\uff1e\uff1f\uff20\uff3b\uff3d\uff3e\uff40\uff5b\uff5c\uff5d\uff5e\uff42',
    ],
  },

  // Rule 3: simple case folding in every alphabet, without a locale. Accents count.
  {
    rule: '3 simple case folding, no locale',
    keyword: 'istanbul',
    matches: ['istanbul', 'ISTANBUL', '\u0130stanbul', '\u0130STANBUL', 'I\u0307STANBUL'],
    misses: ['\u0131stanbul', 'i\u0307stanbul', '\u00ecstanbul', 'istanb\u00fcl', 'ISTANBULLU'],
  },
  {
    rule: '3 sharp s is not ss',
    keyword: 'straße',
    matches: ['straße', 'STRA\u1e9eE', 'Straße', '\u017ftraße', '\ufb05raße'],
    misses: ['strasse', 'STRASSE', 'strase', 'straβe', 'straßen'],
  },
  {
    rule: '3 the three sigmas are one',
    keyword: 'σοφός',
    matches: ['σοφός', 'ΣΟΦ\u038cΣ', 'Σοφόσ', 'ςοφός', 'ΣΟΦΟ\u0301Σ', 'σο\u03d5ός'],
    misses: ['ΣΟΦΟΣ', 'σοφό', 'σοφόςα', 'sοφός', 'σ οφός'],
  },
  {
    rule: '3 accents count',
    keyword: 'cafe',
    matches: ['cafe', 'CAFE', 'Cafe!', 'the cafe', 'cafe-bar'],
    misses: ['caf\u00e9', 'CAF\u00c9', 'cafe\u0301', 'c\u00e0fe', 'cafes'],
  },
  {
    rule: '3 Deseret',
    keyword: '\u{10414}\u{1042f}\u{10445}\u{10428}\u{10449}\u{1042f}\u{1043b}',
    matches: [
      '\u{10414}\u{1042f}\u{10445}\u{10428}\u{10449}\u{1042f}\u{1043b}',
      '\u{10414}\u{1042f}\u{10445}\u{10428}\u{10449}\u{1042f}\u{1043b}\u2019s',
    ],
    misses: [
      '\u{10414}\u{1042f}\u{10445}\u{10428}\u{10449}\u{1042f}',
      '\u{10414}\u{1042f}\u{10445}\u{10428}\u{10449}\u{1042f}\u{1043b}\u{1043b}',
      'a\u{10414}\u{1042f}\u{10445}\u{10428}\u{10449}\u{1042f}\u{1043b}',
    ],
  },
  {
    rule: '3 letters above the basic plane are letters of a word',
    keyword: 'rust',
    matches: ['rust \u{10414}', '\u{10414}, rust', 'rust\u{1f980}', 'rust\ud800', '\udc00rust'],
    misses: ['rust\u{10414}', '\u{10414}rust', 'rust\u{1e922}', 'rust\u{1e950}', '\u{10330}rust'],
  },

  // Rule 4: invisible characters are removed; apostrophes, hyphens and whitespace each have one form.
  {
    rule: '4 invisible characters are removed',
    keyword: 'rust',
    matches: ['ru\u200bst', 'r\u200cu\u200ds\u2060t', '\ufeffrust', 'ru\u00adst', 'rust\ufe0f'],
    misses: ['ru st', 'trust\u200b', 'a\u200brust', 'rust\u200by', 'ru\u200ast'],
  },
  {
    rule: '4 zero-width space separates Thai, Lao, Khmer, Myanmar',
    keyword: 'ภาษา',
    matches: ['ภาษา', 'ภาษา\u200bไทย', 'xภาษาx', 'ภา\u200dษา', 'ที่ภาษาไทย'],
    misses: ['ภา\u200bษา', 'ภา ษา', 'ภาษ', 'ภา\u200b\u200bษา', 'ภาxษา'],
  },
  {
    rule: '4 a zero-width space is the space of a Khmer phrase',
    keyword: '\u1780\u17b6 \u1781',
    matches: ['\u1780\u17b6\u200b\u1781', '\u1780\u17b6 \u1781', '\u1780\u17b6\u00a0\u1781'],
    misses: ['\u1780\u17b6\u1781', '\u1780\u17b6-\u1781', '\u1780\u17b6\u200d\u1781', '\u1780 \u1781'],
  },
  {
    rule: '4 apostrophes are one, hyphens are one, all whitespace is one',
    keyword: "don't e-mail me",
    matches: [
      "Don't e-mail me",
      'don\u2019t e\u2010mail me',
      'don\uff07t e\u2011mail me',
      'don\u02bct e-mail me',
      'don\u00b4t e-mail me',
      'don\u2018t e-mail me',
      'don`t e-mail me',
      'don\\`t e-mail me',
      'don&#96;t e-mail me',
      'don\uff40t e-mail me',
    ],
    misses: [
      'dont e-mail me',
      "don't e\u2013mail me",
      "don't e\u2212mail me",
      'don``t e-mail me',
      'don` t e-mail me',
      '`don`t e-mail me`',
    ],
  },
  {
    rule: '4 marks of direction, invisible operators and joiners are removed inside and between words',
    keyword: 'rust',
    matches: [
      ...['ru\u200est', 'ru\u200fst', '\u202aru\u202cst\u202e', 'a \u2066rust\u2069 b', 'r\u2061u\u2062s\u2063t\u2064'],
      ...['ru\u180est', 'ru\u034fst', 'ru\u061cst', 'ru&#8206;st'],
    ],
    misses: ['a\u2066rust\u2069', 'rust\u200ey', 't\u200frust', 'rust\u202a2', 'ru \u2063st', 'rust\u034f\u0301'],
  },
  {
    rule: '4 characters that show nothing separate words',
    keyword: 'new york',
    matches: ['new\u3164york', 'new\u2800york', 'new\uffa0 \u3164york', 'x\u3164new york\u2800y', 'new&#12644;york'],
    misses: ['newyork', 'new\u3164,york', 'ne\u3164w york', 'new yor\uffa0k', 'new-\u3164york'],
  },
  {
    rule: '4 invisible characters at the edge of a symbol',
    keyword: 'C++',
    matches: ['C\u200b+\u200d+', 'C++\u200b', '\u200bC++', 'C\u00ad++', 'C++\u200b17', 'C++\u200b-', 'C+\u200e+'],
    misses: ['C++\u200b+', 'C+\u200b++', 'x\u200bC++', 'C\u200b+', 'C+\u200e++'],
  },
  {
    rule: '4 a zero-width space between Thai and an ideograph is removed',
    keyword: 'ไทย语',
    matches: ['ไทย语', 'ไทย\u200b语', '学ไทย\u200b语', 'ไทย\u200d语', 'ไทย&#8203;语'],
    misses: ['ไทย 语', 'ไ\u200bทย语', 'ไทย\u200b 语', 'ไทย-语', 'ทย语'],
  },
  {
    rule: '4 a possessive with another apostrophe',
    keyword: 'tesla',
    matches: [
      'tesla\u2018s',
      'tesla\u00b4s',
      'tesla`s',
      'tesla\u02bcs',
      'tesla\u02bc',
      '`tesla`s',
      '`tesla`',
      '\u02bctesla',
    ],
    misses: ['tesla`x', 'tesla\u00b4x', 'teslas', 'tesla\u0301s', 'tesla_s', 'o\u02bctesla', 'x`tesla'],
  },
  {
    rule: '4 a word ends at any other mark',
    keyword: 'tesla',
    matches: ['tesla\u2032s', 'tesla"s', 'tesla\u201bs', 'tesla``s', 'a`tesla`b', 'x``tesla``'],
    misses: ['tesla\u02b9s', 'teslas', 'tesla\u02bbs', 'tesla\u0301', 'xtesla'],
  },
  {
    rule: '4 the stroke that widens Arabic words is removed',
    keyword: '\u0643\u062a\u0627\u0628',
    matches: [
      ...['\u0643\u062a\u0627\u0628', '\u0643\u0640\u062a\u0627\u0628', '\u0643\u062a\u0640\u0640\u0640\u0627\u0628'],
      ...['\u0640\u0643\u062a\u0627\u0628\u0640', '(\u0643\u062a\u0627\u0640\u0628)'],
    ],
    misses: [
      ...['\u0643\u062a\u0628', '\u0643\u062a \u0640\u0627\u0628', '\u0643\u062a\u0627\u0628\u0640\u064a'],
      ...['\u0640\u0640', '\u0648\u0640\u0643\u062a\u0627\u0628'],
    ],
  },
];

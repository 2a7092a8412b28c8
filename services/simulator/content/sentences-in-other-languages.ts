import type { Language } from './communities.ts';

export interface Phrasebook {
  titles: readonly string[];
  sentences: readonly string[];
  /** Sentences with the words that examples watch for: coffee in the three scripts without spaces, and loan words. */
  watched: readonly string[];
}

/** Every language but English. {n} is a number. */
export const PHRASEBOOKS: Record<Exclude<Language, 'en'>, Phrasebook> = {
  zh: {
    titles: [
      '大家周末都做什么？',
      '新手求推荐一本好书',
      '今天在图书馆看到的',
      '关于搬家的{n}个建议',
      '这样的价格合理吗？',
    ],
    sentences: [
      '我也遇到过，等了{n}天才好。',
      '谢谢分享，收藏了。',
      '说得有道理，不过我还是不太同意。',
      '请问是在哪里买的？',
      '上个月刚试过，效果不错。',
      '这个问题每周都有人问。',
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
    titles: [
      '週末の過ごし方を教えてください',
      '初心者です、よろしくお願いします',
      '駅前で見つけたもの',
      '{n}年使ってみた感想',
      'これって普通ですか？',
    ],
    sentences: [
      'わかります、うちも同じでした。',
      'ありがとうございます、助かりました。',
      'それは少し違うと思います。',
      '{n}回試してやっと動きました。',
      '写真があるともっとわかりやすいです。',
      '来週また報告します。',
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
    titles: [
      '주말에 뭐 하세요?',
      '초보자 질문 있습니다',
      '도서관에서 본 것',
      '{n}년 사용 후기',
      '이 가격이면 괜찮은가요?',
    ],
    sentences: [
      '저도 똑같은 경험을 했어요.',
      '좋은 정보 감사합니다.',
      '{n}번 해 보고 겨우 됐습니다.',
      '그건 조금 다르다고 생각해요.',
      '사진도 올려 주세요.',
      '다음 주에 다시 알려 드릴게요.',
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
    titles: [
      'Was macht ihr am Wochenende?',
      'Lohnt sich das für {n} Euro?',
      'Frage zur Größe der Straßenbahn',
      'Heute im Keller gefunden',
    ],
    sentences: [
      'Bei mir genauso, seit {n} Jahren.',
      'Danke, das hat geholfen!',
      'Da muss ich widersprechen.',
      'Schön wär’s.',
    ],
    watched: [
      'Ohne Kaffee geht hier gar nichts.',
      'Das Update hat {n} Minuten gedauert.',
      'Python reicht dafür völlig.',
    ],
  },
  fr: {
    titles: [
      'Vous faites quoi ce week-end ?',
      'Ça vaut vraiment {n} euros ?',
      'Trouvé à la brocante hier',
      'Un café près de la gare ?',
    ],
    sentences: [
      'Pareil chez moi depuis {n} ans.',
      'Merci, c’est noté !',
      'Je ne suis pas d’accord.',
      'Où l’as-tu acheté ?',
    ],
    watched: [
      'Un café et on en reparle.',
      'La nouvelle release règle le problème.',
      'Python suffit largement pour ça.',
    ],
  },
  es: {
    titles: [
      '¿Qué hacéis este fin de semana?',
      '¿Vale la pena por {n} euros?',
      'Lo encontré en el mercado',
      'Pregunta de principiante',
    ],
    sentences: ['A mí me pasó lo mismo.', '¡Gracias, me sirvió mucho!', 'No estoy de acuerdo.', 'Llevo {n} años así.'],
    watched: ['Sin café no soy persona.', 'El update tardó {n} minutos.', 'Con Python se hace en una tarde.'],
  },
  pt: {
    titles: [
      'O que fazem no fim de semana?',
      'Vale a pena por {n} reais?',
      'Achei isto na feira',
      'Dúvida de iniciante',
    ],
    sentences: ['Comigo foi igual.', 'Obrigado, ajudou muito!', 'Discordo um pouco.', 'Uso há {n} anos.'],
    watched: ['Primeiro o café, depois a conversa.', 'O update demorou {n} minutos.', 'Em Python são dez linhas.'],
  },
  ru: {
    titles: ['Что делаете на выходных?', 'Стоит ли брать за {n} рублей?', 'Нашёл на чердаке', 'Вопрос от новичка'],
    sentences: ['У меня было то же самое.', 'Спасибо, очень помогло!', 'Не соглашусь.', 'Пользуюсь уже {n} лет.'],
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

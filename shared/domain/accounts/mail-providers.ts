/** Domains where many unrelated people have mailboxes. Many sign-ups a day from one of them do not indicate abuse. */
const LARGE_PROVIDERS: ReadonlySet<string> = new Set(
  [
    'gmail.com proton.me icloud.com me.com mac.com aol.com fastmail.com zoho.com zohomail.com hey.com tutanota.com tuta.com mail.com email.com',
    'outlook.com hotmail.com live.com msn.com passport.com hotmail.co.uk hotmail.fr hotmail.de hotmail.it hotmail.es live.co.uk live.fr live.nl',
    'outlook.fr outlook.de outlook.es outlook.it outlook.jp outlook.com.br',
    'yahoo.com ymail.com rocketmail.com myyahoo.com yahoo.co.uk yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.ca yahoo.in yahoo.co.in yahoo.co.jp',
    'yahoo.com.br yahoo.com.ar yahoo.com.mx yahoo.com.au yahoo.com.tw yahoo.com.hk yahoo.co.id yahoo.com.ph yahoo.com.sg yahoo.com.vn',
    'gmx.de gmx.net gmx.com gmx.at gmx.ch gmx.co.uk web.de t-online.de freenet.de posteo.de mailbox.org bluewin.ch',
    'orange.fr wanadoo.fr free.fr sfr.fr laposte.net libero.it virgilio.it tiscali.it telenet.be skynet.be ziggo.nl kpnmail.nl',
    'wp.pl o2.pl onet.pl interia.pl seznam.cz centrum.cz abv.bg ukr.net',
    'mail.ru bk.ru inbox.ru list.ru internet.ru rambler.ru yandex.ru yandex.com ya.ru',
    'qq.com foxmail.com 163.com 126.com yeah.net sina.com sohu.com aliyun.com naver.com daum.net hanmail.net kakao.com nate.com',
    'docomo.ne.jp ezweb.ne.jp softbank.ne.jp rediffmail.com uol.com.br bol.com.br terra.com.br',
    'comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net shaw.ca rogers.com bell.net',
    'btinternet.com sky.com virginmedia.com talktalk.net bigpond.com optusnet.com.au xtra.co.nz',
  ].flatMap((domains) => domains.split(' ')),
);

/** Whether the domain of a mailbox belongs to a large provider. */
export function isLargeProvider(domain: string): boolean {
  return LARGE_PROVIDERS.has(domain);
}

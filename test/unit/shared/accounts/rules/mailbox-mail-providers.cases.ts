/** Some domains of large providers. */
export const LARGE_DOMAINS = [
  'gmail.com',
  'proton.me',
  'outlook.com',
  'yahoo.co.jp',
  'icloud.com',
  'qq.com',
  'mail.ru',
  'gmx.de',
  'web.de',
];

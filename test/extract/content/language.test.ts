import { expect, it } from 'vitest'
import { detectLanguage } from '../../../src/extract/content/language.js'
import { cpuMs } from '../../cpu-time.js'

const SENTENCES: Readonly<Record<string, string>> = {
  ar: 'يمكنك قراءة هذا الكتاب في أي وقت، لأن كل صفحة منه مكتوبة بلغة واضحة.',
  bg: 'Това е книга, която може да се чете по всяко време, защото езикът ѝ е ясен и прост.',
  cs: 'Tato kniha je napsána tak, aby ji mohl číst každý, protože její jazyk je jasný a jednoduchý.',
  da: 'Denne bog er skrevet, så alle kan læse den, fordi sproget ikke er svært, og der er mange billeder.',
  de: 'Dieses Buch ist so geschrieben, dass jeder es lesen kann, weil die Sprache klar und einfach ist.',
  el: 'Αυτό το βιβλίο μπορεί να διαβαστεί από όλους, γιατί η γλώσσα του είναι απλή.',
  en: 'This book is written so that everyone can read it, because its language is clear and simple.',
  es: 'Este libro está escrito para que todos puedan leerlo, porque su lenguaje es claro y sencillo.',
  fa: 'این کتاب طوری نوشته شده است که همه بتوانند آن را بخوانند، چون زبان آن ساده است.',
  fi: 'Tämä kirja on kirjoitettu niin, että jokainen voi lukea sen, koska sen kieli on selkeää ja se ei ole pitkä.',
  fr: 'Ce livre est écrit pour que tout le monde puisse le lire, parce que sa langue est claire et simple.',
  he: 'הספר הזה נכתב כך שכל אדם יוכל לקרוא אותו, כי השפה של הספר היא פשוטה.',
  hi: 'यह किताब इस तरह लिखी गई है कि हर व्यक्ति इसे पढ़ सके, क्योंकि इसकी भाषा सरल है।',
  hu: 'Ez a könyv úgy íródott, hogy mindenki el tudja olvasni, mert a nyelve világos és egyszerű.',
  id: 'Buku ini ditulis agar dapat dibaca oleh setiap orang, karena bahasanya jelas dan tidak sulit.',
  it: 'Questo libro è scritto in modo che tutti possano leggerlo, perché la lingua è chiara e semplice.',
  ja: 'この本は、誰でも読めるように、わかりやすい日本語で書かれています。',
  ko: '이 책은 누구나 읽을 수 있도록 쉬운 말로 쓰여 있습니다.',
  nl: 'Dit boek is zo geschreven dat iedereen het kan lezen, omdat de taal helder en eenvoudig is.',
  pl: 'Ta książka jest napisana tak, aby każdy mógł ją przeczytać, bo jej język jest jasny i prosty.',
  pt: 'Este livro foi escrito para que todos possam ler, porque a sua linguagem é clara e não é difícil.',
  ro: 'Această carte este scrisă pentru ca toți să o poată citi, fiindcă limba ei este clară și simplă.',
  ru: 'Эта книга написана так, чтобы её мог прочитать каждый, потому что язык простой и понятный.',
  sv: 'Den här boken är skriven så att alla kan läsa den, eftersom språket är tydligt och inte svårt.',
  th: 'หนังสือเล่มนี้เขียนด้วยภาษาที่เข้าใจง่าย',
  tr: 'Bu kitap herkesin okuyabilmesi için yazıldı, çünkü dili çok açık ve sade bir dil olarak seçildi.',
  uk: 'Ця книга написана так, щоб її міг прочитати кожен, бо її мова проста і зрозуміла.',
  vi: 'Cuốn sách này được viết để mọi người đều có thể đọc, vì ngôn ngữ của nó rất rõ ràng.',
  zh: '这本书用简单明了的语言写成，每个人都能读懂。',
}

it('detects the language of a sentence', () => {
  const found = Object.fromEntries(
    Object.entries(SENTENCES).map(([code, text]) => [code, detectLanguage(text)?.code]),
  )
  expect(found).toEqual(Object.fromEntries(Object.keys(SENTENCES).map((code) => [code, code])))
})

it('is surer of a page than of a sentence, and least sure of languages that are alike', () => {
  const confidence = (text: string): number => detectLanguage(text)!.confidence
  expect(confidence(SENTENCES.de!.repeat(10))).toBeGreaterThan(confidence(SENTENCES.de!.slice(0, 40)))
  expect(confidence(SENTENCES.de!.repeat(10))).toBeGreaterThan(0.9)
  expect(confidence('og det er en')).toBeLessThan(0.5)
})

it('does not take commands in a foreign text for English', () => {
  const commands =
    'apt-get install nginx dpkg --configure systemctl restart network-manager grep passwd sources.list '
  for (const code of ['ja', 'ru', 'zh', 'ar', 'vi', 'de']) {
    expect(detectLanguage(`${commands}${SENTENCES[code]!}${commands}`)?.code, code).toBe(code)
  }
})

it('has no answer without words', () => {
  for (const text of ['', ' \n', '404', '§ 12 — 3.5 %', 'xyzzy'])
    expect(detectLanguage(text), text).toBeUndefined()
})

it('takes bounded time for a long text', () => {
  const text = 'ру en '.repeat(5_000_000)
  const start = cpuMs()
  detectLanguage(text)
  expect(cpuMs() - start).toBeLessThan(5000)
})
